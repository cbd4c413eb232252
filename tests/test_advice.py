"""Every command that a message, a help text or a page advises exists, with these options."""

from __future__ import annotations

import ast
import itertools
import json
import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import realtalk
from realtalk.cli import printing
from realtalk.cli.building import Command
from realtalk.cli.commands import COMMANDS, GROUPS
from realtalk.encoders.shipped import shipped_models
from realtalk.errors import PARAMETER
from realtalk.files.download import DATASETS
from realtalk.installing import cure
from realtalk.models.files import MODELS

PACKAGE = Path(realtalk.__file__).parent
ROOT = PACKAGE.parents[1]
WORDS = {command.words: command for command in COMMANDS}
WORDS |= {f"{c.words} {c.default_verb}": c for c in COMMANDS if c.words in GROUPS}
FIRST = {words.split()[0] for words in WORDS}
_TOLD = re.compile(r"(?<![\w/.@'-])realtalk (?=[a-z])(?P<rest>[^`\n]*)")
_TICKED = re.compile(r"`(?P<rest>[a-z]+ (?:[a-z]|--)[^`\n]*)`")
_ENDS = re.compile(r"\s#|&&|\|(?!\|)|;|\)| · | → |…|\$\(|, or |\bthen\b|[<{]")
# Readers of a chat: what they are given is a path or a sample, never a corpus' bare name.
_READERS = {"read", "stats", "check", "export", "redact", "studio", "ei", "probe", "persona"}
_READERS |= {"turns", "samples", "contexts", "tune", "threads", "run", "label"}


@cache
def pages() -> list[tuple[str, str]]:
    return [*_pages()]


def _pages() -> Iterator[tuple[str, str]]:
    """Every text in which a command may be advised: documents, and strings of the code."""
    for path in (*ROOT.glob("*.md"), *ROOT.glob("*/*.md"), *ROOT.glob("docs/*/*.md")):
        if path.name != "CHANGELOG.md":  # tells of commands as they were
            yield path.name, code_of(path.read_text("utf-8"))
    for path in (ROOT / "src").rglob("*.md"):
        yield path.name, code_of(path.read_text("utf-8"))
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield path.name, "".join(_part(each) for each in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.name, node.value


def code_of(page: str) -> str:
    """The blocks and spans of code of a Markdown page: around them the name is only a word."""
    blocks = re.findall(r"```.*?```", page, re.DOTALL)
    spans = re.findall(r"`[^`]+`", re.sub(r"```.*?```", "", page, flags=re.DOTALL))
    return "\n".join([*blocks, *(" ".join(span.split()) for span in spans)])


def _part(node: ast.expr) -> str:
    return str(node.value) if isinstance(node, ast.Constant) else "X"


def advised(text: str) -> Iterator[list[str]]:
    """Commands in a text, as words; prose that only begins like one is left out."""
    joined = text.replace("\\\n", " ")
    for found in _TOLD.finditer(joined):
        yield _words(found["rest"])
    for found in _TICKED.finditer(joined):
        if found["rest"].split()[0] in FIRST:
            yield _words(found["rest"])


def _words(rest: str) -> list[str]:
    if ")" in rest and "$(" in rest:
        rest = re.sub(r'"?\$\([^)]*\)"?', "X", rest)
    line = _ENDS.split(rest)[0].strip().rstrip(".,:\"'")
    try:
        return shlex.split(line)
    except ValueError:
        return line.replace('"', " ").replace("'", " ").split()


# What is done with stored runs, and other words that no path is called by.
_ELSEWHERE = {words.split()[1] for words in WORDS if words.startswith("runs ")}
_ELSEWHERE |= {"agree", "guess", "merge", "sweep"}


def wrong(words: list[str]) -> str:
    """Why a command cannot be typed, "" where it can."""
    path = " ".join(words[:2])
    if path not in WORDS:
        if len(words) > 1 and words[0] in GROUPS and words[1] in _ELSEWHERE:
            return f"realtalk {words[0]} has no {words[1]}"
        path = words[0] if words else ""
        if path in GROUPS and path not in WORDS and len(words) > 1:
            return f"realtalk {path} has no {words[1]}"
    if path and path.split()[0] not in FIRST:
        return f"realtalk has no {path}"
    words = words[len(path.split()) :]
    known = {"--help", "-h", "--version"}
    for option in WORDS[path].options if path in WORDS else ():
        known |= {*option.keywords, *(f"--no-{name[2:]}" for name in option.keywords)}
    for word in words:
        name = word.partition("=")[0]
        if re.fullmatch(r"--?[a-z][a-z-]*", name) and name not in known:
            return f"realtalk {path} has no {name}"
    path = f"realtalk {path}"
    first = next((word for word in words if not word.startswith("-")), "")
    if path == "realtalk data get" and first not in ("", "X", "NAME", *DATASETS):
        return f"there is no dataset {first}"
    if path == "realtalk models get" and first not in ("", "X", "NAME", *MODELS):
        return f"there is no model {first}"
    if path.split()[-1] in _READERS and first in {*DATASETS, "longmemeval"}:
        return f"{path} takes a path, and {first} is none"
    return ""


# Sentences in which the package's name, or a command's, is only a word.
_PROSE = {"did", "put", "keeps", "has", "and", "or", "needs", "first", "also", "which", "is"}
_PROSE |= {"must", "in", "as"}


def test_what_is_advised_can_be_typed() -> None:
    count, found = 0, []
    for place, text in pages():
        for words in advised(text):
            if words and words[0] not in FIRST and words[0] in _PROSE:
                continue
            count += 1
            if reason := wrong(words):
                found.append(f"{place}: realtalk {' '.join(words)}: {reason}")
    assert found == []
    assert count > 200  # the search itself works


def parameters() -> set[str]:
    """Every parameter that a text of the code advises, but those of a command that it names."""
    return {
        found[0]
        for place, text in pages()
        if place.endswith(".py")
        for found in PARAMETER.finditer(text)
        if "realtalk " not in text[: found.start()]
        and found[1] in {name for command in COMMANDS for name in command.option_names}
    }


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.words)
def test_advice_names_an_option_of_the_command_that_prints_it(
    command: Command, advice: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(printing, "_running", [(command, {})])
    own = {*itertools.chain(*(option.keywords for option in command.options))}
    for parameter in advice:
        line = printing.as_command_text(parameter)
        if line.split()[0] not in own:
            (words,) = advised(f"{line} ")
            ends = next(at for at, word in enumerate(words) if word.startswith("-")) + 1
            assert wrong(words[:ends]) == "", line


@pytest.fixture(scope="module")
def advice() -> set[str]:
    found = parameters()
    assert len(found) > 60  # the search itself works
    return found


def test_python_names_exist() -> None:
    """`rt.persona.tune` of a page or a docstring is there."""
    found = {
        (place, name)
        for place, text in pages()
        for name in re.findall(r"(?<![\w.])rt\.([a-z_]+(?:\.[a-z_]+)?)(?=\()", text)
    }
    missing = []
    for place, name in sorted(found):
        value: Any = realtalk
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is None:
            missing.append(f"{place}: rt.{name}")
    assert missing == [] and len(found) > 50


def noted(folder: Path, origin: dict[str, Any] | None) -> None:
    place = folder / "realtalk-9.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("Metadata-Version: 2.4\nName: realtalk\nVersion: 9\n", "utf-8")
    if origin is not None:
        (place / "direct_url.json").write_text(json.dumps(origin), "utf-8")


@pytest.mark.parametrize(
    ("origin", "told"),
    [
        ({"url": ROOT.as_uri(), "dir_info": {"editable": True}}, f"install -e '{ROOT}[llm,local]'"),
        ({"url": ROOT.as_uri(), "dir_info": {}}, f"install '{ROOT}[llm,local]'"),
        (
            {"url": "https://x.example/r.git", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}},
            "install 'realtalk[llm,local] @ git+https://x.example/r.git@0a1b'",
        ),
        (
            {"url": "file:///w/realtalk-9-py3-none-any.whl", "archive_info": {}},
            "install 'realtalk[llm,local] @ file:///w/realtalk-9-py3-none-any.whl'",
        ),
        (
            {"url": "file:///gone", "dir_info": {}},
            "install '.[llm,local]' in a checkout",
        ),
        (None, "install '.[llm,local]' in a checkout"),
    ],
)
def test_an_extra_is_installed_from_where_the_package_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any] | None, told: str
) -> None:
    noted(tmp_path, origin)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert cure("llm", "local").removesuffix(" of realtalk").endswith(told)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert cure("llm").startswith("pip install")
    monkeypatch.setenv("PATH", str(tmp_path))  # its environment is not switched on
    assert cure("llm").startswith(f"{sys.executable} -m pip install")


def test_no_page_advises_an_index() -> None:
    for place, text in pages():
        assert not re.search(r"pip install '?realtalk\b(?!\[[\w,]*\] @)", text), place


def test_the_models_are_listed_with_their_terms(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")  # paths are of any length: no cell is to be wrapped
    listed = {each["name"]: each for each in run("models list --json").told["rows"]}
    fetched = {f"realtalk/{name}" for name in MODELS}
    names = {each.name for each in shipped_models()}
    assert names | fetched == set(listed) and {"ei", "memory", "names"} <= names
    for each in shipped_models():
        row, sets = listed[each.name], each.terms.all_sets.values()
        assert (row["version"], row["licence"]) == (each.terms.version, each.terms.licence)
        assert [it["name"] for it in row["learned_from"]] == [it.name for it in sets]
        card = run(f"models card {each.name}")[1]
        assert card.strip() == each.text.strip() and "<!--" not in card
        assert each.terms.licence in card
    assert str(shipped_models()[0].terms) in " ".join(run("models").done.out.split())
    assert "Apache-2.0" in run("models card smollm2")[1]
    assert run("models card eii")[0] == 2


def test_the_wheel_carries_the_terms() -> None:
    """hatchling puts every file of the package and every licence file into the wheel."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    held = {path for glob in settings["project"]["license-files"] for path in ROOT.glob(glob)}
    assert {ROOT / "LICENSE", ROOT / "NOTICE", *(each.card for each in shipped_models())} <= held
    assert ROOT / "LICENSES" / "LicenseRef-realtalk-research.txt" in held
    assert settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == [
        "src/realtalk",
        "src/realtalk_models",
    ]
    notice = (ROOT / "NOTICE").read_text("utf-8")
    assert all(
        each.card.relative_to(ROOT / "src").as_posix() in notice for each in shipped_models()
    )


def test_a_fetched_model_says_which_extras_are_missing(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("realtalk.models.files.get", lambda *_a, **_k: tmp_path / "model.gguf")
    monkeypatch.setattr("realtalk.api.data._NEEDED", {"llm": "json", "local": "not_installed_here"})
    status, out, err = run("models get smollm2")
    assert (status, out.strip()) == (0, str(tmp_path / "model.gguf"))
    assert f"install the extra 'local': {cure('local')}" in " ".join(err.split())
