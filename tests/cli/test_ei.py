"""`realtalk ei` as a person meets it: labels written, printed, compared; a judge's server."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import surface_labels
from command import run_command
from judge_server import Call, JudgeServer
from realtalk.ei.labels import LABELS, Label, TurnInput
from realtalk.encoders.shipped import LearnedTexts, fingerprint
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading


class ByLength(surface_labels.ByLength):
    """A way of measuring that can be foretold; of short turns it knows no emotion."""

    name = "length"

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
        return [
            replace(found, emotion=None, unscored={"emotion": "too short"})
            if len(given.text) < 8
            else found
            for given, found in zip(inputs, super().label(inputs), strict=True)
        ]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Labels of people and of models, made once."""
    place = tmp_path_factory.mktemp("labelled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("realtalk.api.labels.make_labeller", lambda *given: ByLength())
        patch.setenv("REALTALK_CACHE", str(place / "cache"))
        for name, folder in (("sample", "people"), ("sample-simulated", "models")):
            _, out, err = run_command(
                f"ei {name} --measures hub --out {place / 'runs' / folder}"
            ).done
    assert "speakers (length, 1)" in out
    assert "unscored: emotion for" not in out and "wrote labels.parquet" in err
    return place / "runs"


@pytest.fixture
def labelled(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, both: Path) -> Path:
    monkeypatch.setattr("realtalk.api.labels.make_labeller", lambda *given: ByLength())
    return shutil.copytree(both, tmp_path, dirs_exist_ok=True)


def test_labels_are_written_and_the_same_again(run: Any, labelled: Path) -> None:
    path = labelled / "people" / "labels.parquet"
    frame = pl.read_parquet(path)
    assert frame.select(LABELS.names()).schema == LABELS
    assert frame.height == 487
    assert frame.drop(LABELS.names()).row(-1) == ("238", "Chat_2_Mara_Juno", "turns")
    before = path.read_bytes()
    _, out, _ = run("ei sample --measures hub --out people --json")
    assert path.read_bytes() == before
    assert {entry["speaker"] for entry in json.loads(out)["speakers"]} == {"Mara", "Theo", "Juno"}


def test_unscored_turns_are_counted(run: Any, labelled: Path) -> None:
    _, _, err = run("ei sample --measures hub --out again")
    short = pl.read_parquet(labelled / "people" / "labels.parquet")["emotion"].null_count()
    assert short > 0
    assert f"unscored: emotion for {short} of 487 turns (too short)" in err


def test_consistency_and_what_holds(run: Any, labelled: Path, quick_charts: None) -> None:
    assert "Mara" in run("ei consistency people --figures pictures").done.out
    assert list((labelled / "pictures").glob("*.png"))
    assert "what holds" in run("runs compare people models").done.err


def test_other_labels_are_not_written_over(
    run: Any, labelled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (labelled / "people" / "labels.parquet").read_bytes()
    for words, line in (
        (("sample-simulated",), "corpus.name is sample there, sample-simulated now"),
        (("sample", "--protocol", "released"), "protocol is turns there, released now"),
    ):
        assert line in run("ei", *words, "--measures", "hub", "--out", "people").wrong
    monkeypatch.setattr(ByLength, "version", "2")
    assert "solver.version is 1 there, 2 now" in run("ei sample --measures hub --out people").wrong
    assert (labelled / "people" / "labels.parquet").read_bytes() == before


def test_labels_of_messages_do_not_pass_for_turns(run: Any, labelled: Path) -> None:
    run("ei sample --measures hub --protocol released --out single")
    assert "labels are of single messages" in run("ei consistency single --protocol turns").wrong
    assert run("ei consistency single --protocol released")[0] == 0


def test_labels_remember_their_protocol(run: Any, labelled: Path) -> None:
    run("ei sample --measures hub --protocol released --out single")
    run("ei sample --measures hub --protocol paper --out paper")
    for folder, protocol in (("people", "turns"), ("paper", "paper"), ("single", "released")):
        found = run(f"ei consistency {folder} --json").told
        assert found["protocol"] == [protocol]
    err = run("runs compare models paper").wrong
    assert "labelled by the protocol 'turns', sample by 'paper'" in err
    # Joined turns are joined turns: one asks for the reading of the paper's text by its name.
    ours, theirs = (
        {who["speaker"]: who["facets"] for who in json.loads(text)["speakers"]}
        for text in (
            run("ei consistency people --json")[1],
            run("ei consistency people --protocol paper --json")[1],
        )
    )
    differing = {name for who in ours for name in ours[who] if ours[who][name] != theirs[who][name]}
    assert differing == {"sentiment_alignment", "emotion_alignment"}


def test_a_person_in_two_chats_is_told_apart_in_every_part(run: Any, labelled: Path) -> None:
    _, out, _ = run("ei sample --measures hub --out again")
    assert out.count("Mara, Chat_2_Mara_Juno") == out.count("speaker, chat") > 1


def test_labels_do_not_go_into_the_folder_of_a_run(run: Any, labelled: Path) -> None:
    (labelled / "run").mkdir()
    for text, line in (
        ("{}", "run.json: not a run's settings"),
        ('{"kind": "thread tasks", "settings": {}, "versions": []}', "kind is thread tasks there"),
    ):
        (labelled / "run" / "run.json").write_text(text, "utf-8")
        assert line in run("ei sample --measures hub --out run").wrong
        assert [path.name for path in (labelled / "run").iterdir()] == ["run.json"]
        assert (labelled / "run" / "run.json").read_text("utf-8") == text


SPANISH = (
    "oye, ayer fuimos a la playa con los niños y comimos pescado",
    "qué rico, y el agua estaba fría o ya se puede nadar un poco",
    "estaba buenísima, el domingo que viene volvemos si hace sol",
    "avísame con tiempo y llevo la sombrilla grande de mi madre",
)


ENGLISH = (
    "hey, yesterday we went to the beach with the children and had fish",
    "lovely, and was the water cold or can one swim a little already",
    "it was very good, next Sunday we go there again if the sun is out",
    "tell me in time and I will bring the large umbrella of my mother",
)


def written_chat(path: Path, said: Sequence[str] = SPANISH) -> Path:
    lines = [
        f"13/05/2024, 10:{at:02d} - {'Eva' if at % 2 else 'Ana'}: {said[at % len(said)]}"
        for at in range(12)
    ]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def test_a_chat_in_another_language_is_said_wherever_its_labels_are(
    run: Any, tmp_path: Path
) -> None:
    written_chat(tmp_path / "chat.txt")
    line = "chat: hardly any English in 12 turns; the English encoder labelled them, whose grade"
    _, out, err = run("ei chat.txt --encoder english --out labels --json").done
    assert f"note: {line}" in err
    found = json.loads(out)
    (told,) = found["languages"]["chats"]
    assert told["chat"] == "chat" and told["english"] == 0.0 and told["turns"] == {"es": 12}
    assert (told["encoder"], told["grade"]) == ("english", "none")
    assert found["languages"]["notes"][0].startswith(line)
    assert [who["english"] for who in found["speakers"]] == [0.0, 0.0]
    # The labels carry it: what is said of them needs the chat no more.
    (tmp_path / "chat.txt").unlink()
    _, out, err = run("runs compare labels labels --json")
    assert err.count(f"note: {line}") == 1
    assert {side["notes"][0][: len(line)] for side in json.loads(out)["languages"].values()} == {
        line
    }
    written_chat(tmp_path / "english.txt", ENGLISH)
    _, out, err = run("runs compare english.txt labels --json")
    assert err.count(f"note: {line}") == 1 and "note: english:" not in err
    assert "english is in English, chat in Spanish: what differs may be the language's" in err
    languages = json.loads(out)["languages"]
    assert languages["first"]["notes"] == [] and languages["second"]["notes"][0].startswith(line)
    assert run("report labels --out page.html")[0] == 0
    assert "hardly any English in 12 turns" in (tmp_path / "page.html").read_text("utf-8")


def test_nothing_to_draw_is_said(run: Any, tmp_path: Path) -> None:
    written_chat(tmp_path / "chat.txt", ["🇫🇷"])
    status, _, err = run("ei chat.txt --figures pictures")
    assert status == 1 and "nothing to draw: no turn has a score" in err
    assert err.splitlines()[-1].startswith("error: nothing was scored: ")


def test_labels_made_otherwise_are_compared_with_a_warning(
    run: Any, labelled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "labelled by" not in run("runs compare people models")[2]
    monkeypatch.setattr(ByLength, "version", "2")
    run("ei sample-simulated --measures hub --out later")
    _, out, err = run("runs compare people later --json").done
    assert json.loads(out)
    assert "note: labelled by length 1 and by length 2" in err


def test_chats_that_the_encoder_learned_from_are_named(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = open_reading("sample").reading.corpus
    first, second = corpus.chats
    known = {found for each in first.messages if (found := fingerprint(each.text)) is not None}
    learned = LearnedTexts({"Harbour": np.array(sorted(known), np.uint32)})
    monkeypatch.setattr(LearnedTexts, "of", staticmethod(lambda model: learned))
    monkeypatch.setattr(ByLength, "name", "embedded")
    monkeypatch.setattr("realtalk.api.labels.make_labeller", lambda *given: ByLength())
    said = run("ei sample")[2]
    assert f"{first.id}: in-sample, the encoder learned from Harbour" in said
    assert f"{second.id}: in-sample" not in said


# --- a server of one's own, on loopback ---


JUDGED = [
    {"speaker": "Wren", "text": "I keep thinking about the ferry we missed", "session": 1},
    {"speaker": "Oke", "text": "did you sleep at all?", "session": 1},
]
JUDGING = "ei chat.jsonl --measures judge --model openai-api/local/tiny"


@pytest.fixture
def judged(tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    (tmp_path / "chat.jsonl").write_text("\n".join(map(json.dumps, JUDGED)) + "\n", "utf-8")


def reflects(call: Call) -> str:
    return str(call.turn.startswith("I keep"))


def test_the_named_server_is_asked_and_named(run: Any, judged: None, tmp_path: Path) -> None:
    with JudgeServer(reflects) as server:
        given = f"--ask reflective --base-url {server.url} --out judged --json"
        status, _, err = run(f"{JUDGING} {given}")
        assert (status, len(server.calls)) == (0, 2), err
        assert run(f"{JUDGING} {given}")[0] == 0
        assert len(server.calls) == 2  # the answers were kept
        frame = pl.read_parquet(tmp_path / "judged" / "labels.parquet")
        assert frame["reflective"].to_list() == [True, False]
        assert frame["version"][0].endswith(f"tiny at {server.url}")
        told = run("cache list --json").told
    kept = {each["kind"]: each["files"] for each in told["rows"] if each["files"]}
    assert kept == {"judge": 2, "labels": 1}


def test_another_server_is_another_labelling(run: Any, judged: None) -> None:
    for number in range(2):
        with JudgeServer(reflects) as server:
            given = f"--ask reflective --base-url {server.url} --out judged"
            status, _, err = run(f"{JUDGING} {given}")
            assert len(server.calls) == 2 * (1 - number)
    assert status == 2 and err.count("\n") == 1
    assert "made with other settings (solver.version is " in err
