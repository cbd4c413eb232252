"""A message that names options → the same with options that the running command has.

    begin(commands(), ("report",))         when `realtalk report` begins
    followed("a model may do better: --measures judge")
    → "a model may do better: `realtalk ei PATH --measures judge`"

Messages are written far from the commands, by what many of them share. Here, where they are
printed, an option that the command lacks is told with a command that has it; "leave --x out" is
left away. Options within a command that is told whole are as they are, and so are options of
other programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

_NAME = r"(?<![\w-])--[a-z][a-z-]*"
# What may follow an option as its value: a word that no sentence goes on with.
_GOES_ON = (
    "a|adds|alone|and|are|as|away|for|has|if|in|is|joins|labels|leaves|must|names|of|or|out|reads|"
    "removes|stands|stores|that|the|to|too|was|where|which|with"
)
_VALUE = rf" (?!(?:{_GOES_ON})\b)(?:\"[^\"]*\"|[\w{{][^\s,;:)]*)"
_CHOICE = r"(?: \w+,)+ \w+ or \w+| \w+ or \w+"  # "--dates dmy, mdy or ymd"
_USE = rf"{_NAME}(?:{_VALUE})?"
_USES = re.compile(rf"(?P<name>{_NAME})(?P<choice>{_CHOICE})|{_USE}(?: {_USE})*")
_PART = re.compile(rf"(?P<name>{_NAME})(?P<value>{_VALUE})?")
_LEFT_OUT = re.compile(
    rf"(?:, or |, |; )?\bleave (?P<uses>{_USE}(?:(?:, | and | or ){_USE})*) (?:out|away)\b"
)
# A command that is told whole, to the end of its clause: in code, or after the name of ours.
_WHOLE = re.compile(
    r"`[^`]*`|(?<![\w/.@'-])realtalk [a-z](?:[^`;,.)]|[,.)](?! |$))*|\b(?:llama-cli|pip|uv) [^;]*"
)
_READING = {"--format", "--gap", "--dates", "--timezone", "--column"}
_READ = ("read",)
_SHORT: dict[tuple[str, ...], str] = {("ei", "label"): "ei"}

_running: tuple[Any, tuple[str, ...]] | None = None


def begin(commands: Any, path: tuple[str, ...]) -> None:
    """From now on messages are those of the command at `path`."""
    global _running  # noqa: PLW0603  one process runs one command
    _running = (commands, path)


def end() -> None:
    """No command runs any more."""
    global _running  # noqa: PLW0603
    _running = None


def leaves(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command that does something, with the words that lead to it."""
    within = getattr(command, "commands", None)
    if within is None:
        yield path, command
    for name, each in (within or {}).items():
        yield from leaves(each, (*path, name))


def followed(line: str) -> str:
    """A message of the running command, with options that it has."""
    if _running is None or "--" not in line:
        return line
    commands, path = _running
    return followable(line, commands, path)


def followable(line: str, commands: Any, path: tuple[str, ...]) -> str:
    """A message of the command at `path`, with options that it has."""
    known = dict(leaves(commands))
    parts, at = [], 0
    for whole in _WHOLE.finditer(line):
        words = whole[0].split()
        if words[0] == "realtalk" and words[1] not in commands.commands:
            continue  # only the name
        parts += [_reworded(line[at : whole.start()], known, path), whole[0]]
        at = whole.end()
    return "".join([*parts, _reworded(line[at:], known, path)])


def _reworded(text: str, known: dict[tuple[str, ...], Any], path: tuple[str, ...]) -> str:
    own = _options(known[path])

    def kept(found: re.Match[str]) -> str:
        told = _PART.findall(found["uses"])
        lacking = [name for name, _ in told if name not in own and _having([name], known, path)]
        return "" if lacking else found[0]

    def told(found: re.Match[str]) -> str:
        uses = [(part["name"], (part["value"] or "").strip()) for part in _PART.finditer(found[0])]
        choice = (found["choice"] or "").strip()
        if choice:
            uses = [(found["name"], "")]
        if all(name in own for name, _ in uses):
            return found[0]
        place = _having([name for name, _ in uses], known, path)
        if place is None:
            return " ".join(_alone(name, value, known, path) for name, value in uses)
        return _command(place, uses, known[place], choice)

    shorter = _LEFT_OUT.sub(kept, text)
    if shorter != text:
        shorter = re.sub(r"(^|; )[,:;\s]*(?:or )?", r"\1", shorter).rstrip(" ;,")
    return _USES.sub(told, shorter)


def _alone(name: str, value: str, known: dict[tuple[str, ...], Any], path: tuple[str, ...]) -> str:
    """One option of several that no command has together."""
    place = path if name in _options(known[path]) else _having([name], known, path)
    if place is None or place == path:
        return f"{name} {value}".strip()
    return _command(place, [(name, value)], known[place])


def _having(
    names: Sequence[str], known: dict[tuple[str, ...], Any], path: tuple[str, ...]
) -> tuple[str, ...] | None:
    """The nearest command with all these options: what reads, one of the same group, `ei`, any."""
    if set(names) <= _READING:
        return _READ
    having = [place for place, each in known.items() if set(names) <= _options(each).keys()]
    group = path[:-1]
    return min(
        having,
        key=lambda place: (
            place[:-1] != group or not group,
            place[-1] != "run",
            place[0] != "ei",
            having.index(place),
        ),
        default=None,
    )


def _command(
    place: tuple[str, ...], uses: Sequence[tuple[str, str]], command: Any, choice: str = ""
) -> str:
    """`realtalk read PATH --dates ORDER --out FOLDER` (dmy or mdy; then give FOLDER)."""
    options = _options(command)
    words = ["realtalk", _SHORT.get(place, " ".join(place))]
    words += [
        (each.metavar or each.name.upper()).strip(".…")
        for each in command.params
        if each.param_type_name == "argument" and each.required
    ]
    for name, value in uses:
        is_flag = getattr(options[name], "is_flag", False)
        words += [name] if is_flag else [name, value or options[name].metavar or "VALUE"]
    notes = [choice] if choice else []
    if place == _READ and "--out" not in words:
        words.append("--out FOLDER")
        notes.append("then give FOLDER")
    return f"`{' '.join(words)}`" + (f" ({'; '.join(notes)})" if notes else "")


def _options(command: Any) -> dict[str, Any]:
    return {name: each for each in command.params for name in (*each.opts, *each.secondary_opts)}
