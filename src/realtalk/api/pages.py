"""Corpora, labels, runs and folders → one page; a corpus → the studio in a browser.

    report([corpus, labels, run, "stored-run"], out="report.html")  → Path("report.html")
    studio("sample")                                                # until it is interrupted

What is only in memory is written into a private temporary folder for as long as the page is
made. Nothing is measured anew.
"""

from __future__ import annotations

import logging
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from realtalk.api.choices import (
    Model,
    Readable,
    Reading,
    as_corpus,
    as_reading,
    is_path,
    log_notes,
    stored_place,
    value_object,
)
from realtalk.api.persona import Simulated, named_runs, talk_room
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.files.progress import Progress, silent

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.chat import Corpus
    from realtalk.ei.results import Labels
    from realtalk.evals.run import Run
    from realtalk.formats import reading as read_values
    from realtalk.web.session import StudioSession

Part: TypeAlias = "Corpus | read_values.ReadCorpus | Labels | Run | str | PathLike[str]"

_LOG = logging.getLogger("realtalk")
_LISTED = 12  # pages of a folder that are named


class Page:
    """A page that was written, and its figures: `to_json()`, and sentences worth printing."""

    def __init__(self, path: Path, content: Any, sentences: Sequence[str]) -> None:
        self.path = path
        self.sentences = tuple(sentences)
        self._content = content

    def to_json(self) -> Any:
        """Every figure of the page."""
        return self._content.to_json()

    def __fspath__(self) -> str:
        return str(self.path)

    def __repr__(self) -> str:
        return f"<Page {self.path}>"


def report(
    parts: Sequence[Part] | Part,
    *,
    out: str | PathLike[str] = "report.html",
    title: str | None = None,
    quick: bool = False,
    labels: bool = True,
    words: bool = True,
    anonymous: bool = False,
    chat: str | None = None,
    language: str | None = None,
    simulated: Sequence[str] = (),
    human: Sequence[str] = (),
    open: bool = False,
    reading: Reading | str | None = None,
    progress: Progress = silent,
) -> Page:
    """Write one page about a chat, or about stored runs.

    A chat gives a page about it: people, rhythm, words and emoji, feelings, with filters by person
    and time. Labels are kept, so a second call is quick. No message is in the page, and nothing
    leaves this machine. With a folder as `out` every chat of an export gets a page of its own, and
    index.html lists them. Folders of labels and runs give tables and charts with their intervals;
    nothing is measured again.

    Args:
        parts: A chat, or folders of runs and labels.
        out: Page, or folder for a page per chat.
        title: Title of the page.
        quick: Estimate feelings from a sample of the turns.
        labels: Whether to estimate feelings.
        words: Whether to show words and emoji.
        anonymous: Call people by letters.
        chat: Chat to show, of several.
        language: Language of a chat's page (default: the chat's).
        simulated: Corpus or run that models wrote.
        human: Corpus or run that people wrote.
        open: Open the page in a browser.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.report("sample", open=True)
        rt.report("WhatsApp Chat with Mara.zip", out="mara.html")
        rt.report("chat.txt", quick=True, anonymous=True, out="to-share.html")
        rt.report("Chat de WhatsApp con Ana.zip", language="en")
        rt.report(["corpora/mine", "labels", "sweep"], out="mine.html")
    """
    from realtalk.pages.chat_page import (
        INDEX,
        PortraitOptions,
        make_portrait,
        write_chats,
        write_portrait,
    )
    from realtalk.pages.frame import check_page

    page = Path(out)
    sources = _parts(parts)
    is_folder = page.is_dir() or not page.suffix
    check_page(page / INDEX if is_folder else page)
    way = value_object(Reading, reading)
    if way.format is not None or (len(sources) == 1 and is_chats(sources[0])):
        if len(sources) > 1:
            raise RealtalkError("a page about a chat is made from one path", fix="read them first")
        options = PortraitOptions(
            labels=labels,
            quick=quick,
            words=words,
            anonymous=anonymous,
            chat=chat,
            title=title or "",
            language=language,
        )
        chats = as_reading(cast("Readable", sources[0]), way, progress)
        if is_folder and chat is None:
            folder = write_chats(chats, page, options, say=_LOG.warning, progress=progress)
            log_notes(folder.notes)
            lines = [
                f"{row['page']}: {row['messages']:,} messages" for row in folder.rows[:_LISTED]
            ]
            page_made = Page(folder.index, folder, lines)
        else:
            check_page(page)
            portrait = make_portrait(chats, options, say=_LOG.warning, progress=progress)
            path = write_portrait(portrait, page)
            log_notes(portrait.notes)
            lines = [str(sentence) for sentence in portrait.sentences]
            page_made = Page(path, portrait, lines)
    else:
        from realtalk.pages.loading import AuthorOverrides
        from realtalk.pages.report import make_report, write_report

        check_page(page)
        authors = AuthorOverrides(tuple(simulated), tuple(human))
        with tempfile.TemporaryDirectory(prefix="realtalk-report-") as temporary:
            names = UniqueNames("{}-{}", is_file=True)
            folders = [_folder(part, Path(temporary), names) for part in sources]
            of_runs = make_report(folders, title=title, authors=authors, progress=progress)
            path = write_report(of_runs, page)
        log_notes(of_runs.sections[-1].notes)
        lines = [f"{key.figure} {key.says} ({key.range})" for key in of_runs.key_figures]
        page_made = Page(path, of_runs, lines)
    if open:
        import webbrowser

        webbrowser.open(page_made.path.resolve().as_uri())
    return page_made


def _parts(parts: Sequence[Part] | Part) -> list[Part]:
    sources = list(parts) if isinstance(parts, list | tuple) else [cast("Part", parts)]
    if not sources:
        raise RealtalkError("nothing to report", fix="give corpora, labels, runs or folders")
    return sources


def is_chats(part: Part) -> bool:
    """Whether a part is chats alone, and no run made from them."""
    from realtalk.formats.store import is_stored

    if not is_path(part):
        return not hasattr(part, "save")  # labels and runs have a folder of their own
    place = Path(part)
    return is_stored(place) or not _holds_runs(place)


def _folder(part: Part, temporary: Path, names: UniqueNames) -> Path:
    """Where a part lies; what lies nowhere is written below the temporary folder."""
    from realtalk.ei.results import Labels
    from realtalk.evals.run import Run
    from realtalk.files.writing import file_stem
    from realtalk.formats.store import store

    if isinstance(part, Labels):
        return part.save(temporary / "labels" / names.free(file_stem(part.corpus)))
    if isinstance(part, Run):
        return part.save(temporary / "runs" / names.free(file_stem(part.name)))
    if is_path(part) and _holds_runs(Path(part)):
        return Path(part)
    reading = as_reading(part)
    name = names.free(file_stem(reading.corpus.name))
    return store(reading, temporary / "corpora" / name)


def _holds_runs(place: Path) -> bool:
    """Whether a path is a folder of stored runs, and no export of chats."""
    from realtalk.pages.loading import find

    if not place.is_dir():
        return False
    try:
        find([place])
    except RealtalkError:
        return False
    return True


def studio(
    corpus: Readable,
    *,
    port: int = 0,
    browser: bool = True,
    annotations: str | PathLike[str] | None = None,
    annotator: str | None = None,
    labels: str | PathLike[str] | None = None,
    drafts: str | PathLike[str] | None = None,
    simulated: Sequence[Simulated] = (),
    replies: int = 4,
    guesses: str | PathLike[str] | None = None,
    talk: str | None = None,
    simulator: str | None = None,
    style: bool = False,
    settings: Mapping[str, Any] | None = None,
    partner: str | None = None,
    model: Model | str | None = None,
    reading: Reading | str | None = None,
    on_start: Callable[[str, Path], Any] | None = None,
    progress: Progress = silent,
) -> None:
    """Read and annotate a chat in a browser on this machine.

    The chat looks as in a messenger, with the EI of every message beside it. Events and questions
    are written with evidence picked by clicking; several annotators are compared and settled. In
    Guess people pick which of several replies somebody really wrote; in Talk a simulated speaker
    answers, with that person's yes. Everything is saved as you type. Only this machine can reach
    the studio, and only by the link that is shown. Ctrl-C ends it. Needs the extra studio.

    Args:
        corpus: Chat, corpus or sample name.
        port: Port of this machine; 0 takes any.
        browser: Whether to open a browser.
        annotations: File for annotations (default: NAME-annotations.sqlite).
        annotator: Who annotates (default: your user name).
        labels: Folder of EI labels: saves labelling.
        drafts: Drafted questions (default: NAME-drafts.jsonl).
        simulated: Guess: persona run whose replies stand among them.
        replies: Guess: replies to choose from, 2 or 4.
        guesses: Guess: folder for the picks.
        talk: Talk: speaker who is simulated.
        simulator: Talk: simulator, as for `persona run`.
        style: Talk: describe the speaker's style.
        settings: Talk: setting of the simulator.
        partner: Talk: who you are (default: the other one).
        model: Talk: the model that answers.
        reading: Format, dates and clock, where the file does not tell.
        on_start: Called with the link and the file of annotations.

    Example:
        rt.studio("sample")
        rt.studio("WhatsApp Chat.zip", annotator="Ana")
        rt.studio("sample", talk="Theo", simulator="tuned", settings={"adapter": "theo"})
    """
    from realtalk.web.app import Server, in_browser, need_extra

    need_extra()
    talk_options = {
        "simulator": simulator,
        "settings": settings,
        "style": style,
        "partner": partner,
        "model": value_object(Model, model).overrides() and model,
    }
    talk_settings: dict[str, Any] = {name: value for name, value in talk_options.items() if value}
    if talk is None and talk_settings:
        raise RealtalkError("nobody is named who is simulated", fix="name one: `talk=NAME`")
    place, desk = open_desk(
        as_reading(corpus, reading, progress),
        annotations,
        annotator,
        labels,
        simulated=simulated,
        replies=replies,
        guesses=guesses,
        drafts=drafts,
        talk=None if talk is None else {"speaker": talk, **talk_settings},
    )
    desk.stored = stored_place(corpus)
    try:
        with Server.start(desk, port) as server:
            (on_start or _print_link)(server.url, place)
            if not browser:
                server.wait()
            else:
                with in_browser(server.url, server.entered) as is_open:
                    if not is_open:
                        _LOG.info("no browser was found here: open the link in one")
                    server.wait()
    except KeyboardInterrupt:
        _LOG.info("closed; everything was saved")
    finally:
        desk.close()


def _print_link(url: str, annotations: Path) -> None:
    sys.stdout.write(f"studio: {url}\nannotations are kept in {annotations}\n")
    sys.stdout.flush()


def mcp(
    paths: Sequence[str | PathLike[str]],
    *,
    redact: bool = False,
    texts: bool = False,
    labels: str | PathLike[str] | None = None,
    reading: Reading | str | None = None,
) -> None:
    """Let an assistant look into chats, as a local MCP server.

    MCP is the Model Context Protocol. The assistant starts this command itself and talks to it over
    standard input and output; docs/build/mcp.md shows its settings. It can list chats,
    search them, recall what was said about a question, read sessions, count (by SQL too), tell
    feelings, and who writes first. It can change nothing, and no connection is opened; but what the
    assistant reads goes to whoever runs the assistant.

    Args:
        paths: Files, folders, zips, stored corpora or samples.
        redact: Answer with stand-ins for names and the like.
        texts: Let SQL queries read texts, too.
        labels: Folder of EI labels: saves labelling.
        reading: Format, dates and clock, where the file does not tell.

    Example:
        rt.mcp(["sample"])
        rt.mcp(["WhatsApp Chat with Mara.zip"])
        rt.mcp(["mara", "family"], redact=True)
    """
    from contextlib import suppress

    from realtalk.assistant.finding import BackgroundValue, Collection, labels_beside
    from realtalk.assistant.server import need_extra, serve
    from realtalk.ei.results import read_labels
    from realtalk.formats.opening import open_reading

    need_extra()
    way = value_object(Reading, reading)
    corpora, label_folders = [], []
    for path in map(str, paths):
        if path == "-":
            raise RealtalkError("standard input is where the assistant asks", fix="name a file")
        opened = open_reading(path, way.format, way.read_options()).reading
        if not redact:  # notes may name files, and files people
            log_notes(opened.notes)
        corpora.append(opened.corpus)
        label_folders.append(Path(labels) if labels else labels_beside(path, opened.corpus))
    if labels:
        read_labels(Path(labels))  # what is wrong with them is said at the start
    with suppress(KeyboardInterrupt):
        serve(
            BackgroundValue(lambda: Collection.of(corpora, label_folders, redact=redact)),
            redacted=redact,
            texts=texts,
        )


def open_desk(
    corpus: Readable,
    annotations: str | PathLike[str] | None = None,
    annotator: str | None = None,
    labels: str | PathLike[str] | None = None,
    *,
    simulated: Simulated | Sequence[Simulated] = (),
    replies: int = 4,
    guesses: str | PathLike[str] | None = None,
    drafts: str | PathLike[str] | None = None,
    talk: Mapping[str, Any] | None = None,
) -> tuple[Path, StudioSession]:
    """What the studio works on, and the file that annotations are kept in."""
    from realtalk.files.writing import file_stem
    from realtalk.memory.drafting import Drafts, usual_place
    from realtalk.web.app import need_extra

    need_extra()
    from realtalk.web.guessing import GuessRoom
    from realtalk.web.library import ChatLibrary
    from realtalk.web.session import StudioSession
    from realtalk.web.store import Store
    from realtalk.web.turn_labels import read_turn_labels
    from realtalk.web.values import checked_name

    name = checked_name(annotator) if annotator else _user()
    chats = as_corpus(corpus)
    shelf = ChatLibrary(chats)
    strips = read_turn_labels(Path(labels)) if labels else None
    place = Path(annotations or f"{file_stem(shelf.name)}-annotations.sqlite")
    room = GuessRoom(
        chats,
        folder=Path(guesses or place.with_suffix(".guesses")),
        runs=named_runs(simulated),
        replies=replies,
    )
    if simulated:
        room.check()  # guesses about other replies are refused now, not on the page
    live = None if talk is None else talk_room(chats, **talk)
    file = Path(drafts) if drafts else usual_place(chats)
    questions = Drafts.read(file) if drafts or file.exists() else Drafts()
    desk = StudioSession(shelf, Store.open(place), name, strips, guesses=room, talk=live)
    desk.drafts = questions
    return place, desk


def _user() -> str:
    from getpass import getuser

    from realtalk.web.values import checked_name

    try:
        return checked_name(getuser())
    except (OSError, KeyError, RealtalkError):  # a machine without user names
        return "annotator"
