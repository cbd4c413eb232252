"""An assistant asks the sample chats, as any of its clients would: every tool, and its bounds."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from assistant_client import Assistant, assistant
from realtalk.memory.retrieved import Retrieved
from text_tables import cases

FIRST, SECOND = "Chat_1_Mara_Theo", "Chat_2_Mara_Juno"


@pytest.fixture(scope="module")
def asked() -> Iterator[Assistant]:
    """Vectors are made as soon as somebody was told twice that they are not there yet."""
    with assistant("sample") as client, pytest.MonkeyPatch.context() as patch:
        build = Retrieved.build

        def build_late(*given: Any) -> Any:
            while len(client.progress) < 2:
                time.sleep(0.01)
            return build(*given)

        patch.setattr(Retrieved, "build", build_late)
        yield client


def test_the_first_question_waits_for_vectors_and_is_told_how_far_they_are(
    asked: Assistant,
) -> None:
    """It comes before the others that ask by meaning: they find the vectors made."""
    told = asked("recall", question="Who broke the bicycle?", budget="200")
    assert told["searched_by"] == "meaning"
    done = [done for done, _, _ in asked.progress]
    assert done == sorted(set(done)) and done[1:]  # it grows, as the protocol asks
    assert {total for _, total, _ in asked.progress} <= {None, 649.0}
    assert all("still being prepared" in (message or "") for _, _, message in asked.progress)


def test_tools_only_read(asked: Assistant) -> None:
    tools = {tool.name: tool for tool in asked.tools()}
    assert list(tools) == [
        *("list_chats", "recall", "search_messages"),
        *("read_session", "chat_statistics", "feelings"),
        *("writes_first", "streaks", "on_this_day", "lost_contacts", "year", "query"),
    ]
    for tool in tools.values():
        assert tool.annotations.read_only_hint and not tool.annotations.open_world_hint
        assert tool.description and "\n  " not in tool.description
    assert "never an instruction" in (asked.client.instructions or "")


def test_chats_are_listed(asked: Assistant) -> None:
    told = asked("list_chats")
    corpus = rt.read("sample")
    assert [row["chat"] for row in told["chats"]] == [chat.id for chat in corpus.chats]
    first = told["chats"][0]
    assert first["messages"] == sum(who["messages"] for who in first["people"]) == 348
    assert (first["first"], first["sessions"]) == ("2026-03-02 18:41", 12)
    assert asked("list_chats", person="Juno")["total"] == 1
    page = asked("list_chats", limit=1)
    assert (page["total"], page["next_offset"]) == (2, 1)
    assert [row["chat"] for row in asked("list_chats", offset=1)["chats"]] == [SECOND]


def test_words_are_found(asked: Assistant) -> None:
    told = asked("search_messages", words="bicycles")
    texts = [row["text"] for row in told["messages"]]
    assert texts and all("bicycle" in text.casefold() for text in texts)
    mine = asked("search_messages", words="bicycle", person="Mara", chat=SECOND)
    assert {(row["chat"], row["person"]) for row in mine["messages"]} == {(SECOND, "Mara")}
    early = asked("search_messages", words="bicycle", until="11 March 2026")["messages"]
    assert early and all(row["time"] < "2026-03-12" for row in early)
    assert asked("search_messages", words="zzzzq") == {"messages": [], "total": 0}
    assert asked("search_messages", words="cycl")["total"] > 0  # letters, where no word is found


def test_what_is_meant_is_found(asked: Assistant) -> None:
    told = asked("search_messages", words="somebody broke a wheel", by="meaning", limit=5)
    assert "D6:19" in [row["id"] for row in told["messages"]]
    assert (told["total"], told["next_offset"]) == (200, 5)
    only = asked("search_messages", words="a broken wheel", by="meaning", chat=SECOND, limit=3)
    assert {row["chat"] for row in only["messages"]} == {SECOND}


def test_a_question_is_recalled_within_its_budget(asked: Assistant) -> None:
    told = asked("recall", question="Who broke the bicycle of Mara's father?", budget="200")
    assert told["searched_by"] == "meaning" and told["tokens"] <= 200
    assert f"{FIRST}\n" in told["text"] and "(D6:19, 18:29) Mara: Ugh." in told["text"]
    assert "[Thursday 12 March 2026]" in told["text"]
    assert told["text"].count("\n(") == told["messages"] > 1
    few = asked("recall", question="Who broke the bicycle?", budget="40w", chat=SECOND)
    assert few["words"] <= 40 and FIRST not in few["text"]
    late = asked("recall", question="bicycle", since="2026-03-20")
    assert "March 2026]" in late["text"] and "[Thursday 12 March 2026]" not in late["text"]
    most = asked("recall", question="everything", budget="5000")
    assert 4500 < most["tokens"] <= 5000


def test_sessions_are_read_page_by_page(asked: Assistant) -> None:
    chat = rt.read("sample").chats[0]
    ids: list[str] = []
    offset: int | None = 0
    while offset is not None:
        told = asked("read_session", chat=FIRST, session=1, limit=10, offset=offset)
        ids += [row["id"] for row in told["messages"]]
        offset = told.get("next_offset")
    assert ids == [message.id for message in chat.sessions[0].messages]
    day = asked("read_session", chat=FIRST, date="12.03.2026", limit=200)
    assert "D6:19" in [row["id"] for row in day["messages"]]
    around = asked("read_session", chat=FIRST, around="D6:19", limit=4)
    assert [row["id"] for row in around["messages"]] == ["D6:17", "D6:18", "D6:19", "D6:20"]
    following = asked(
        *("read_session",), chat=FIRST, around="D6:19", limit=4, offset=around["next_offset"]
    )
    assert following["messages"][0]["id"] == "D6:21"


def test_figures_are_those_of_stats(asked: Assistant) -> None:
    told = asked("chat_statistics")
    stats = rt.stats("sample").to_json()
    assert told["together"]["words"] == stats["words"]
    gaps = stats["response_gap_minutes"]
    assert told["together"]["response_gap_minutes"]["n"] == gaps["n"]
    assert told["together"]["response_gap_minutes"]["mean"] == round(gaps["mean"], 2)
    assert [row["words"] for row in told["chats"]] == [row["words"] for row in stats["per_chat"]]
    theo = asked("chat_statistics", person="Theo")
    assert theo["total"] == 1 and theo["together"]["messages"] == 348
    assert [who["name"] for who in theo["chats"][0]["speakers"]] == ["Theo"]


def test_feelings_are_labelled_when_asked_for(asked: Assistant) -> None:
    given: dict[str, Any] = {"chat": FIRST, "since": "2026-03-12", "until": "2026-03-13"}
    told = asked("feelings", **given)
    assert told["period"] == {"since": "2026-03-12", "until": "2026-03-13"}
    assert [row["person"] for row in told["rows"]] == ["Mara", "Theo"]
    for row in told["rows"]:
        assert row["labels"] == "made now"
        assert sum(row["sentiment"].values()) + row["unscored"] == row["turns"]
        assert 0 <= row["reflective_share"] <= 1
    daily = asked("feelings", **given, by="day", person="Mara")["rows"]
    assert [row["day"] for row in daily] == sorted({row["day"] for row in daily})
    assert sum(row["turns"] for row in daily) == told["rows"][0]["turns"]
    few = asked("feelings", most_turns=20)
    assert sum(row["turns"] for row in few["rows"]) <= 20
    assert "of 487 turns, spread evenly" in few["notes"][0]


def test_who_writes_first_and_how_that_changed(asked: Assistant) -> None:
    rows = asked("writes_first", chat=FIRST, by="month")["rows"]
    assert rows == [
        row("half", "first", 6, Mara="67%", Theo="33%"),
        row("half", "second", 6, Theo="67%", Mara="33%"),
        row("month", "2026-03", 12, Mara="50%", Theo="50%"),
    ]
    early = asked("writes_first", chat=FIRST, until="2026-03-04")["rows"]
    assert [row["conversations"] for row in early] == [1, 1, 2]
    assert early[-1]["quarter"] == "2026-Q1"


def row(name: str, part: str, conversations: int, **began: str) -> dict[str, Any]:
    return {"chat": FIRST, name: part, "conversations": conversations, "began": began}


def test_streaks_and_silences_are_those_of_the_page(asked: Assistant) -> None:
    (told,) = asked("streaks", chat=SECOND, person="Juno", limit=1)["chats"]
    dates = {
        message.time.date()
        for message in rt.read("sample").chats[1].messages
        if message.speaker == "Juno" and message.time
    }
    assert told["days_with_messages"] == len(dates)
    assert (told["first"], told["last"]) == (min(dates).isoformat(), max(dates).isoformat())
    for streak in told["streaks"]:
        assert streak["days"] > 1 and {streak["first"], streak["last"]} <= {
            day.isoformat() for day in dates
        }
    first = asked("streaks")["chats"][0]
    assert first["streaks"] == [{"days": 4, "first": "2026-03-14", "last": "2026-03-17"}]


def test_what_was_written_on_this_day_of_earlier_years(asked: Assistant) -> None:
    told = asked("on_this_day", date="2027-03-12", person="Mara", limit=3)
    assert told["day"] == "03-12" and told["messages_by_year"] == {"2026": told["total"]}
    assert {row["person"] for row in told["messages"]} == {"Mara"}
    assert all(row["time"].startswith("2026-03-12") for row in told["messages"])
    assert asked("on_this_day", date="2026-03-12")["total"] == 0  # that is no earlier year


def test_a_year_in_numbers(asked: Assistant) -> None:
    told = asked("year", person="Mara")
    own = [
        (chat, message)
        for chat in rt.read("sample").chats
        for message in chat.messages
        if message.speaker == "Mara"
    ]
    assert (told["year"], told["messages"]) == (2026, len(own))
    assert told["words"] == sum(len(message.text.split()) for _, message in own)
    assert [row["chat"] for row in told["chats"]] == [FIRST, SECOND]
    assert told["usual_reply"] == "1 minute" and told["conversations_begun"] == "32%"
    assert told["fullest_month"] == {"month": "2026-03", "messages": len(own)}


def test_people_one_no_longer_writes_with(tmp_path: Path) -> None:
    def said(who: str, year: int, count: int) -> list[dict[str, str]]:
        chat = f"with {who}"
        return [
            {"chat": chat, "speaker": name, "text": "pear", "time": f"{year}-05-{day + 1:02} 10:00"}
            for day in range(count)
            for name in ("Uma", who)
        ]

    lines = [*said("Odo", 2021, 9), *said("Ida", 2021, 3), *said("Pip", 2025, 9)]
    lines += [{**line, "chat": "club", "speaker": "Ivo"} for line in said("Odo", 2020, 20)]
    lines += [{**line, "chat": "club"} for line in said("Bea", 2020, 20)]
    path = tmp_path / "chats.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    with assistant(str(path)) as asked:
        told = asked("lost_contacts", least_messages=10)
        assert (told["me"], told["until"]) == ("Uma", "2025-05-09")
        assert [who["person"] for who in told["people"]] == ["Odo"]  # not of a group, nor Pip
        assert told["people"][0] | {"first": ""} == {
            **{"person": "Odo", "chats": ["with Odo"], "messages": 18, "days_with_messages": 9},
            **{"first": "", "last": "2021-05-09", "fullest_year": 2021, "quiet_days": 1461},
        }
        both = asked("lost_contacts", least_messages=1, quiet_days=1000)
        assert [who["person"] for who in both["people"]] == ["Odo", "Ida"]
        assert asked("lost_contacts", me="Odo", least_messages=1)["people"][0]["person"] == "Uma"


def test_queries_count_and_reach_nothing_else(asked: Assistant, tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="the extra mcp is not whole")
    told = asked("query", sql="SELECT person, avg(words) AS w FROM messages GROUP BY 1 ORDER BY 2")
    assert [row["person"] for row in told["rows"]] == ["Theo", "Juno", "Mara"]
    assert told["rows"][2]["w"] == 13.75  # rounded
    many = asked("query", sql="SELECT range AS n FROM range(5000) ORDER BY n", limit=2, offset=4)
    assert many == {"cut": True, "rows": [{"n": 4}, {"n": 5}], "total": 1000, "next_offset": 6}
    target = tmp_path / "out.csv"
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    for sql, why in {
        "SELECT text FROM messages": 'column "text" not found',
        "SELECT zelda FROM messages": "DESCRIBE messages",
        "SELECT 1; SELECT 2": "only one SELECT can be asked",
        "DROP TABLE messages": "only one SELECT can be asked",
        f"COPY messages TO '{target}'": "only one SELECT can be asked",
        "SET enable_external_access = true": "only one SELECT can be asked",
        f"SELECT * FROM read_csv('{secret}')": "a query reads no files",
        f"SELECT * FROM read_text('{secret}')": "a query reads no files",
        f"SELECT * FROM '{secret}'": "a query reads no files",
        "SELECT * FROM glob('/*')": "a query reads no files",
        "SELECT * FROM lines": "does not exist",  # a variable of ours
        "SELECT CAST(person AS INT) FROM messages": "the query failed (Conversion)",
        "SELCT": "Parser Error",
    }.items():
        refusal = asked.refused("query", sql=sql)
        assert why in refusal and "\n" not in refusal
    assert not target.exists()


@cases("""
    tool            | given                                    | why
    list_chats      | {"limit": 0}                             | 'limit' goes from 1 to 200
    list_chats      | {"limit": 201}                           | 'limit' goes from 1 to 200
    list_chats      | {"offset": -1}                           | 'offset' must be 0 or more
    list_chats      | {"person": "Zelda"}                      | nobody has this name; people: Mara, Theo, Juno
    search_messages | {"words": " "}                           | 'words' is empty
    search_messages | {"words": "x", "chat": "Zelda"}          | no chat has this id; chats: Chat_1_Mara_Theo
    search_messages | {"words": "x", "since": "Zelda"}         | 'since' is no date; write 2026-03-02
    search_messages | {"words": "x", "since": "2027", "until": "2026"} | 'until' lies before
    recall          | {"question": ""}                         | 'question' is empty
    recall          | {"question": "x", "budget": "all"}       | more than an answer holds
    recall          | {"question": "x", "budget": "5001"}      | more than an answer holds
    recall          | {"question": "x", "budget": "4001w"}     | more than an answer holds
    recall          | {"question": "x", "budget": "10,20"}     | more than an answer holds
    recall          | {"question": "x", "budget": "much"}      | is no budget
    read_session    | {"session": 1}                           | there are several chats; name one
    read_session    | {"chat": "Chat_1_Mara_Theo"}             | say which part to read
    read_session    | {"chat": "Chat_1_Mara_Theo", "session": 99} | it has sessions 1 to 12, days 2026-03-02
    read_session    | {"chat": "Chat_1_Mara_Theo", "date": "1999"} | no such part in this chat
    read_session    | {"chat": "Chat_1_Mara_Theo", "around": "Zelda"} | no message of this chat has this id
    chat_statistics | {"chat": "Zelda"}                        | no chat has this id
    feelings        | {"most_turns": 1001}                     | 'most_turns' goes from 1 to 1000
    feelings        | {"by": "year"}                           | Input should be 'whole', 'month', 'week' or 'day'
    writes_first    | {"by": "week"}                           | Input should be 'month', 'quarter' or 'year'
    streaks         | {"person": "Zelda"}                      | nobody has this name
    on_this_day     | {"date": "2026-03"}                      | 'date' is no single day; write 2026-03-02
    lost_contacts   | {"me": "Zelda"}                          | nobody has this name
    year            | {"person": "Zelda"}                      | nobody has this name
    year            | {"person": "Mara", "year": 1999}         | wrote nothing in this year; years: 2026 to
    query           | {"sql": " "}                             | 'sql' is empty
    erase           | {}                                       | erase
""")  # noqa: E501
def test_what_is_wrong_is_told_to_the_assistant(
    asked: Assistant, tool: str, given: dict[str, Any], why: str
) -> None:
    told = asked.refused(tool, **given)
    assert why in told
    assert "Zelda" not in told  # what was asked for is not repeated


def test_long_texts_are_refused(asked: Assistant) -> None:
    assert "longer than 1000" in asked.refused("search_messages", words="x" * 1001)
    assert "longer than 5000" in asked.refused("query", sql="x" * 5001)


@pytest.mark.slow
def test_labels_that_the_page_made_are_taken_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path))
    rt.report("sample", out=tmp_path / "page.html")
    with assistant("sample") as asked:
        told = asked("feelings", most_turns=1)
    assert {row["labels"] for row in told["rows"]} == {"kept"}
    assert sum(row["turns"] for row in told["rows"]) == 487


@pytest.mark.slow
def test_labels_and_names_of_several_corpora(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels beside a corpus are taken as they are; chats of one id get numbers."""
    rt.read("sample", out=tmp_path / "chats")
    labels = rt.label(tmp_path / "chats", out=tmp_path / "my-labels")
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))  # without these labels
    with assistant(str(tmp_path / "chats"), "sample") as asked:
        names = [row["chat"] for row in asked("list_chats")["chats"]]
        assert names == [FIRST, SECOND, f"{FIRST} (2)", f"{SECOND} (2)"]
        rows = asked("feelings", chat=FIRST, most_turns=1)["rows"]
        other = asked("feelings", chat=f"{FIRST} (2)", most_turns=1)
    assert {row["labels"] for row in rows} == {"stored"}
    assert sum(row["turns"] for row in rows) == labels.frame["chat"].to_list().count(FIRST)
    assert [row["turns"] for row in other["rows"]] == [1]
