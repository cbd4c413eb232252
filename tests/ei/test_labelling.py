"""Labels as a run: its record and key, killed and gone on with, started anew, refused; which
encoder labels a chat, by its language."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import realtalk as rt
import realtalk_models
from engine_work import tree
from facet_labels import label_settings, label_table
from file_modes import open_to_others
from killed_runs import kill_at
from multilingual_chats import CHATS, ENGLISH, corpus_of, needs_multilingual
from realtalk.api.choices import as_reading
from realtalk.assistant.answers import Period
from realtalk.assistant.finding import Collection
from realtalk.assistant.tools import Feelings
from realtalk.chat import Corpus
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.encoder_choice import encoder_by, encoder_for
from realtalk.ei.labelling import labels_for
from realtalk.ei.labels import LABELS, NOT_ASKED, Label, TurnInput, label_frame, turn_inputs
from realtalk.ei.results import KIND, is_labels, read_labels, store_labels
from realtalk.files.progress import Progress, silent
from realtalk.formats.store import store
from realtalk.pages.loading import LABELS as REPORTED
from realtalk.web.turn_labels import TurnLabels
from refusals import refused
from samples import read_sample
from text_tables import cases

CORPUS = read_sample()


class Counting:
    """Labels by a turn's length, in blocks, and counts the turns that it was handed."""

    name, version, at_once = "counting", "1", 64
    settings = {"of": "length"}  # noqa: RUF012

    def __init__(self) -> None:
        self.seen: list[int] = []

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
        self.seen.append(len(inputs))
        progress(len(inputs), len(inputs), "")
        return [Label(intimacy=1 / (1 + len(given.text))) for given in inputs]


def labelled(folder: Path | None = None, *, fresh: bool = False) -> rt.Labels:
    return labels_for(CORPUS, Counting(), out=folder, fresh=fresh)


def test_a_run_says_what_it_is_and_its_rows_have_its_key(tmp_path: Path) -> None:
    found = labelled(tmp_path / "labels")
    record = json.loads((tmp_path / "labels" / "run.json").read_bytes())
    assert record["kind"] == KIND == REPORTED
    assert record["settings"] == found.settings
    solver = {"name": "counting", "version": "1", "settings": {"of": "length"}}
    assert record["settings"]["solver"] == solver
    stored = pl.read_parquet(tmp_path / "labels" / "labels.parquet")
    assert stored.columns == ["sample", "group", "variant", *LABELS.names()]
    assert stored.select("sample", "group", "variant").is_unique().all()
    assert read_labels(tmp_path / "labels").equals(found.frame)
    assert labelled().frame.equals(found.frame)
    assert open_to_others(tmp_path) == {}


SCRIPT = """
import sys
from pathlib import Path
sys.path[:0] = [{tests!r}, {here!r}]
from test_labelling import labelled
labelled(Path(sys.argv[1]))
"""


def test_killed_and_gone_on_with_it_is_the_same(tmp_path: Path) -> None:
    here = Path(__file__).parent
    script = SCRIPT.format(tests=str(here.parent / "support"), here=str(here))
    kill_at(100, script, tmp_path / "killed", "labels.jsonl")
    assert is_labels(tmp_path / "killed")
    with refused("the labels are not finished"):
        read_labels(tmp_path / "killed")
    again = Counting()
    labels_for(CORPUS, again, out=tmp_path / "killed")
    assert sum(again.seen) < len(turn_inputs(CORPUS)) - 100, (
        "what the folder or the cache has is not made again"
    )
    labelled(tmp_path / "whole")
    for name in ("labels.parquet", "labels.jsonl", "run.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_what_was_not_answered_is_asked_again(tmp_path: Path) -> None:
    class Asking(Counting):
        asks = True
        reason = "timeout"

        def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
            labels = super().label(inputs, progress)
            failed = {"empathy": self.reason, "emotion": "not asked"}
            return [
                replace(label, unscored=failed if given.turn == 3 else {"emotion": "not asked"})
                for given, label in zip(inputs, labels, strict=True)
            ]

    first, second, third = Asking(), Asking(), Asking()
    labels_for(CORPUS, first, out=tmp_path)
    second.reason = "no text"
    found = labels_for(CORPUS, second, out=tmp_path)
    assert second.seen == [2]  # the fourth turn of either chat
    assert "timeout" not in str(found.frame["unscored"].to_list())
    assert read_labels(tmp_path).equals(found.frame)
    labels_for(CORPUS, third, out=tmp_path)
    assert third.seen == []


def test_stored_labels_are_read_as_any_run(tmp_path: Path) -> None:
    labels = [
        Label(sentiment="positive", empathy=2.0),
        Label(sentiment="neutral", unscored={"empathy": "timeout", "emotion": NOT_ASKED}),
        Label(unscored={"sentiment": "no text"}),
    ]
    turns = turn_inputs(replace(CORPUS, chats=CORPUS.chats[:1]))[:3]
    own = tmp_path / "labels"
    store_labels(label_table(turns, labels), label_settings("sample", "realtalk"), own)
    for folder in (own, *rt.runs.share([own], out=tmp_path / "x")):
        view = rt.runs.show(folder, groups=True)
        figures = view.runs[0].variants["turns"]
        assert (figures.overall["positive"].value, figures.overall["positive"].n) == (0.5, 2)
        assert figures.overall["empathy"].value == 2 and figures.overall["joy"].value is None
        assert set(figures.slices) == {turn.speaker for turn in turns}
        assert figures.unscored == {"no text": 1} and figures.left_out == {"empathy: timeout": 1}
        assert "emotional intelligence, by speaker" in [table.title for table in view.tables]
        failed = rt.runs.failures([folder]).rows or ()
        assert [(row["sample"], row["why"]) for row in failed] == [
            ("2", "no text"),
            ("1", "empathy: timeout"),
        ]
        with refused("present formulas"):
            rt.runs.rescore(folder)
    (line,) = rt.runs.show(own, sample="0", corpus="sample").evidence[0]
    assert line.endswith(turns[0].text)
    assert "agreement" in rt.compare(own, own).title
    with refused("no truth"):
        view.runs[0].compare(view.runs[0])


def test_stored_labels_are_gone_on_with(tmp_path: Path) -> None:
    found = labelled()
    for _ in range(2):
        store_labels(found.frame, found.settings, tmp_path)
    again = Counting()
    assert labels_for(CORPUS, again, out=tmp_path).frame.equals(found.frame)
    assert again.seen == []
    assert (tmp_path / "labels.jsonl").read_bytes().count(b"\n") == found.frame.height


def test_a_chat_is_labelled_once_whoever_asks(
    run: Any, pears: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    plain = EmbeddedLabeller.label

    def counting(self: EmbeddedLabeller, inputs: Any, *more: Any) -> Any:
        seen.append(len(inputs))
        return plain(self, inputs, *more)

    monkeypatch.setattr(EmbeddedLabeller, "label", counting)
    assert run(f"report {pears} --out page.html")[0] == 0
    assert seen == [4]
    assert run(f"ei {pears} --out labels")[0] == 0
    assert run(f"ei {pears} --protocol paper")[0] == 0
    labels = rt.label(pears)
    corpus = rt.read(pears)
    shown = TurnLabels()
    shown._make(turn_inputs(corpus), None)
    assert shown.done == 4 and shown.note == ""
    rows, _ = Feelings().summarise(Collection.of([corpus]).chats, "", Period(), "whole", 10)
    assert sum(row["turns"] for row in rows) == 4
    assert labels.frame.equals(read_labels(tmp_path / "labels"))
    assert seen == [4], "nothing is labelled again"


def test_what_is_kept_of_a_chat_does_not_hold_its_names_or_times(tmp_path: Path) -> None:
    first = Counting()
    found = labels_for(CORPUS, first, tmp_path)
    (one, other) = (tmp_path / "labels").iterdir()
    assert {"turn", "intimacy", "unscored"} < set(pl.read_parquet(one).columns)
    assert not {"chat", "speaker", "time", "message_ids"} & set(pl.read_parquet(other).columns)
    moved = replace(
        CORPUS,
        name="other",
        chats=tuple(replace(chat, id=f"{chat.id} again") for chat in CORPUS.chats),
    )
    again = Counting()
    kept = labels_for(moved, again, tmp_path)
    assert again.seen == [] and kept.frame["intimacy"].equals(found.frame["intimacy"])
    newer = Counting()
    newer.version = "2"
    labels_for(CORPUS, newer, tmp_path)
    assert sum(newer.seen) == found.frame.height, "another version is another labeller"
    labels_for(CORPUS, newer, tmp_path, fresh=True)
    assert sum(newer.seen) == 2 * found.frame.height


def test_a_broken_or_forbidden_cache_costs_only_time(tmp_path: Path) -> None:
    found = labels_for(CORPUS, Counting(), tmp_path)
    one, _ = (tmp_path / "labels").iterdir()
    one.write_bytes(b"PAR1 no more")
    again = Counting()
    assert labels_for(CORPUS, again, tmp_path).frame.equals(found.frame)
    assert 0 < sum(again.seen) < found.frame.height, "the other chat's labels are whole"
    (tmp_path / "file").write_bytes(b"")
    assert labels_for(CORPUS, Counting(), tmp_path / "file").frame.equals(found.frame)


def test_some_turns_are_labelled_and_later_the_rest(tmp_path: Path) -> None:
    some, rest = Counting(), Counting()
    few = labels_for(CORPUS, some, tmp_path, most=40)
    whole = labels_for(CORPUS, rest, tmp_path)
    assert few.frame.height == sum(some.seen) == 40
    assert sum(rest.seen) == whole.frame.height - 40
    assert whole.frame.join(few.frame, on=("chat", "turn"), how="semi").equals(few.frame)


# --- which encoder labels a chat, by its language ---


MIXED = [line for pair in zip(CHATS["es"], ENGLISH, strict=True) for line in pair]
QUOTED = [*ENGLISH, *ENGLISH, CHATS["es"][0]]
BLOCK = 8


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that begin with one chat's encoder and end with another's."""
    monkeypatch.setattr(EmbeddedLabeller, "at_once", 4 * BLOCK)


def several() -> Corpus:
    """Chats in English, Spanish, both, English with a quotation, Japanese."""
    lines = {"en": ENGLISH, "es": CHATS["es"], "both": MIXED, "quoted": QUOTED, "ja": CHATS["ja"]}
    return corpus_of(lines, times=2)


@cases("""
    turns                           | encoder
    {}                              | english
    {"und": 9}                      | english
    {"en": 80, "es": 20, "und": 50} | english
    {"en": 79, "es": 21}            | multilingual
    {"hi-Latn": 10}                 | multilingual
    {"other": 3}                    | multilingual
""")
def test_mostly_english_is_english(turns: dict[str, int], encoder: str) -> None:
    assert encoder_for(turns) == encoder


def test_a_version_says_which_encoder_labelled() -> None:
    assert encoder_by("2") == encoder_by("2 (cuda, fp16)") == "english"
    assert encoder_by("multilingual 1 (cuda, fp16)") == "multilingual"


def test_a_folder_that_was_trained_again_has_its_new_version(tmp_path: Path) -> None:
    shipped = realtalk_models.path("ei")
    for name in ("model.onnx", "tokenizer.json"):
        (tmp_path / name).symlink_to(shipped / name)
    settings = json.loads((shipped / "settings.json").read_text("utf-8"))
    for version in ("7", "8"):
        (tmp_path / "settings.json").write_text(json.dumps({**settings, "version": version}))
        assert EmbeddedLabeller(tmp_path).version == version


def test_every_turn_of_a_chat_has_its_encoder() -> None:
    chosen = {each.chat: each.encoder for each in turn_inputs(several())}
    english = {"en", "quoted"}
    assert {chat for chat, encoder in chosen.items() if encoder == "english"} == english
    alone = {each.chat: each.encoder for each in turn_inputs(several(), joined=False)}
    assert alone == chosen  # whatever is labelled of it
    for each in turn_inputs(corpus_of(CHATS)):
        assert each.encoder == "multilingual", each.chat


def test_an_encoder_that_is_not_there_is_said_in_one_line(run: Any) -> None:
    with refused("unknown-encoder"):
        EmbeddedLabeller(encoder="multilingal")
    wrong = run("ei sample --measures hub --encoder english").wrong
    assert "--encoder is not for --measures hub" in wrong


def test_the_english_encoder_can_be_had_for_all() -> None:
    corpus = corpus_of({"es": CHATS["es"]})
    labels = rt.label(corpus, encoder="english")
    assert set(labels.frame["version"]) == {EmbeddedLabeller().version}
    (spoken,) = labels.languages
    assert (spoken.encoder, spoken.grade(), spoken.mainly) == ("english", "none", ("es",))
    assert "the English encoder labelled them, whose grade there is none" in labels.cautions[0]


@needs_multilingual
def test_each_chat_is_labelled_by_its_own_encoder() -> None:
    corpus = several()
    labels = rt.label(corpus).frame
    english = EmbeddedLabeller(encoder="english")
    many = EmbeddedLabeller(encoder="multilingual")
    assert english.version != many.version
    for chat, labeller in (("en", english), ("quoted", english), ("es", many), ("both", many)):
        inputs = [each for each in turn_inputs(corpus) if each.chat == chat]
        own = labels.filter(labels["chat"] == chat)
        assert own.equals(label_frame(inputs, labeller.label(inputs), labeller)), chat
        assert set(own["version"]) == {labeller.version}


@needs_multilingual
def test_a_run_names_its_encoders_and_goes_on_with_the_same_ones(tmp_path: Path) -> None:
    corpus = several()
    folder = tmp_path / "both"
    labels_for(corpus, EmbeddedLabeller(), out=folder)
    solver = json.loads((folder / "run.json").read_text("utf-8"))["settings"]["solver"]
    assert solver["version"] == f"{EmbeddedLabeller().version}, multilingual 1"
    whole = tree(folder)
    # Stopped in the middle: what is there stays, the rest comes out equal.
    rows = (folder / "labels.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "labels.jsonl").write_bytes(b"".join(rows[:13]))
    (folder / "labels.parquet").unlink()
    labels_for(corpus, EmbeddedLabeller(), out=folder)
    assert tree(folder) == whole
    with refused("version"):
        labels_for(corpus, EmbeddedLabeller(encoder="english"), out=folder)


@needs_multilingual
def test_the_command_says_who_labelled_and_how_good_it_is(run: Any, tmp_path: Path) -> None:
    corpus = corpus_of({"playa": CHATS["es"]})
    store(as_reading(corpus), tmp_path / "corpus")
    _, out, err = run("ei corpus --out labels").done
    assert "(embedded, multilingual 1)" in out
    assert "playa: Spanish in 12 turns, labelled by the multilingual encoder, whose grade" in err
    found = run("ei corpus --json").told
    assert found["version"] == ["multilingual 1"]
    (chat,) = found["languages"]["chats"]
    assert (chat["encoder"], chat["languages"]) == ("multilingual", ["es"])
    assert chat["grade"] in ("none", "rough", "usable", "good")
    facet = found["speakers"][0]["facets"]["empathy"]
    assert facet["grade"] == chat["grades"]["empathy"] and found["speakers"][0]["languages"]
    assert run("ei corpus --encoder english --json").told["version"] == ["2"]
