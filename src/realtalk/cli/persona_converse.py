"""`persona converse`: two simulators talk to each other for some days."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from realtalk.cli import options
from realtalk.cli import persona_options as persona
from realtalk.cli.persona_talk import ask

if TYPE_CHECKING:
    from realtalk.chat import Corpus
    from realtalk.local.progress import Progress


def register(app: typer.Typer) -> None:
    """Adds the command to `persona`."""
    app.command()(converse)


def converse(
    path: Annotated[
        str | None,
        typer.Argument(metavar="[PATH]", help="Chats of the people who are simulated, if any are."),
    ] = None,
    simulator: persona.SimulatorName = None,
    model: persona.ModelName = None,
    base_url: options.BaseUrl = None,
    style: persona.Style = False,
    settings: persona.Set = None,
    speaker: Annotated[
        str | None,
        typer.Option(
            "--speaker",
            "-s",
            metavar="NAME",
            help="Whom the first side writes as.",
            show_default="an invented person",
        ),
    ] = None,
    consent: persona.Agreement = None,
    other_simulator: Annotated[
        str | None,
        typer.Option(
            "--other-simulator",
            metavar="NAME",
            help="Of the second side.",
            show_default="as the first",
        ),
    ] = None,
    other_model: Annotated[
        str | None, typer.Option("--other-model", metavar="NAME", help="Its model, for llm.")
    ] = None,
    other_settings: Annotated[
        list[str] | None,
        typer.Option("--other-set", metavar="KEY=VALUE", help="Its settings; may be repeated."),
    ] = None,
    other_speaker: Annotated[
        str | None,
        typer.Option(
            "--other-speaker",
            metavar="NAME",
            help="Whom the second side writes as.",
            show_default="an invented person",
        ),
    ] = None,
    other_consent: Annotated[
        str | None,
        typer.Option(
            "--other-consent",
            metavar="self|given|research|fictional",
            help="As --consent, for them.",
        ),
    ] = None,
    like: Annotated[
        str | None,
        typer.Option(
            "--like",
            metavar="PATH",
            help="Chats whose sessions, gaps and messages in a row are drawn from.",
            show_default="what the REALTALK paper prints",
        ),
    ] = None,
    personas: Annotated[
        Path | None,
        typer.Option(
            "--personas",
            metavar="FILE",
            help="Invented people and events of your own, as TOML.",
            show_default="ours",
        ),
    ] = None,
    days: Annotated[int, typer.Option("--days", help="How long a chat goes on.")] = 7,
    chats: Annotated[int, typer.Option("--chats", help="How many are made, side by side.")] = 1,
    begins: Annotated[
        str, typer.Option("--begins", metavar="DAY", help="The first day.")
    ] = "2025-01-06",
    memory: Annotated[
        str,
        typer.Option(
            "--memory", metavar="NAME", help="What recalls earlier sessions: see `probe`."
        ),
    ] = "retrieved",
    memory_settings: Annotated[
        list[str] | None,
        typer.Option("--memory-set", metavar="KEY=VALUE", help="Its settings; may be repeated."),
    ] = None,
    budget: Annotated[
        str, typer.Option("--budget", metavar="WORDS", help="At most so much is recalled.")
    ] = "300w",
    seed: Annotated[int, typer.Option("--seed", help="Of people, events and times.")] = 0,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Where the chats are kept, marked as simulated."
        ),
    ] = Path("conversations"),
    fresh: options.Fresh = False,
    json: options.Json = False,
) -> None:
    """Let two simulators talk to each other for some days.

    Any model writes as invented people, to whom things happen; or a side writes as a speaker of
    PATH (tuned, retrieved, any simulator of `persona run`), with that person's yes as for `persona
    talk`. Each side has the session in mind and recalls earlier ones through a memory. The chats
    are an ordinary corpus in which everything is marked as simulated: `stats` describes it and `ei
    compare` tells how far it is from people's. A call that was stopped goes on where it was.

    Examples:

        realtalk persona converse --model realtalk/smollm2 --days 7 --chats 5 --out smollm2-chats

        realtalk persona converse sample -s Mara --other-speaker Theo --like sample

        realtalk persona converse sample -s Theo --simulator tuned --set adapter=adapters/theo \\
            --other-model realtalk/smollm2 --out theo-and-a-model
    """
    from contextlib import ExitStack

    from realtalk.chat import unpack_extra
    from realtalk.cli.printing import print_json, progress, say, show
    from realtalk.memory.registry import parse_settings
    from realtalk.surface.conversing import converse as write

    other: dict[str, Any] = {
        "simulator": other_simulator,
        "model": other_model,
        "settings": parse_settings(other_settings) if other_settings else None,
        "speaker": other_speaker,
    }
    other = {name: value for name, value in other.items() if value is not None}
    if other_speaker is not None:
        other["consent"] = ask if other_consent is None else other_consent
    with ExitStack() as bars:
        bar: list[Progress] = []

        def advance(done: int, total: int, what: str) -> None:
            if not bar:  # only now: a person may have to answer first
                bar.append(bars.enter_context(progress("conversing")))
            bar[0](done, total, what)

        made = write(
            simulator,
            corpus=path,
            speaker=speaker,
            model=model,
            base_url=base_url,
            style=style,
            settings=parse_settings(settings or []),
            consent=ask if consent is None else consent,
            other=other,
            like=like,
            personas=personas,
            days=days,
            chats=chats,
            begins=begins,
            memory=memory,
            memory_settings=parse_settings(memory_settings or []),
            budget=budget,
            seed=seed,
            out=out,
            fresh=fresh,
            progress=advance,
        )
    rows = _rows(made)
    if json:
        print_json({"name": made.name, "folder": str(out), "chats": rows})
        return
    for each in unpack_extra(made.chats[0].extra)["simulated"]["consent"]:
        say(each["meaning"])
    show("simulated chats", list(rows[0]), [list(row.values()) for row in rows])
    say(f"wrote {out}; every message is marked as simulated")


def _rows(corpus: Corpus) -> list[dict[str, Any]]:
    """One row per chat: how much was said, and how many turns went without an answer."""
    from realtalk.chat import unpack_extra

    return [
        {
            "chat": chat.id,
            "days": len({message.time.date() for message in chat.messages if message.time}),
            "sessions": len(chat.sessions),
            "turns": len(chat.turns),
            "messages": len(chat.messages),
            "unanswered": len(unpack_extra(chat.extra)["simulated"]["silent"]),
        }
        for chat in corpus.chats
    ]
