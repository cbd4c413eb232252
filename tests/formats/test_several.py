"""Exports of one chat put together, for every app, and added to a stored corpus."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import realtalk as rt
from joined_chats import GAP, Bubble, tables
from realtalk.chat import Corpus, Message
from realtalk.formats.joining import align
from realtalk.formats.merging import Merging, SamePersonError, merge
from realtalk.formats.opening import open_reading
from realtalk.formats.store import load, store
from realtalk.formats.tables import Tables, to_corpus
from refusals import refused
from said import Said, put
from written_exports import EXPORTS

WAY = Merging(GAP)
TALK = [
    Bubble("Anna" if n % 3 else "Theo", 600 * n, f"so much to say on the walk, part {n}")
    for n in range(40)
]


def said(count: int = 24, first: int = 0) -> list[Said]:
    """Messages with ids, some of them equal, over several days."""
    return [
        Said(
            "Ann" if n % 3 else "Bo",
            n * 3600 + 7 * (n % 5),
            "ok" if n % 4 == 3 else f"what we did on the {n}th of the month",
            id=str(100 + n),
        )
        for n in range(first, count)
    ]


def written(folder: Path, name: str, messages: list[Said]) -> Path:
    return put(folder, EXPORTS[name].write(messages))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def told(corpus: Corpus) -> list[tuple[object, ...]]:
    return [(m.speaker, m.time, m.text) for chat in corpus.chats for m in chat.messages]


@pytest.mark.parametrize("name", EXPORTS)
def test_next_months_export_of_every_app(tmp_path: Path, name: str) -> None:
    whole = written(tmp_path / "whole", name, said())
    first = written(tmp_path / "first", name, said(14))
    second = written(tmp_path / "second", name, said(24, 9))
    folder = tmp_path / "corpus"
    before = rt.read(first, out=folder)
    after = rt.read(second, into=folder)
    assert told(after) == told(rt.read(whole))
    (old,), (new,) = before.chats, after.chats
    assert new.messages[: len(old.messages)] == old.messages
    assert new.id == old.id
    ledger = load(folder).ledger
    assert ledger.total == ledger.in_messages + ledger.system + len(ledger.leftovers)
    stored = contents(folder)
    for again in (second, first, whole):
        assert rt.read(again, into=folder) == after
    assert contents(folder) == stored
    # Both at once, in whichever order.
    for paths in ([first, second], [second, first]):
        assert told(rt.read(paths)) == told(after)


def test_what_is_said_and_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "corpus"
    rt.read(written(tmp_path / "a", "whatsapp", said(14)), out=folder)
    caplog.clear()
    caplog.set_level("INFO", logger="realtalk")
    rt.read(written(tmp_path / "b", "whatsapp", said(24, 9)), into=folder)
    assert "joined 5, new 10, edited 0, deleted 0" in caplog.messages
    about = json.loads((folder / "corpus.json").read_bytes())
    assert about["added"][0].items() >= {"names": ["b"], "joined": 5, "new": 10}.items()
    assert [entry["name"] for entry in about["source"]] == ["WhatsApp Chat with 0.txt"] * 2
    assert about["options"]["gap"] == GAP.total_seconds()


def test_events_and_questions_still_point_to_their_messages(tmp_path: Path) -> None:
    sample = rt.read("sample")
    chat = sample.chats[0]
    sessions = chat.sessions[:-2]
    last = replace(sessions[-1], messages=sessions[-1].messages[:-3])
    short = Corpus("s", sample.format, (replace(chat, sessions=(*sessions[:-1], last)),))
    folder = tmp_path / "corpus"
    rt.read(short, out=folder)
    after = rt.read(sample, into=folder)
    assert [c.id for c in after.chats] == [c.id for c in sample.chats]
    joined = after.chats[0]
    assert told(replace(after, chats=(joined,))) == told(replace(sample, chats=(chat,)))
    assert (joined.events, joined.questions) == (chat.events, chat.questions)
    for message in short.chats[0].messages:
        assert joined.by_id[message.id] == message
    assert after.chats[1] == sample.chats[1]


def test_edits_are_taken_where_asked(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    first = rt.read(written(tmp_path / "a", "telegram", said(14)), out=folder)
    later = [replace(one, text="better said") if one.id == "104" else one for one in said(14)]
    path = written(tmp_path / "b", "telegram", later)
    assert rt.read(path, into=folder) == first == rt.read(folder)
    after = rt.read(path, into=folder, take_edits=True)
    old, new = first.chats[0].messages, after.chats[0].messages
    changed = [two.text for one, two in zip(old, new, strict=True) if one != two]
    assert changed == ["better said"]
    assert rt.read(folder) == after == rt.read(path, into=folder, take_edits=True)


def test_sessions_are_cut_as_before(tmp_path: Path) -> None:
    folder = tmp_path / "corpus"
    second = written(tmp_path / "b", "whatsapp", said(24, 9))
    first = written(tmp_path / "a", "whatsapp", said(14))
    rt.read(first, out=folder, reading=rt.Reading(gap="30m"))
    assert len(rt.read(second, into=folder).chats[0].sessions) == 24
    with refused("at another pause; leave `gap=` away"):
        rt.read(second, into=folder, reading=rt.Reading(gap="day"))


def test_a_failed_write_leaves_the_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "corpus"
    rt.read(written(tmp_path / "a", "telegram", said(14)), out=folder)
    before = contents(folder)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("polars.DataFrame.write_parquet", full)
    with refused("No space left"):
        rt.read(written(tmp_path / "b", "telegram", said(24, 9)), into=folder)
    assert contents(folder) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "corpus"]


def messages(merged: Tables) -> tuple[Message, ...]:
    return to_corpus(merged).chats[0].messages


def small(talk: list[Bubble]) -> Tables:
    return tables(("c", talk))


def called(talk: list[Bubble], names: dict[str, str]) -> list[Bubble]:
    return [replace(one, who=names.get(one.who, one.who)) for one in talk]


def test_two_names_of_one_person_are_proposed_and_never_taken_silently() -> None:
    mine, hers = small(TALK[:30]), small(called(TALK[10:], {"Anna": "Mum"}))
    with pytest.raises(SamePersonError) as caught:
        merge(mine, hers, WAY)
    assert str(caught.value) == (
        "chat 'c': 'Mum' is called 'Anna' in the other file; if that is so, say `same=\"Mum=Anna\"`"
    )
    for same in ({"Mum": "Anna"}, {"Anna": "Mum"}):  # what is stored keeps its name
        merged = merge(mine, hers, replace(WAY, same=same))
        assert merged.tables.chats[0].speakers == ("Theo", "Anna")
        assert messages(merged.tables) == messages(small(TALK))
        assert str(merged.counts) == "joined 20, new 10, edited 0, deleted 0"
        # It is remembered for the next export.
        assert merge(merged.tables, hers, WAY).counts.new == 0
    fresh = merge(mine, hers, replace(WAY, same={"Anna": "Mum"}, fresh=True))
    assert fresh.tables.chats[0].speakers == ("Theo", "Mum")
    assert [alias.name for alias in fresh.tables.chats[0].aliases] == ["Anna"]


def test_both_phones_call_their_owner_me() -> None:
    mine = small(called(TALK, {"Theo": "Me"}))
    hers = small(called(TALK, {"Anna": "Me"}))
    with pytest.raises(SamePersonError) as caught:
        merge(mine, hers, WAY)
    assert caught.value.proposed == {"Theo": "Me", "Me": "Anna"}
    merged = merge(mine, hers, replace(WAY, same=caught.value.proposed))
    assert (merged.counts.joined, merged.counts.new) == (40, 0)
    # "Me" is a speaker here, and no other name of Anna's.
    assert [alias.name for alias in merged.tables.chats[0].aliases] == ["Theo"]


def test_unclear_names_are_asked_for() -> None:
    two = [replace(one, who="Mum" if n % 2 else "Pa") for n, one in enumerate(TALK)]
    with pytest.raises(SamePersonError, match='say who it is: `same="Mum=NAME"`'):
        merge(small(TALK), small(two), WAY)


def test_the_apps_ids_of_people_need_no_word() -> None:
    def with_authors(made: Tables, name: str) -> Tables:
        extra = json.dumps({"authors": {name: "user7", "Theo": "user8"}})
        return replace(made, chats=(replace(made.chats[0], extra=extra),))

    mine = with_authors(small(TALK[:30]), "Anna")
    hers = with_authors(small(called(TALK[10:], {"Anna": "Anna B."})), "Anna B.")
    assert merge(mine, hers, WAY).counts.new == 10


@pytest.mark.parametrize("hours", [-9.75, -1, 1, 5.5, 14])
@pytest.mark.parametrize("jitter", [0, 3])
def test_clocks_of_two_zones(hours: float, jitter: int) -> None:
    moved = [
        replace(one, seconds=one.seconds - int(hours * 3600) + jitter * (n % 2))
        for n, one in enumerate(TALK[10:])
    ]
    merged = merge(small(TALK[:30]), small(moved), WAY)
    assert (merged.counts.joined, merged.counts.new) == (20, 10)
    assert [m.text for m in messages(merged.tables)] == [one.text for one in TALK]
    sign = "+" if hours > 0 else "-"
    expected = f"{sign}{int(abs(hours))}:{int(abs(hours) % 1 * 60):02} h"
    assert merged.notes == (f"c: times of the new file were moved by {expected}",)


def test_a_greeting_to_two_people_is_no_common_chat() -> None:
    other = [Bubble("Juno", 600 * n + 60, f"quite another story, part {n}") for n in range(40)]
    other[20] = replace(TALK[20], who="Theo")
    assert align(small(TALK).messages, small(other).messages) is None
    with refused("no chat of the corpus goes on in chat 'd'; name it"):
        merge(small(TALK), tables(("d", other)), WAY)
    merged = merge(small(TALK), small(other), replace(WAY, fresh=True))
    assert [row.id for row in merged.tables.chats] == ["c", "c (2)"]
    assert merged.tables.messages.height == 80


def test_a_part_without_a_common_message_goes_on_by_name_and_people() -> None:
    merged = merge(small(TALK[:20]), tables(("c (1)", TALK[20:])), WAY)
    assert (merged.counts.joined, merged.counts.new, merged.chats) == (0, 20, 0)
    assert messages(merged.tables) == messages(small(TALK))


def test_several_chats_find_their_own_and_new_ones_are_added() -> None:
    def talk(name: str, start: int, end: int) -> list[Bubble]:
        return [
            Bubble("Me" if n % 2 else name, 60 * n, f"{name} and I talk about number {n}")
            for n in range(start, end)
        ]

    names = [f"Person {n}" for n in range(30)]
    known = tables(*((name, talk(name, 0, 20)) for name in names))
    # The chats have other names on the other phone.
    later = tables(*((f"x{name}", talk(name, 10, 30)) for name in [*reversed(names), "Zoe"]))
    merged = merge(known, later, WAY)
    assert (merged.counts.joined, merged.counts.new, merged.chats) == (300, 300, 1)
    chats = to_corpus(merged.tables).chats
    assert [chat.id for chat in chats] == [*names, "xZoe"]
    assert {len(chat.messages) for chat in chats[:-1]} == {30}


def test_a_joined_chat_takes_its_common_name_from_no_other() -> None:
    others = called(TALK, {"Anna": "Zoe", "Theo": "Kim"})
    strangers = [replace(one, text=f"{one.text} elsewhere") for one in others]
    known, later = tables(("Mara (1)", TALK[:20])), tables(("Mara (1)", TALK), ("Mara", strangers))
    merged = merge(known, later, replace(WAY, fresh=True)).tables
    assert Counter(merged.messages["chat"]) == dict.fromkeys(("Mara", "Mara (2)"), len(TALK))


def test_damaged_notes_of_a_chat_do_not_stop_the_next_export() -> None:
    known = small(TALK[:20])
    known = replace(known, chats=(replace(known.chats[0], extra="{"),))
    assert merge(known, small(TALK), WAY).counts.joined == 20


def test_a_chat_that_could_be_two_is_asked_for() -> None:
    known = tables(("a", TALK[:20]), ("b", TALK[:20]))
    new = tables(("z", TALK[10:]))
    with refused("chat 'z' may be 'a', 'b' of the corpus; name the one"):
        merge(known, new, WAY)
    merged = merge(known, new, replace(WAY, chat="b"))
    assert Counter(merged.tables.messages["chat"]) == {"a": 20, "b": 40}
    with refused("unknown-chat"):
        merge(known, new, replace(WAY, chat="bb"))
    with refused("`chat=` names one chat, and the new file holds 2"):
        merge(new, known, replace(WAY, chat="z"))


def test_a_corpus_that_changed_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "corpus"
    rt.read(written(tmp_path / "a", "signal lines", said(14)), out=folder)
    second = written(tmp_path / "b", "signal lines", said(24, 9))

    def slow(path: Path) -> object:
        found = load(path)
        store(open_reading("sample").reading, folder)
        return found

    monkeypatch.setattr("realtalk.formats.opening.load", slow)
    with refused("changed while the export was read; run it again"):
        rt.read(second, into=folder)
    assert load(folder).tables.name == "sample"


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPORTS)
def test_overlapping_exports_in_one_folder(tmp_path: Path, name: str) -> None:
    """Two files of one chat that agree are one chat, and one that does not stays apart."""
    whole = rt.read(written(tmp_path / "whole", name, said()))
    for at, part in enumerate((said(14), said(24, 9), said(24, 20))):
        written(tmp_path / "all" / f"part {at}", name, part)
    reading = open_reading(tmp_path / "all").reading
    (chat,) = reading.corpus.chats
    assert chat.messages == whole.chats[0].messages
    assert reading.ledger.total >= 14 + 15 + 4
    other = [replace(one, text=f"{one.text}, elsewhere", id=f"9{one.id}") for one in said()]
    written(tmp_path / "all" / "part 9", name, other)
    chats = rt.read(tmp_path / "all").chats
    said_by_app = name in ("telegram", "discord", "slack")  # which chat it is
    expected = {chat.id: 48} if said_by_app else {chat.id: 24, f"{chat.id} (2)": 24}
    assert {one.id: len(one.messages) for one in chats} == expected


def test_a_thousand_chats_of_one_name_take_no_thousand_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file can hold very many chats, all called alike, with one greeting in each of them."""

    def looked(*_: object) -> None:
        raise AssertionError("chats were compared one by one")

    monkeypatch.setattr("realtalk.formats.merging.align", looked)
    hello = {"id": 1, "type": "message", "date": "2024-05-01T09:30:00", "from": "Ann", "text": "hi"}
    chat = {"name": "x", "type": "personal_chat", "messages": [hello]}
    chats = [chat | {"id": n} for n in range(1000)]
    export = {"about": "x", "chats": {"about": "x", "list": chats}}
    (tmp_path / "result.json").write_text(json.dumps(export), "utf-8")
    assert len(rt.read(tmp_path / "result.json", reading="telegram").chats) == 1000
