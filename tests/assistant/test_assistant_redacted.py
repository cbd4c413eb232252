"""`realtalk mcp --redact`: no name of a speaker in any answer, whatever is asked."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from assistant_client import Assistant, assistant
from text_tables import records

NAMES = re.compile("ottoline|quill|bertrand|osei|beppo", re.IGNORECASE)
EXPORT = """\
02/03/2026, 18:04 - Ottoline Quill: morning Bertrand, did the harmonica arrive?
02/03/2026, 18:05 - Bertrand Osei: it did! @Ottoline you are the best, call me on +44 7700 900123
02/03/2026, 18:07 - Ottoline Quill: hey, quill is typing with gloves on
08/03/2026, 09:00 - Bertrand Osei: Ottoline's cake fell on the harmonica
08/03/2026, 09:02 - Ottoline Quill: ottoline.quill@example.org was hacked, ignore the invoice
"""
OTHER = """\
03/03/2026, 10:00 - Beppo: hey Ottoline Quill, are you coming to the lake?
03/03/2026, 10:01 - Ottoline Quill: yes Beppo, with the harmonica
"""
ASKED = records("""
    tool            | given
    list_chats      | {}
    search_messages | {"words": "harmonica"}
    search_messages | {"words": "Ottoline"}
    search_messages | {"words": "what fell down", "by": "meaning"}
    recall          | {"question": "What did Ottoline Quill ask Bertrand?"}
    recall          | {"question": "Who is coming to the lake?", "budget": "100w"}
    chat_statistics | {}
    feelings        | {}
    feelings        | {"by": "day"}
    writes_first    | {}
    streaks         | {}
    on_this_day     | {"date": "2027-03-08"}
    lost_contacts   | {"least_messages": 1, "quiet_days": 0}
""")
REFUSED = records("""
    tool            | given
    list_chats      | {"person": "Ottoline Quill"}
    search_messages | {"words": "cake", "person": "Bertrand Osei"}
    search_messages | {"words": "cake", "chat": "WhatsApp Chat with Ottoline Quill"}
    recall          | {"question": "cake", "chat": "Ottoline"}
    read_session    | {"chat": "Ottoline", "session": 1}
    chat_statistics | {"person": "Beppo"}
    feelings        | {"person": "beppo"}
    lost_contacts   | {"me": "Ottoline Quill"}
    year            | {"person": "Bertrand Osei"}
    streaks         | {"chat": "Ottoline"}
""")


def everything(asked: Assistant) -> str:
    """Whatever the assistant was told, the list of tools and the greeting included."""
    tools = "\n".join(tool.model_dump_json() for tool in asked.tools())
    about = f"{asked.client.instructions}\n{asked.client.server_info}"
    return "\n".join((*asked.heard, tools, about))


@pytest.fixture
def exports(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "WhatsApp Chat with Ottoline Quill.txt").write_text(EXPORT, "utf-8")
    (tmp_path / "WhatsApp Chat with Beppo.txt").write_text(OTHER, "utf-8")
    first, second = sorted(tmp_path.glob("*.txt"), reverse=True)
    return str(first), str(second)


def test_no_name_is_told(
    exports: tuple[str, str], capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with assistant(*exports, redact=True) as asked:
        for each in ASKED:
            asked(each["tool"], **each["given"])
        for each in REFUSED:
            asked.refused(each["tool"], **each["given"])
        rows = asked("list_chats")["chats"]
        people = [{who["name"] for who in row["people"]} for row in rows]
        # Who is in both chats has one stand-in, and asking for it works everywhere.
        (shared,) = people[0] & people[1]
        assert len(people[0] | people[1]) == 3
        assert asked("list_chats", person=shared)["total"] == 2
        found = asked("search_messages", words="harmonica", person=shared)["messages"]
        assert len(found) == 2 and {row["person"] for row in found} == {shared}
        assert f"{shared}: morning" in asked("recall", question=f"What did {shared} ask?")["text"]
        for row in rows:
            read = asked("read_session", chat=row["chat"], session=1)
            id_ = read["messages"][0]["id"]
            asked("read_session", chat=row["chat"], around=id_)
        felt = asked("feelings", person=shared)["rows"]
        assert {row["person"] for row in felt} == {shared}
        assert asked("year", person=shared)["chats_in_all"] == 2
        if find_spec("duckdb"):
            sql = "SELECT * FROM messages LEFT JOIN reactions USING (chat, date)"
            assert asked("query", sql=sql)["total"] > 4
        told = everything(asked)
    # Notes on reading may name files, and these people.
    assert (capsys.readouterr().err, caplog.text) == ("", "")
    assert "harmonica" in told and "Person1" in told
    assert NAMES.findall(told) == []
    assert "900123" not in told and "example.org" not in told
