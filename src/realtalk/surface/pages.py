"""Corpora, labels, runs and folders → one page; a corpus → the studio in a browser.

    report([corpus, labels, run, "stored-run"], "report.html")    → Path("report.html")
    studio("sample")                                              # until it is interrupted

What is only in memory is written into a private temporary folder for as long as the page is
made. Nothing is measured anew.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from realtalk.chat import Corpus
from realtalk.corpora.reading import Reading
from realtalk.corpora.store import is_stored
from realtalk.errors import RealtalkError
from realtalk.local.naming import UniqueNames
from realtalk.local.progress import Progress, silent
from realtalk.report.build import check_page
from realtalk.surface.guessing import Simulated, named_runs
from realtalk.surface.labelling import Labels
from realtalk.surface.own_chats import talk_room
from realtalk.surface.runs import Run
from realtalk.surface.sources import Readable, as_corpus, as_reading, path_of

if TYPE_CHECKING:
    from os import PathLike

    from realtalk.studio.desk import Desk

Part: TypeAlias = "Corpus | Reading | Labels | Run | str | PathLike[str]"


def report(
    parts: Part | Sequence[Part],
    out: str | PathLike[str] = "report.html",
    *,
    title: str | None = None,
    labels: bool = True,
    quick: bool = False,
    words: bool = True,
    anonymous: bool = False,
    simulated: Sequence[str] = (),
    human: Sequence[str] = (),
    progress: Progress = silent,
) -> Path:
    """Writes one self-contained page, which opens from the file, without a network.

    Chats alone (a path, a sample's name, a Corpus, a stored corpus) give a portrait: people,
    rhythm, words and emoji, feelings, with filters by person and time. `labels` says whether
    feelings are estimated (`quick`: from an even sample of the turns), `words` whether words are
    shown, and with `anonymous` people are called by letters. Anything else (`parts` are corpora,
    labels, runs, folders that hold such) gives tables and charts of what was measured;
    `simulated` and `human` name corpora or runs that models or people wrote, where the format
    does not tell.
    """
    page = Path(out)
    single = isinstance(parts, str | Corpus | Reading | Labels | Run) or hasattr(
        parts, "__fspath__"
    )
    given = [cast("Part", parts)] if single else list(cast("Sequence[Part]", parts))
    if not given:
        raise RealtalkError("nothing to report", fix="give corpora, labels, runs or folders")
    check_page(page)
    if single and is_chats(given[0]):
        from realtalk.portrait.build import PortraitOptions, make_portrait, write_portrait

        chats = cast("Readable", given[0])
        options = PortraitOptions(
            labels=labels, quick=quick, words=words, anonymous=anonymous, title=title or ""
        )
        return write_portrait(make_portrait(as_reading(chats), options, progress=progress), page)
    from realtalk.report.build import make_report, write_report
    from realtalk.report.writers import Told

    told = Told(tuple(simulated), tuple(human))
    with tempfile.TemporaryDirectory(prefix="realtalk-report-") as temporary:
        names = UniqueNames("{}-{}", is_file=True)
        folders = [_folder(part, Path(temporary), names) for part in given]
        made = make_report(folders, title=title, told=told, progress=progress)
        return write_report(made, page)


def is_chats(part: Part) -> bool:
    """Whether a part is chats alone, and no run made from them."""
    if isinstance(part, Corpus | Reading):
        return True
    if isinstance(part, Labels | Run):
        return False
    place = Path(path_of(part))
    return is_stored(place) or not _holds_runs(place)


def _folder(part: Part, temporary: Path, names: UniqueNames) -> Path:
    """Where a part lies; what lies nowhere is written below the temporary folder."""
    from realtalk.corpora.store import store
    from realtalk.local.writing import file_stem

    if isinstance(part, Labels):
        return part.save(temporary / "labels" / names.free(file_stem(part.corpus)))
    if isinstance(part, Run):
        return part.save(temporary / "runs" / names.free(file_stem(part.name)))
    if not isinstance(part, Corpus | Reading) and _holds_runs(Path(path_of(part))):
        return Path(path_of(part))
    reading = as_reading(part)
    name = names.free(file_stem(reading.corpus.name))
    return store(reading, temporary / "corpora" / name)


def _holds_runs(place: Path) -> bool:
    """Whether a path is a folder of stored runs, and no export of chats."""
    from realtalk.report.finding import find

    if not place.is_dir():
        return False
    try:
        find([place], ())
    except RealtalkError:
        return False
    return True


def studio(
    corpus: Readable,
    *,
    port: int = 0,
    annotations: str | PathLike[str] | None = None,
    annotator: str | None = None,
    labels: str | PathLike[str] | None = None,
    simulated: Simulated | Sequence[Simulated] = (),
    replies: int = 4,
    guesses: str | PathLike[str] | None = None,
    talk: Mapping[str, Any] | None = None,
    browser: bool = True,
) -> None:
    """Opens chats in a browser on this machine, to read and annotate them, until interrupted.

    Annotations are kept in the file `annotations`, by default NAME-annotations.sqlite here, under
    the name of `annotator`, else the user's. *Guess* shows `replies` (2 or 4) of which one is real;
    `simulated` are persona runs whose texts stand among them, and picks are kept in the folder
    `guesses`, by default beside the annotations. *Talk* is with whom `talk` names, in the words of
    the function `talk` ({"speaker": "Mara", "simulator": "retrieve"}); consent is asked on the
    page. Only this machine can reach the studio, and only
    by the link that is printed. Needs the extra studio.
    """
    from realtalk.studio.opening import in_browser
    from realtalk.studio.serving import Server

    place, desk = open_desk(
        corpus,
        annotations,
        annotator,
        labels,
        simulated=simulated,
        replies=replies,
        guesses=guesses,
        talk=talk,
    )
    try:
        with Server.start(desk, port) as server:
            sys.stdout.write(f"studio: {server.url}\nannotations are kept in {place}\n")
            sys.stdout.flush()
            if browser:
                with in_browser(server.url, server.entered):
                    server.wait()
            else:
                server.wait()
    except KeyboardInterrupt:
        sys.stdout.write("closed; everything was saved\n")
    finally:
        desk.close()


def open_desk(
    corpus: Readable,
    annotations: str | PathLike[str] | None = None,
    annotator: str | None = None,
    labels: str | PathLike[str] | None = None,
    *,
    simulated: Simulated | Sequence[Simulated] = (),
    replies: int = 4,
    guesses: str | PathLike[str] | None = None,
    talk: Mapping[str, Any] | None = None,
) -> tuple[Path, Desk]:
    """What the studio works on, and the file that annotations are kept in."""
    from realtalk.local.writing import file_stem
    from realtalk.studio.serving import need_extra

    need_extra()
    from realtalk.studio.desk import Desk
    from realtalk.studio.guessing import GuessRoom
    from realtalk.studio.shelf import Shelf
    from realtalk.studio.store import Store
    from realtalk.studio.strips import read_strips
    from realtalk.studio.values import checked_name

    name = checked_name(annotator) if annotator else _user()
    chats = as_corpus(corpus)
    shelf = Shelf(chats)
    strips = read_strips(Path(labels), chats) if labels else None
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
    return place, Desk(shelf, Store.open(place), name, strips, guesses=room, talk=live)


def _user() -> str:
    from getpass import getuser

    from realtalk.studio.values import checked_name

    try:
        return checked_name(getuser())
    except (OSError, KeyError, RealtalkError):  # a machine without user names
        return "annotator"
