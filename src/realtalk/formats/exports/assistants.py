"""What people talked about with ChatGPT and Claude: their downloads, one chat per conversation.

    ChatGPT  conversations.json, or the same inside chat.html (var jsonData = [...])
        [{"title": "Soup", "conversation_id": "c1", "current_node": "n2", "mapping": {
            "n1": {"parent": null, "message": {"author": {"role": "user"}, "create_time": 1714548,
                   "content": {"content_type": "text", "parts": ["how much salt"]}}},
            "n2": {"parent": "n1", "message": {"author": {"role": "assistant"},
                   "metadata": {"model_slug": "gpt-4o"}, "content": {...}}}}}]
    Claude   conversations.json
        [{"uuid": "c1", "name": "Soup", "chat_messages": [{"uuid": "m1", "sender": "human",
            "created_at": "2024-05-01T07:30:00Z", "content": [{"type": "text", "text": "hi"}]}]}]
    → Chat("Soup") of "Me" and "gpt-4o", or of "Me" and "Claude"

A question that was asked again, or answered twice, makes a tree. What was shown last is the path
from its root to the current node: that is the chat. The other branches are left over and counted.
What tools were asked and said, thoughts and instructions are notices.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from realtalk.chat import Attachment
from realtalk.formats.exports.assembly import Draft, Entry, Export, export_format
from realtalk.formats.json_input import (
    Fields,
    as_list,
    from_number,
    from_stamp,
    head_text,
    load,
    make_attachment,
    object_at,
    objects_at,
    odd_at,
    text_at,
    with_keys,
    word_set,
)
from realtalk.formats.source import EXPORT_AGAIN, FormatFiles, Member

_OWNER = "Me"
_NOT_SHOWN = "in a branch that was not shown"
# Files of the downloads that tell nothing about a conversation.
_BESIDE = word_set("""
    user users projects memories message_feedback shared_conversations model_comparisons
    user_settings export_manifest shopping group_chats sora
    """)


def _path(parents: Mapping[str, str], last: str) -> list[str]:
    """The ids from a tree's root to one of its nodes; a circle ends where it closes."""
    path: dict[str, None] = {}
    while last in parents and last not in path:
        path[last] = None
        last = parents[last]
    return list(path)[::-1]


def _fill(draft: Draft, conversation: Fields, where: str) -> None:
    """The nodes of a conversation of ChatGPT; those that hold no message do not count."""
    mapping = object_at(conversation, "mapping")
    nodes = {key: node for key, node in mapping.items() if isinstance(node, dict)}
    parents = {key: text_at(node, "parent") for key, node in nodes.items()}
    last = text_at(conversation, "current_node")
    if last not in nodes:
        last = next((key for key in reversed(nodes) if not as_list(nodes[key].get("children"))), "")
    shown = dict.fromkeys(_path(parents, last))
    for key in (*shown, *(key for key in nodes if key not in shown)):
        message = nodes[key].get("message")
        if message is None:
            continue
        if not isinstance(message, dict):
            draft.leave(where, "not an object")
        elif key not in shown:
            draft.leave(where, _NOT_SHOWN)
        else:
            entry = _entry(message, key, text_at(conversation, "default_model_slug"))
            draft.take(entry, where)


# Marks of sources that only ChatGPT's own page can show: \ue200cite\ue202turn0search1\ue201
_MARKS = re.compile("\ue200[^\ue200\ue201]{0,500}\ue201")
_HIDDEN = word_set("""
    thoughts reasoning_recap user_editable_context model_editable_context system_error
    app_pairing_content
    """)


def _entry(message: Fields, key: str, model: str) -> Entry | None:
    """A message of ChatGPT; None for instructions, thoughts, and what tools were asked and said."""
    role = text_at(message, "author/role")
    content, metadata = object_at(message, "content"), object_at(message, "metadata")
    kind = text_at(content, "content_type")
    files = tuple(_files(content, metadata))
    to_tool = text_at(message, "recipient") not in ("", "all")
    hidden = metadata.get("is_visually_hidden_from_conversation") is True
    # A picture that was asked for is the answer of a tool.
    drawn = role == "tool" and any(file.kind == "image" for file in files)
    if (role not in ("user", "assistant") and not drawn) or hidden or to_tool or kind in _HIDDEN:
        return None
    parts = content.get("parts", content.get("text"))
    text = "" if drawn else _MARKS.sub("", _joined(parts))
    if role == "assistant" and parts in ([], [""], ""):
        return None  # an empty bubble before a tool is asked
    name = text_at(metadata, "model_slug") or model or "ChatGPT"
    return Entry(
        "",
        _OWNER if role == "user" else name,
        from_number(message.get("create_time")),
        text,
        id=text_at(message, "id") or key,
        attachments=files,
        odd=_is_odd(parts),
    )


def _is_odd(parts: Any) -> bool:
    if not isinstance(parts, list):
        return not isinstance(parts, str)
    named = (part for part in parts if not isinstance(part, str))
    return not all(isinstance(part, dict) and "content_type" in part for part in named)


def _joined(parts: Any) -> str:
    """The texts of a message, also what was said aloud and written down."""
    if isinstance(parts, str):
        return parts
    texts = (text_at(part, "text") if isinstance(part, dict) else part for part in as_list(parts))
    return "\n".join(text for text in texts if isinstance(text, str) and text)


def _files(content: Fields, metadata: Fields) -> Iterator[Attachment]:
    ids = set()
    for file in objects_at(metadata, "attachments"):
        ids.add(text_at(file, "id"))
        mime = text_at(file, "mime_type", "mimeType")
        yield make_attachment(text_at(file, "id"), name=file.get("name"), mime=mime)
    for part in objects_at(content, "parts"):
        pointer = text_at(part, "asset_pointer", "audio_asset_pointer/asset_pointer")
        if pointer and pointer.rpartition("/")[2] not in ids:
            kind = text_at(part, "content_type")
            sort = next((sort for sort in ("image", "audio", "video") if sort in kind), "media")
            yield Attachment(sort, url=pointer)


def _fill_claude(draft: Draft, conversation: Fields, where: str) -> None:
    """The messages of a conversation of Claude; most downloads tell no branches."""
    messages = list(draft.objects(as_list(conversation.get("chat_messages")), where))
    above = [text_at(item, "parent_message_uuid") for _, item in messages]
    shown = None
    if any(above) and len(set(above)) < len(above):
        newest = max((item for _, item in messages), key=lambda item: text_at(item, "created_at"))
        last = text_at(conversation, "current_leaf_message_uuid") or text_at(newest, "uuid")
        ids = [text_at(item, "uuid") for _, item in messages]
        shown = set(_path(dict(zip(ids, above, strict=True)), last))
    model = text_at(conversation, "model")
    for place, item in messages:
        if shown is not None and text_at(item, "uuid") not in shown:
            draft.leave(place, _NOT_SHOWN)
        else:
            draft.take(_claude_entry(item, model), place)


def _claude_entry(item: Fields, model: str) -> Entry | None:
    """A message of Claude's; None where it holds nothing but tools and thoughts."""
    blocks = objects_at(item, "content")
    # What stands in `text` has a line for every block that some old app could not show.
    spoken = [text_at(block, "text") for block in blocks if text_at(block, "type") == "text"]
    text = "\n".join(filter(None, spoken)) or ("" if blocks else text_at(item, "text"))
    tools = [text_at(block, "name") for block in blocks if text_at(block, "type") == "tool_use"]
    attachments = tuple(
        make_attachment(
            text_at(file, "file_uuid"),
            "image" if text_at(file, "file_kind") == "image" else "",
            text_at(file, "file_name") or "pasted text",
        )
        for file in (*objects_at(item, "attachments"), *objects_at(item, "files"))
    )
    role = text_at(item, "sender")
    odd = not text and any(odd_at(block, "text") for block in (item, *blocks))
    if role not in ("human", "assistant") or (blocks and not (text or attachments or odd)):
        return None
    return Entry(
        "",
        _OWNER if role == "human" else text_at(item, "model") or model or "Claude",
        from_stamp(item.get("created_at")),
        text,
        id=text_at(item, "uuid"),
        attachments=attachments,
        extra={"tools": [name for name in tools if name]},
        odd=odd,
    )


_HAS_TREE = with_keys("mapping parent children message")


def _is_chatgpt(member: Member) -> bool:
    if member.suffix == ".html":
        text = head_text(member)
        return "jsonData" in text and ("ChatGPT" in text or '"mapping"' in text)
    return _HAS_TREE(member)


def _conversations(member: Member) -> list[Any]:
    """What a file lists; one conversation alone is a list of one."""
    if member.suffix == ".html":
        text = member.read().decode("utf-8", "replace")
        begin = re.search(r"\bjsonData\s*=\s*", text)
        try:
            value = json.JSONDecoder().raw_decode(text, begin.end())[0] if begin else None
        except (ValueError, RecursionError) as error:
            raise member.error(
                "its list of conversations is damaged or cut off", EXPORT_AGAIN
            ) from error
    else:
        value = load(member)
    if isinstance(value, dict):
        value = value.get("conversations", [value])
    return as_list(value)


def _read(export: Export, fill: Callable[[Draft, Fields, str], None]) -> None:
    listed = {member.folder for member in export.members if member.suffix == ".json"}
    for member in export.source.having(".json", ".html"):
        if member.stem in _BESIDE:
            member.on_read(member.name)  # known, and no chat
    rest = Draft("")
    for member in export:
        if member.suffix == ".html" and member.folder in listed:
            member.on_read(member.name)  # says the same once more
            continue
        for where, conversation in rest.objects(_conversations(member), member.name):
            number = text_at(conversation, "conversation_id", "id", "uuid")
            title = text_at(conversation, "title", "name").strip() or "Untitled"
            fill(export.draft(number or where, title, id=number), conversation, where)
    export.drafts[None] = rest
    reasons = [left.reason for draft in export.drafts.values() for left in draft.leftovers]
    if away := reasons.count(_NOT_SHOWN):
        export.notes.append(f"messages in branches that were not shown, left over: {away:,}")


_FIX = "in its settings ask for your data, and give the zip that comes by e-mail"
CHATGPT = export_format(
    "ChatGPT (conversations.json, chat.html)",
    "chatgpt",
    FormatFiles((".json", ".html"), _is_chatgpt, "no conversations of ChatGPT found", _FIX),
    partial(_read, fill=_fill),
)
CLAUDE = export_format(
    "Claude (conversations.json)",
    "claude",
    FormatFiles(
        (".json",), with_keys("uuid chat_messages"), "no conversations of Claude found", _FIX
    ),
    partial(_read, fill=_fill_claude),
)
