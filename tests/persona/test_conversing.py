"""Two simulators talk for some days: when, as whom, what they remember, what is kept and marked."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest

import realtalk as rt
from file_modes import open_to_others
from persona_chats import ines
from realtalk.chat import Corpus, Message, Session, unpack_extra
from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading
from realtalk.memory.plain import Recent
from realtalk.memory.remembering import reminder
from realtalk.memory.values import Budget
from realtalk.pages.loading import says_simulated
from realtalk.persona import conversation
from realtalk.persona.cast import (
    PlannedTurn,
    draw_roles,
    draw_turns,
    load_cast,
    pace_of,
    printed_pace,
)
from realtalk.persona.conversation import Side, SimulatedChat, messages_of
from realtalk.persona.prompting import text_of
from realtalk.persona.values import TurnPrompt
from refusals import refused
from short_chats import chat_of
from shown import check_chat
from text_tables import cases

MONDAY = date(2025, 1, 6)
NOON = datetime(2025, 1, 6, 12)


class Numbered(PlainSolver):
    """Answers with its prompt's id and what it was shown; stops after so many turns."""

    name = "numbered"

    def __init__(self, most: int = 10_000, hush: bool = False) -> None:
        self.shown: list[TurnPrompt] = []
        self._most, self._hush = most, hush

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        found = []
        for prompt in shown:
            if len(self.shown) >= self._most:
                raise KeyboardInterrupt
            self.shown.append(prompt)
            seen = sum(len(turn.text) for turn in prompt.context)
            text = f"{prompt.id} saw {len(prompt.context)} turns. And {seen} letters."
            found.append(Answer(None, "empty answer") if self._hush else Answer(text))
        return found


def conversations(chats: int = 2, days: int = 4, seed: int = 3) -> list[SimulatedChat]:
    roles = draw_roles(load_cast(), days=days, begins=MONDAY, chats=chats, seed=seed)
    remember = reminder(Recent(), Budget(words=40))
    return [
        SimulatedChat(
            f"Chat_{number}",
            (Side(one.persona.name, one), Side(two.persona.name, two)),
            draw_turns(pace_of(ines()), days=days, begins=MONDAY, seed=f"{seed}/{number}"),
            remember,
        )
        for number, (one, two) in enumerate(roles)
    ]


def chats_of(*given: str | Session) -> Corpus:
    return Corpus("x", "jsonl", (chat_of(*given),))


def converse(
    chats: list[SimulatedChat], writer: Numbered | None = None, out: Path | None = None
) -> Corpus:
    """Both sides by one writer."""
    writer = writer or Numbered()
    return conversation.converse(chats, (writer, writer), {"seed": 3}, out=out)


def in_turn(count: int) -> SimulatedChat:
    planned = [PlannedTurn(1, at % 2, NOON + timedelta(minutes=at)) for at in range(count)]
    return SimulatedChat("c", (Side("A"), Side("B")), planned)


@cache
def shown_once() -> tuple[SimulatedChat, list[TurnPrompt]]:
    """A chat of six days, and the prompts of it."""
    (each,), writer = conversations(1, days=6), Numbered()
    converse([each], writer)
    return each, writer.shown


# When


def test_a_pace_is_what_chats_show() -> None:
    pace = pace_of(ines(sessions=3))
    assert set(pace.turns) == {6} and set(pace.bursts) == {1} and set(pace.gaps) == {60.0}
    assert pace.sessions == (1, 1, 1, 1, 1, 1) and set(pace.starts) == {9 * 60 + 1}
    draw = partial(draw_turns, pace, days=5, begins=MONDAY)
    turns = draw(seed="x")
    assert [turn.session for turn in turns] == [n for n in range(1, 6) for _ in range(6)]
    assert turns[0].time == datetime(2025, 1, 6, 9, 1) and turns[6].time.day == 7
    assert all(one.side != other.side for one, other in pairwise(turns[:6]))
    assert turns == draw(seed="x") != draw(seed="y")


def test_bursts_and_silent_days_are_drawn_too() -> None:
    said = [("A", 0), ("A", 20), ("A", 50), ("B", 650), ("A", 700)]

    def session(number: int, day: int) -> Session:
        times = [(who, NOON + timedelta(days=day, seconds=at)) for who, at in said]
        return Session(number, None, tuple(Message("", who, time, "hi") for who, time in times))

    pace = pace_of(chats_of(session(1, 0), session(2, 3)))
    assert sorted(pace.sessions) == [0, 0, 1, 1]
    assert sorted(pace.bursts) == [1, 1, 1, 1, 3, 3]
    assert sorted(set(pace.pauses)) == [20, 30] and sorted(set(pace.gaps)) == [50, 600]
    times = [turn.time for turn in draw_turns(pace, days=300, begins=MONDAY, seed="0")]
    assert len({time.date() for time in times}) < 200 and times == sorted(times)
    few = draw_turns(pace, days=1, begins=MONDAY, seed="0")
    assert few and all(turn.time.date() == MONDAY for turn in few)  # never nothing
    with refused("x: no chat shows when people answer"):
        pace_of(chats_of("A: hi", "B: ho"))


def test_without_a_corpus_the_papers_figures_are_drawn_from() -> None:
    pace = printed_pace()
    minutes = [gap / 60 for gap in pace.gaps]
    assert median(minutes) == pytest.approx(2.22, abs=0.02)
    assert fmean(minutes) == pytest.approx(20.98, abs=0.1)
    assert max(minutes) <= 27.9 * 60
    assert median(pace.bursts) == 2 and fmean(pace.bursts) == pytest.approx(2.31, abs=0.02)
    assert fmean(pace.turns) * 2.31 == pytest.approx(894.4 / 21.9, rel=0.02)
    assert fmean(pace.sessions) == pytest.approx(21.9 / 20, abs=0.001)
    assert "Table 1" in pace.source and "§5.1" in pace.source


# Who


def test_people_are_ours_and_nobody_is_in_two_chats() -> None:
    draw = partial(draw_roles, load_cast(), days=7, begins=MONDAY, chats=7)
    roles = draw(seed=1)
    assert len({role.persona.name for pair in roles for role in pair}) == 14
    assert roles == draw(seed=1) != draw(seed=2)
    for one, two in roles:
        told = [text for _, text in (*one.events, *two.events)]
        assert len(told) == len(set(told))


def test_people_of_ones_own(tmp_path: Path) -> None:
    person = 'age = 30\nplace = "Oslo"\nwork = "a diver"\nlife = "You dive."\nmanner = "wet."\n'
    path = tmp_path / "mine.toml"
    path.write_text(f'[[personas]]\nname = "Ulf"\n{person}[[personas]]\nname = "Ida"\n{person}')
    cast = load_cast(path)
    assert [each.name for each in cast.personas] == ["Ulf", "Ida"]
    assert cast.events == load_cast().events
    for text, line in (
        (f'[[personas]]\nname = "Ulf"\n{person}', "two personas or more"),
        ('[[personas]]\nname = "Ulf"\n', "is no file of personas; write TOML"),
        ("personas = [", "is no file of personas"),
    ):
        path.write_text(text)
        with refused(line) as caught:
            load_cast(path)
        assert str(path) in str(caught.value)
    with refused("the personas cannot be read"):
        load_cast(tmp_path / "none.toml")


# What is shown


def test_a_prompt_tells_who_what_happened_and_what_was_said() -> None:
    each, prompts = shown_once()
    first, last = prompts[0], prompts[-1]
    assert first.context == () and first.about.startswith(f"You are {first.speaker}, ")
    names = {side.name for side in each.sides}
    partner = (names - {last.speaker}).pop()
    assert partner in last.about and last.speaker in names
    assert "You send one message." in last.about
    own, other = (
        {text: day for day, text in side.role.events}
        for side in sorted(each.sides, key=lambda side: side.name != last.speaker)
        if side.role
    )
    assert 0 < sum(text in last.about for text in own) <= 3
    assert not any(text in last.about for text in other)
    asked = text_of(last)
    assert last.about in asked and last.context[-1].text in asked
    assert "neither is an assistant" in asked and "{" not in asked
    # What happens later is not known yet.
    early = next(prompt for prompt in prompts if prompt.speaker == last.speaker)
    assert early.time is not None
    later = [text for text, day in own.items() if day > early.time.date()]
    assert later and not any(text in early.about for text in later)


def test_earlier_sessions_are_recalled_within_the_budget() -> None:
    for prompt in shown_once()[1]:
        earlier = [turn for turn in prompt.context if turn.session < prompt.session]
        words = sum(len(f"{turn.speaker}: {turn.text}".split()) for turn in earlier)
        assert words <= 40 and bool(earlier) == (prompt.session > 1)
        times = [turn.time for turn in prompt.context if turn.time is not None]
        assert times == sorted(times) and prompt.time is not None
        assert all(time < prompt.time for time in times)


def test_the_present_session_is_shown_as_far_as_words_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation, "PRESENT_WORDS", 12)
    each = in_turn(30)
    for number in range(20):
        each.add(Answer(f"one two three {number}"))
    assert [turn.text.split()[-1] for turn in each.prompt().context] == ["17", "18", "19"]


# What is written


@cases(r"""
    text                      | count | lines
    "one\ntwo"                | null  | ["one", "two"]
    "one\n\n two "            | 2     | ["one", "two"]
    a. b! c? d                | 2     | ["a. b!", "c? d"]
    a. b! c? d                | 4     | ["a.", "b!", "c?", "d"]
    nothing to cut here       | 3     | ["nothing to cut here"]
    "one\ntwo\nthree is long" | 2     | ["one two", "three is long"]
    "one\ntwo"                | 1     | ["one two"]
""")
def test_a_turn_becomes_messages(text: str, count: int | None, lines: list[str]) -> None:
    assert messages_of(text, count) == lines


def test_messages_have_the_times_that_were_drawn() -> None:
    planned = [PlannedTurn(1, 0, NOON, (5.0, 7.0)), PlannedTurn(1, 1, NOON + timedelta(minutes=2))]
    role = draw_roles(load_cast(), days=1, begins=MONDAY, chats=1, seed=0)[0][0]
    each = SimulatedChat("c", (Side("A", role), Side("B")), planned)
    assert "You send 3 short messages" in each.prompt().about
    each.add(Answer("Yes. No. Maybe."))
    assert each.prompt().about == ""  # B is learned from, not told
    each.add(Answer("well\nwell"))
    check_chat(
        each.chat,
        """
        c (A, B)
        session 1, 2025-01-06 12:00:00
        D1:1 2025-01-06 12:00:00 A: Yes.
        D1:2 2025-01-06 12:00:05 A: No.
        D1:3 2025-01-06 12:00:12 A: Maybe.
        D1:4 2025-01-06 12:02:00 B: well
        D1:5 2025-01-06 12:02:01 B: well
        """,
    )
    assert each.done


def test_who_says_nothing_is_counted_and_five_times_is_too_often(tmp_path: Path) -> None:
    each = in_turn(9)
    for answer in (Answer("hello"), Answer(None, "timeout"), Answer("hello?")):
        each.add(answer)
    assert each.silent == {1: "timeout"} and [turn.speaker for turn in each.chat.turns] == ["A"]
    with refused(r"Chat_0: no answer, 5 times in a row \(empty"):
        converse(conversations(), Numbered(hush=True), out=tmp_path / "out")
    again = conversations()
    converse(again, out=tmp_path / "out")
    assert sorted(again[0].silent) == [0, 1, 2, 3] and all(chat.done for chat in again)


# What is kept


def test_chats_are_an_ordinary_corpus_and_marked_wherever_they_go(tmp_path: Path) -> None:
    corpus = converse(conversations(), out=tmp_path / "out")
    held = open_reading(str(tmp_path / "out")).reading.corpus
    assert held.chats == corpus.chats
    assert says_simulated(held.name)
    for chat in held.chats:
        assert all(name.endswith(" (simulated)") for name in chat.speakers)
        assert {message.extra for message in chat.messages} == {'{"simulated":"numbered"}'}
        assert all(event.speaker in chat.speakers for event in chat.events) and chat.events
    assert open_to_others(tmp_path / "out") == {}
    assert rt.stats(tmp_path / "out").total("messages") == len(corpus.frame)
    assert not rt.check(tmp_path / "out").counts().get("order")


def test_a_run_that_was_stopped_ends_in_the_same_chats(tmp_path: Path) -> None:
    whole = converse(conversations())
    with pytest.raises(KeyboardInterrupt):
        converse(conversations(), Numbered(17), out=tmp_path / "out")
    rest, again = Numbered(), Numbered()
    assert converse(conversations(), rest, out=tmp_path / "out") == whole
    assert open_reading(str(tmp_path / "out")).reading.corpus.chats == whole.chats
    assert len(rest.shown) < sum(chat.total for chat in conversations())  # nothing is asked twice
    assert converse(conversations(), again, out=tmp_path / "out") == whole
    assert not again.shown


def test_a_killed_run_ends_in_the_same_chats(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies in the folder in the midst of a run is what a kill leaves there."""
    monkeypatch.setattr(conversation, "_EVERY", 0.0)

    class Copying(Numbered):
        def solve(self, *given: Any) -> list[Answer[str]]:
            if 30 < len(self.shown) < 33:
                shutil.copytree(tmp_path / "whole", tmp_path / "killed", dirs_exist_ok=True)
            return super().solve(*given)

    writer, rest = Copying(), Numbered()
    whole = converse(conversations(), writer, out=tmp_path / "whole")
    half = open_reading(str(tmp_path / "killed")).reading.corpus
    assert 0 < len(half.frame) < len(whole.frame)
    assert converse(conversations(), rest, out=tmp_path / "killed") == whole
    assert len(rest.shown) < len(writer.shown)


def test_other_settings_and_other_folders_are_refused(tmp_path: Path) -> None:
    given: dict[str, Any] = {"days": 2, "memory": "recent", "out": tmp_path / "out"}
    begin = partial(rt.persona.converse, simulator="constant", **given)
    made = begin()
    assert begin() == made
    changes: list[tuple[dict[str, Any], str]] = [
        ({"seed": 1}, "holds other chats|another seed"),
        ({"budget": "99w"}, "was made with another budget"),
        ({"settings": {"says": "no"}}, "was made with another simulator"),
        ({"like": "sample"}, "was made with another pace"),
    ]
    for change, what in changes:
        with refused(what) as caught:
            begin(**change)
        assert "`fresh=True`" in str(caught.value)
    assert begin(seed=1, fresh=True) != made
    rt.read("sample", out=tmp_path / "real")
    with refused("holds a stored corpus: not a folder for simulated"):
        begin(out=tmp_path / "real", fresh=True)


# People


def test_a_speaker_is_written_as_with_their_yes_only(tmp_path: Path) -> None:
    given: dict[str, Any] = {"corpus": ines(), "days": 2, "like": ines(), "memory": "none"}
    other = {"speaker": "Juno"}
    begin = partial(rt.persona.converse, simulator="retrieve", speaker="ines")
    with refused("no consent to write as Ines"):
        begin(other=other, **given)
    with refused("no consent to write as Juno"):
        begin(consent="self", other=other, **given)
    asked: list[str] = []

    def answer(line: str) -> str:
        asked.append(line)
        return "given"

    given["settings"] = {"by": "words"}
    out = tmp_path / "out"
    agreeing: dict[str, Any] = {**other, "consent": answer}
    (chat,) = begin(consent="self", other=agreeing, out=out, **given).chats
    assert chat.speakers == ("Ines (simulated)", "Juno (simulated)") and len(asked) == 1
    about = unpack_extra(chat.extra)["simulated"]
    kept = [(each["speaker"], each["answer"]) for each in about["consent"]]
    assert kept == [("Ines", "self"), ("Juno", "given")]
    known = {turn.text for each in ines().chats for turn in each.turns}
    assert {turn.text for turn in chat.turns} <= known
    # What was said once is not asked again.
    begin(other=other, out=out, **given)
    assert len(asked) == 1


def test_both_sides_can_be_different() -> None:
    corpus = rt.persona.converse(
        simulator="retrieve",
        corpus=ines(),
        speaker="Ines",
        consent="given",
        settings={"by": "words"},
        other={"simulator": "constant", "settings": {"says": "quite"}},
        days=2,
        like="sample",
    )
    (chat,) = corpus.chats
    said = {who: {m.text for m in chat.messages if m.speaker == who} for who in chat.speakers}
    assert said[chat.speakers[1]] == {"quite"} and len(said["Ines (simulated)"]) > 1
    by = {m.speaker: json.loads(m.extra)["simulated"] for m in chat.messages}
    assert by == {"Ines (simulated)": "retrieve", chat.speakers[1]: "constant"}


@cases("""
    given                                    | line
    {"simulator": "retrieve"}                | the simulator retrieve is learned from somebody
    {"model": "realtalk/smollm2", "style": true} | a style is learned from somebody
    {"simulator": "constant", "speaker": "Mara"} | no chats of Mara are given
    {"simulator": "constant", "days": 0}     | days must be 1 or more, not 0
    {"simulator": "constant", "budget": "300t"} | '300t' is no budget of words
    {"simulator": "constant", "begins": "today"} | 'today' is no day
    {"simulator": "constant", "other": {"speeker": "x"}} | did you mean 'speaker'
    {"simulator": "constant", "corpus": "sample", "speaker": "Mara", "other": {"speaker": "mara"}, "consent": "self"} | Mara cannot talk to Mara
""")  # noqa: E501
def test_what_cannot_be_is_one_line(given: dict[str, Any], line: str) -> None:
    with refused(line):
        rt.persona.converse(**given)


# The command


def test_the_command(run: Any, tmp_path: Path) -> None:
    words = ["persona", "converse", "--simulator", "constant", "--days", "2", "--memory", "none"]
    words += ["--like", "sample", "--chats", "2", "--out", "conversations"]
    _, out, err = run(*words).done
    assert "Chat_simulated_1_" in out and "wrote conversations; every message is marked" in err
    held = open_reading(str(tmp_path / "conversations")).reading.corpus
    told = run(*words, "--json").told
    assert [row["messages"] for row in told["chats"]] == [len(c.messages) for c in held.chats]
    assert told["folder"] == "conversations" and told["chats"][0]["unanswered"] == 0
