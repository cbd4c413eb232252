"""ChatGPT's and Claude's downloads: what was shown, by which model, and what is no message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import exported
from exported import messages, texts
from refusals import refused
from shown import check
from text_tables import records

Fields = dict[str, Any]


def node(parent: str | None, role: str, *parts: Any, **more: Any) -> Fields:
    content = {"content_type": more.pop("kind", "text"), "parts": list(parts)}
    message = {"author": {"role": role}, "create_time": 1714548600.5, "content": content}
    return {"parent": parent, "children": [], "message": message | {"recipient": "all"} | more}


# The picture and what was spoken lie among the parts; the last message stands first in the file.
SOUP: Fields = {
    "title": "Soup",
    "create_time": 1714548600.0,
    "conversation_id": "c1",
    "default_model_slug": "auto",
    "current_node": "n9",
    "mapping": {
        row["id"]: node(row["parent"], row["role"], *row["parts"], **row["more"])
        for row in records(r"""
    id | parent | role | parts | more
    n9 | n8 | assistant | ["a picture: \ue200cite\ue202turn0search1\ue201 there"] | {}
    s | root | system | [""] | {}
    u | s | user | ["about me"] | {"kind": "user_editable_context"}
    n1 | u | user | ["how much salt?", {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}, {"content_type": "audio_transcription", "text": "and aloud", "direction": "in"}] | {"kind": "multimodal_text", "metadata": {"attachments": [{"id": "file-1", "name": "pot.jpg", "mimeType": "image/jpeg"}]}}
    n2 | n1 | assistant | ["a kilo"] | {"metadata": {"model_slug": "gpt-4o"}}
    n3 | n1 | assistant | ["a pinch"] | {"metadata": {"model_slug": "gpt-4o"}}
    n4 | n3 | assistant | ["search('salt')"] | {"recipient": "browser"}
    n5 | n4 | tool | ["salt is a mineral"] | {}
    n6 | n5 | assistant | ["hm"] | {"kind": "thoughts"}
    n7 | n6 | assistant | [""] | {}
    n8 | n7 | tool | [{"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_7"}] | {"kind": "multimodal_text", "metadata": {"model_slug": "gpt-4o"}}
    away | n2 | user | ["a kilo?!"] | {}
    """)  # noqa: E501
    }
    | {"root": {"message": None, "parent": None, "children": ["s"]}},
}
LATER = {"title": "", "id": "c2", "mapping": {"n1": node(None, "user", "hello?")}}


def test_what_chatgpt_showed(tmp_path: Path) -> None:
    files = {
        "conversations.json": [SOUP, LATER, 7],
        "user.json": {"email": "a@x.org"},
        "chat.html": f"<html><script>var jsonData = {json.dumps([SOUP])};",
    }
    # Seven messages and notices more, two in another branch, and the 7 that is no conversation.
    check(
        exported.read(tmp_path, files, "chatgpt", timezone="Europe/Athens"),
        """
        Soup (Me, gpt-4o, auto)
        session 1, 2024-05-01 10:30:00.500000
        D1:1 2024-05-01 10:30:00.500000 Me: how much salt?⏎and aloud
            image pot.jpg file-1
            {"id":"n1"}
        D1:2 2024-05-01 10:30:00.500000 gpt-4o: a pinch
            {"id":"n3"}
        D1:3 2024-05-01 10:30:00.500000 gpt-4o:
            image  sediment://file_7
            {"id":"n8"}
        D1:4 2024-05-01 10:30:00.500000 auto: a picture:  there
            {"id":"n9"}
        Untitled (Me)
        session 1, 2024-05-01 10:30:00.500000
        D1:1 2024-05-01 10:30:00.500000 Me: hello?
            {"id":"n1"}
        14 entries = 5 in messages + 6 system + 3 left over
        conversations.json[0]: in a branch that was not shown
        conversations.json[0]: in a branch that was not shown
        conversations.json[2]: not an object
        messages in branches that were not shown, left over: 2
        """,
    )


def test_the_page_and_the_parts_say_the_same(tmp_path: Path) -> None:
    head = "<html><head><title>ChatGPT Data Export</title><script>var jsonData = "
    whole = f"{head}{json.dumps([SOUP])};\nvar assetsJson = {{}}"
    page = exported.read(tmp_path / "page", {"chat.html": whole}, "chatgpt")
    parts = {f"conversations-00{at}.json": [part] for at, part in enumerate((SOUP, LATER))}
    packed = exported.read(tmp_path / "parts", parts, "chatgpt")
    assert [chat.id for chat in packed.corpus.chats] == ["Soup", "Untitled"]
    assert page.corpus.chats[0].messages == packed.corpus.chats[0].messages
    with refused("damaged or cut off; export"):
        exported.read(tmp_path, {"chat.html": whole[:900]})


def test_a_tree_that_goes_in_circles(tmp_path: Path) -> None:
    round_trip = {"a": node("b", "user", "one"), "b": node("a", "assistant", "two")}
    value = {"mapping": round_trip, "current_node": "b", "title": "x"}
    found = messages(exported.read(tmp_path, {"one.json": value}, "chatgpt"))
    assert [message.speaker for message in found] == ["Me", "ChatGPT"]


def said(number: str, parent: str | None, sender: str, text: str, **more: Any) -> Fields:
    content = [{"type": "text", "text": text}] if text else []
    created = f"2024-05-01T07:3{number}:00.123456Z"
    fields = {"uuid": number, "sender": sender, "text": text, "created_at": created}
    return fields | {"content": content, "parent_message_uuid": parent} | more


BREAD: Fields = {
    "uuid": "c1",
    "name": "Bread",
    "account": {"uuid": "a"},
    "chat_messages": [
        said(row["number"], row["parent"], row["sender"], row["text"], **row["more"])
        for row in records("""
    number | parent | sender | text | more
    "1" | null | human | how long? | {"attachments": [{"file_name": "", "file_type": "txt"}]}
    "2" | "1" | assistant | a day | {}
    "3" | "1" | assistant | an hour | {"files": [{"file_name": "a.png", "file_uuid": "f"}]}
    "4" | "3" | assistant | "" | {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "tool_use", "name": "web_search"}]}
    "5" | "4" | assistant | "" | {"content": [{"type": "tool_use", "name": "web_search"}, {"type": "text", "text": "rest it"}]}
    """)  # noqa: E501
    ],
}


def test_what_claude_showed(tmp_path: Path) -> None:
    # Before there were blocks, a message had its text only; and no links, so no branches.
    old = """[{"uuid": "o", "sender": "human", "text": "hi",
        "created_at": "2023-08-01T07:30:00+00:00"}]"""
    other = {"uuid": "c2", "name": "", "model": "claude-2", "chat_messages": json.loads(old)}
    users = [{"uuid": "a", "full_name": "Ann"}]
    files: Fields = {"conversations.json": [BREAD, other], "users.json": users}
    check(
        exported.read(tmp_path, files, "claude"),
        """
        Bread (Me, Claude)
        session 1, 2024-05-01 07:31:00.123456
        D1:1 2024-05-01 07:31:00.123456 Me: how long?
            file pasted text
            {"id":"1"}
        D1:2 2024-05-01 07:33:00.123456 Claude: an hour
            image a.png f
            {"id":"3"}
        D1:3 2024-05-01 07:35:00.123456 Claude: rest it
            {"id":"5","tools":["web_search"]}
        Untitled (Me)
        session 1, 2023-08-01 07:30:00
        D1:1 2023-08-01 07:30:00 Me: hi
            {"id":"o"}
        6 entries = 4 in messages + 1 system + 1 left over
        conversations.json[0][1]: in a branch that was not shown
        messages in branches that were not shown, left over: 1
        """,
    )
    branch = BREAD | {"current_leaf_message_uuid": "2"}
    wrapped = files | {"conversations.json": {"conversations": [branch]}}
    assert texts(exported.read(tmp_path, wrapped, "claude")) == ["how long?", "a day"]
