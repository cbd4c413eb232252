"""The terms file, what is made from it, and what training scripts read: they say the same."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from realtalk.encoders.shipped import OURS, RESEARCH, shipped_models, terms
from research.results.terms import ROOT, written
from research.training import ei_data as ei
from research.training import (
    ei_open,
    identifier_data,
    languages_labels,
    languages_sources,
    memory_data,
    names_data,
    names_lines,
    names_words,
    ordinary_words,
)
from research.training.terms import SETS, is_open, refuse_narrow, refuse_unnamed, set_ids, unnamed

OPEN_SINCE = {"memory": 3, "memory_multilingual": 1, "names": 2}


class Empty(io.StringIO):
    """A file without lines; as JSON, a chat without messages."""

    def __init__(self) -> None:
        super().__init__('{"conversation": {}}')

    def __iter__(self) -> Any:
        return iter(())


@pytest.fixture
def asked(data: Path, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """What is opened below the data folder, by path; it is given out empty."""
    found: set[str] = set()
    read_text = Path.read_text

    def opened(path: Path, *_: Any, **__: Any) -> Empty:
        found.add(os.path.relpath(os.path.normpath(path), data))
        return Empty()

    def read(path: Path, *given: Any, **more: Any) -> str:
        inside = path.is_relative_to(data)
        return opened(path).read() if inside else read_text(path, *given, **more)

    def text(self: Any, source: str, *_: Any) -> str:
        return str(len(self.texts(source)))  # loads the source of every labelled turn

    monkeypatch.setattr(gzip, "open", opened)
    monkeypatch.setattr(Path, "read_text", read)
    monkeypatch.setattr(ei.Conversations, "text", text)
    return found


def labelled_files() -> set[str]:
    rows = map(json.loads, languages_labels.TRAIN.read_text("utf-8").splitlines())
    return {row["file"].removesuffix(".jsonl.gz") for row in rows}


RNG: Any = random.Random(0)
NO_TESTS: Any = SimpleNamespace(has=lambda _: False)
SCRIPTS: dict[str, Callable[[Path], Any]] = {
    "ei": lambda data: [*ei.public(data), *ei.silver(data), *ei.unlabelled(data)],
    "ei_multilingual": lambda data: [
        *(*languages_sources.everything(data), *languages_sources.chats(data)),
        *(list(languages_sources.lines(data, file)) for file in labelled_files()),
    ],
    "names": lambda data: [
        *names_data.public(data / "names", NO_TESTS, RNG, 1),
        *names_lines.lines(data / "multilingual", NO_TESTS, RNG),
        *names_words.plain_counts(data / "multilingual", set()),
    ],
    "languages": identifier_data.learned,
    "ordinary": lambda data: [*ordinary_words.texts(data), *ordinary_words.tagged(data)],
}


def check(model: str, sources: set[str]) -> None:
    """Every source is one of the model's sets, and every set with files one of the sources."""
    assert sources
    assert not unnamed(model, sources)
    read = {id_ for source in sources for id_ in set_ids(source)}
    assert {id_ for id_, it in terms()[model].sets.items() if "/" in it.files[0]} <= read


@pytest.mark.parametrize("model", SCRIPTS)
def test_what_scripts_read_is_named(model: str, data: Path, asked: set[str]) -> None:
    # The identifier's mixes its texts with English when all is read, and there is none.
    with pytest.raises(KeyError, match="en") if model == "languages" else nullcontext():
        SCRIPTS[model](data)
    check(model, asked)


def test_what_the_retriever_reads_is_named() -> None:
    check("memory", memory_data.OPEN)  # messages say of which set they are


def test_open_ei_takes_open_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    several = [ei.Example("hi", set=name) for name in ("goemotions", "dailydialog", "epitome")]
    monkeypatch.setattr(ei_open, "public", lambda _: several)
    for name in ("unlabelled", "silver", "twins", "persona_talk", "invented"):
        monkeypatch.setattr(ei_open, name, lambda *_: [])
    sources = {ei_open.source(each) for each in ei_open.examples(Path())}
    assert sources == {"goemotions", "chats"}
    labelled = {row["source"] for row in ei._labelled(ei.HERE / "silver_more.jsonl")}
    assert set(filter(is_open, labelled)) == {"persuasion_for_good"}
    closed = ei.Example("hi", set="silver_more", group="esconv_failed|1")
    monkeypatch.setattr(ei_open, "twins", lambda _: [closed])
    with pytest.raises(SystemExit, match=r"\['esconv_failed'\]"):
        ei_open.examples(Path())


def test_an_unnamed_source_stops_training() -> None:
    assert unnamed("memory", ["xpersona", "fiction"]) == set()
    assert unnamed("memory", ["parallel.xed.train", "", "new"]) == {"parallel.xed.train", "", "new"}
    assert set_ids("../ei/goemotions/all") == {"goemotions"}
    assert set_ids("emotion.goemotions_mt.dev") >= {"goemotions_ko", "goemotions_de"}
    with pytest.raises(SystemExit, match=r"terms\.toml: \['wikineural'\]"):
        refuse_unnamed("names", ["btc", "generated", "wikineural"])
    refuse_narrow([*names_data.SETS, *names_lines.SOURCES, "generated", "chats"])
    with pytest.raises(SystemExit, match=r"\['emotion.xed.train', 'new'\]"):
        refuse_narrow(["btc", "emotion.xed.train", "new"])


def test_what_is_made_from_the_terms_is_as_made() -> None:
    for path, text in written().items():
        assert path.read_text("utf-8") == text, f"{path}: python -m research.results.terms"
    expression = re.search(r'(?m)^license = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"))
    closed = any(it.licence != OURS for it in terms().values())
    assert expression and expression[1] == (f"{OURS} AND {RESEARCH}" if closed else OURS)
    assert RESEARCH in (ROOT / "LICENSES" / f"{RESEARCH}.txt").read_text("utf-8")
    notice = " ".join((ROOT / "NOTICE").read_text("utf-8").split())
    assert all(f"{it.name}: {it.licence}" in notice for it in SETS.values())


def test_an_entry_is_of_the_version_that_ships() -> None:
    for each in shipped_models():
        settings, it = each.card.parent / "settings.json", each.terms
        assert each.text.startswith(f"# Model card: {it.title}, version {it.version}\n")
        if settings.is_file():
            assert json.loads(settings.read_text("utf-8"))["version"] == it.version
        if int(it.version.removeprefix("m")) >= OPEN_SINCE.get(each.name, 99):
            assert it.licence == OURS, each.name


def test_only_whole_text_under_open_terms_is_open() -> None:
    narrow = {id_ for id_, it in SETS.items() if not it.is_open}
    assert {"xed", "umsab", "nus_sms", "realtalk", "locomo", "goemotions_de", "meld"} <= narrow
    assert {"own", "xpersona", "tatoeba", "presidio", "btc", "cldr"}.isdisjoint(narrow)
    heir = terms()["ei"]._replace(sets={"own": SETS["own"]}, inherited=terms()["ei"].sets)
    assert heir.licence == f"{OURS} AND {RESEARCH}"  # what a base learned from counts
    assert heir._replace(inherited={}).licence == OURS


def test_no_training_file_names_a_reddit_user_or_second() -> None:
    for path in (ROOT / "research" / "training").rglob("*.jsonl"):
        assert not re.search(r"user_\d|\dT\d\d:\d\d:\d\d", path.read_text("utf-8")), path.name
