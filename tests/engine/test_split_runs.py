"""Runs that an engine splits have the rows of runs that nobody splits, to the byte."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

import realtalk as rt
from realtalk.chat import Chat, Corpus
from realtalk.engine.engines import Inline
from realtalk.engine.jobs import Backend, JobReport
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.threads.benchmark import foreseen_texts
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import Draw
from realtalk.threads.vectors import VectorStore
from refusals import refused
from text_tables import cases

FILES = ("run.json", "rows.jsonl", "rows.parquet")
SEVERAL: Mapping[str, Any] = {"engine": rt.Engine("processes", workers=2)}
# The same pieces in this process: what is split and put together again is seen as well.
HERE: Mapping[str, Any] = {"engine": "inline"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def written(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.fixture(scope="module")
def chats() -> Corpus:
    """Six chats, of which a retriever finds something, and one with no question."""
    sample = rt.read("sample")
    named = [
        replace(chat, id=f"{chat.id}-{number}", questions=chat.questions[:8])
        for number in range(3)
        for chat in sample.chats
    ]
    return replace(sample, chats=(*named, replace(named[0], id="quiet", questions=())))


PROBES: dict[str, dict[str, Any]] = {
    "words": {"memory": "retrieved", "settings": {"way": "bm25"}, "budget": "300,1000w"},
    "limited": {"memory": "recent", "reader": "none", "limit": 7, "budget": "500"},
    "oracle": {"memory": "oracle"},
}


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        pytest.param("words", SEVERAL, marks=pytest.mark.slow),
        ("limited", HERE),
        ("oracle", HERE),
    ],
)
def test_probing_chat_by_chat(
    chats: Corpus, tmp_path: Path, name: str, engine: Mapping[str, Any]
) -> None:
    whole = rt.probe(chats, out=tmp_path / "whole", **PROBES[name])
    split = rt.probe(chats, out=tmp_path / "split", **PROBES[name], **engine)
    assert written(tmp_path / "split") == written(tmp_path / "whole")
    names = sorted(path.name for path in (tmp_path / "whole").iterdir())
    assert sorted(path.name for path in (tmp_path / "split").iterdir()) == names
    assert split.rows == whole.rows
    timed = [run.timings for run in (whole, split)]
    assert [len(each) for each in timed] == [len(whole.rows)] * 2
    alone = rt.probe(chats, **PROBES[name], **HERE)
    assert alone.rows == whole.rows, "also where nothing is written"


@pytest.mark.slow
def test_a_run_that_was_begun_without_an_engine_goes_on_with_one(
    chats: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = PROBES["words"]
    rt.probe(chats, out=tmp_path / "whole", **words)
    rt.probe(chats, out=tmp_path / "split", **words)
    rows = (tmp_path / "split" / "rows.jsonl").read_bytes().splitlines(keepends=True)
    kept = [row for row in rows if chats.chats[3].id.encode() not in row]
    assert 0 < len(kept) < len(rows)
    (tmp_path / "split" / "rows.jsonl").write_bytes(b"".join(kept))
    worked: list[int] = []

    def counted(job: Any, engine: Backend, **more: Any) -> JobReport:
        report = run_job(job, engine, **more)
        worked.append(report.worked)
        return report

    from realtalk.engine.jobs import run_job
    from realtalk.memory import by_engine

    monkeypatch.setattr(by_engine, "run_job", counted)
    split = rt.probe(chats, out=tmp_path / "split", **words, **HERE)
    assert worked == [1], "one chat was missing"
    assert split.rows == rt.Run.load(tmp_path / "whole").rows


class Broken:
    """A memory that cannot take in one of the chats."""

    name = "broken"
    version = "1"
    settings: ClassVar[dict[str, str | int | float | bool]] = {}

    def build(self, chat: Chat, progress: Progress = silent) -> Any:
        raise RealtalkError("cannot be remembered", where=chat.id)


def test_a_chat_that_fails_is_named(chats: Corpus, tmp_path: Path) -> None:
    with refused(r"6 chats could not be probed, this one: .*cannot be"):
        rt.probe(chats, memory=Broken(), out=tmp_path / "split", **HERE)
    assert (tmp_path / "split" / ".chats").is_dir(), "what is done stays"
    with refused("other-settings"):
        rt.probe(chats, memory="recent", out=tmp_path / "split", **HERE)
    rt.probe(chats, memory="recent", out=tmp_path / "split", fresh=True, **HERE)
    assert not (tmp_path / "split" / ".chats").exists()


@cases("""
    options                                                  | line
    {"memory": "notes", "settings": {"model": "openai/x"}}   | needs no language model
    {"memory": "recent", "judge": "openai/x"}                | a judge is a language model
""")
def test_what_cannot_be_split_is_refused(options: dict[str, Any], line: str) -> None:
    with refused(line):
        rt.probe("sample", **{**SEVERAL, **options})


def test_a_cluster_needs_a_folder_that_it_sees(chats: Corpus) -> None:
    from realtalk.engine.engines import OnRay
    from realtalk.engine.jobs import workplace

    with (
        refused("name one that all of them see with `out=`"),
        workplace(None, ".chats", OnRay(1, "auto")),
    ):
        pass


PREDICTIONS: dict[str, dict[str, Any]] = {
    "nearest": {"task": "impact", "setting": "p-conv,np-conv", "predictor": "nearest"},
    "regression": {"task": "sentiment", "setting": "p-conv", "predictor": "regression"},
}
FEW: Mapping[str, Any] = {"limit": 10, "train_limit": 40}


@pytest.mark.parametrize("name", ["nearest", "regression"])
def test_what_a_run_encodes_is_foreseen(cache: Path, name: str) -> None:
    options = PREDICTIONS[name]
    rt.predict("sample-threads", **options, **FEW)
    (place,) = (cache / "threads").glob("vectors-*.sqlite")
    samples = Draw(task=options["task"], **FEW).samples(rt.read("sample-threads"))
    settings = options["setting"].split(",")
    texts = foreseen_texts(samples, settings, make_predictor(options["predictor"]))
    with closing(sqlite3.connect(place)) as connection, connection:
        (encoded,) = connection.execute("SELECT count(*) FROM vectors").fetchone()
    assert len(VectorStore(place).get(list(texts))) == encoded, "nothing is left to the run"


def test_vectors_are_encoded_once(tmp_path: Path) -> None:
    from realtalk.threads.benchmark import encode_by

    texts = ["phew", "did you sleep", "half of a letter \ud83d", "phew "]
    assert encode_by(texts, Inline(), tmp_path / "one") == 3
    assert encode_by(texts, Inline(), tmp_path / "two") == 0


def test_a_language_model_is_not_split() -> None:
    with refused("take one of majority, parent, mean"):
        rt.predict("sample-threads", model="openai/x", **SEVERAL)
