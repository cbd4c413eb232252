"""One list of messages as downloads of accounts and exporters of other apps have it."""

from __future__ import annotations

import html
from email.header import Header
from typing import Any

from said import Files, Form, Said, as_json, by_chat, given, json_lines


def _chatlab_parts(name: str, chat: list[tuple[int, Said]]) -> tuple[Any, list[Any], list[Any]]:
    meta = {"name": name, "platform": "wechat", "type": "group", "groupId": name}
    people = dict.fromkeys(one.who for _, one in chat)
    members = [{"platformId": who, "accountName": who} for who in people]
    items = [
        given(
            {
                "sender": one.who,
                "accountName": one.who,
                "timestamp": one.epoch,
                "type": 0,
                "content": one.text,
                "platformMessageId": one.id or str(place),
                "replyToMessageId": None if one.reply is None else str(one.reply),
            }
        )
        for place, one in chat
    ]
    return {"chatlab": {"version": "0.0.2"}, "meta": meta}, members, items


def _chatlab(said: list[Said]) -> Files:
    files = {}
    for number, (name, chat) in enumerate(by_chat(said).items()):
        head, members, items = _chatlab_parts(name, chat)
        files[f"{number}.json"] = as_json({**head, "members": members, "messages": items})
    return files


def _chatlab_lines(said: list[Said]) -> Files:
    files = {}
    for number, (name, chat) in enumerate(by_chat(said).items()):
        head, members, items = _chatlab_parts(name, chat)
        lines = [{"_type": "header", **head}, *({"_type": "member", **each} for each in members)]
        files[f"{number}.jsonl"] = json_lines(lines + [{"_type": "message", **i} for i in items])
    return files


def _google_chat(said: list[Said]) -> Files:
    files = {}
    for number, chat in enumerate(by_chat(said).values()):
        people = dict.fromkeys(one.who for _, one in chat)
        members = [{"name": who, "email": who, "user_type": "Human"} for who in people]
        items = [
            given(
                {
                    "creator": {"name": one.who, "email": one.who},
                    "created_date": f"{one.time:%A, %B %d, %Y at %I:%M:%S %p} UTC",
                    "text": one.text,
                    "topic_id": str(place),
                    "message_id": one.id or str(place),
                    "quoted_message_metadata": (
                        None if one.reply is None else {"message_id": str(one.reply)}
                    ),
                }
            )
            for place, one in chat
        ]
        folder = f"Takeout/Google Chat/Groups/Space {number}"
        files[f"{folder}/messages.json"] = as_json({"messages": items})
        files[f"{folder}/group_info.json"] = as_json({"name": "x", "members": members})
    return files


def _teams(said: list[Said]) -> Files:
    items = [
        given(
            {
                "id": one.id or str(place),
                "messageType": "message",
                "chatId": one.chat,
                "createdDateTime": f"{one.time.isoformat()}Z",
                "from": {"user": {"id": one.who, "displayName": one.who}},
                "body": {"contentType": "html", "content": html.escape(one.text)},
                "replyToId": None if one.reply is None else str(one.reply),
                "reactions": [{"reactionType": "like"}],
            }
        )
        for place, one in reversed(list(enumerate(said)))
    ]
    return {"messages.json": as_json({"value": items})}


def _skype(said: list[Said]) -> Files:
    conversations = [
        {
            "id": f"19:{name}",
            "displayName": name,
            "MessageList": [
                {
                    "id": one.id or str(place),
                    "displayName": one.who,
                    "originalarrivaltime": f"{one.time.isoformat()}Z",
                    "messagetype": "RichText",
                    "content": html.escape(one.text),
                    "from": f"8:{one.who}",
                }
                for place, one in reversed(chat)
            ],
        }
        for name, chat in by_chat(said).items()
    ]
    return {"messages.json": as_json({"userId": "8:x", "conversations": conversations})}


def _discord_html(said: list[Said]) -> Files:
    files = {}
    for number, (name, chat) in enumerate(by_chat(said).items()):
        groups = "".join(
            "<div class=chatlog__message-group><div class=chatlog__message-container "
            f'data-message-id="{html.escape(one.id or str(place))}"><span class=chatlog__author '
            f'data-user-id="{html.escape(one.who)}">{html.escape(one.who)}</span>'
            f"<span class=chatlog__timestamp>{one.time:%d-%b-%y %I:%M %p}</span>"
            f"<div class=chatlog__content>{html.escape(one.text)}</div></div></div>\n"
            for place, one in chat
        )
        page = (
            "<!DOCTYPE html><html><div class=preamble><div class=preamble__entry>g</div><div "
            f"class=preamble__entry>{html.escape(name)}</div></div>{groups}</html>"
        )
        files[f"{number}.html"] = page.encode("utf-8", "replace")
    return files


def _meta_html(said: list[Said], folder: str) -> Files:
    files = {}
    for number, (name, chat) in enumerate(by_chat(said).items()):
        boxes = "".join(
            f'<div class="pam"><div class="a">{html.escape(one.who)}</div><div class="b"><div>'
            f'{html.escape(one.text)}</div></div><div class="c">{one.time:%b %d, %Y, %I:%M:%S %p}'
            "</div></div>\n"
            for _, one in reversed(chat)
        )
        page = f"<html><head><title>{html.escape(name)}</title></head><body>{boxes}</body></html>"
        files[f"{folder}/messages/inbox/x_{number}/message_1.html"] = page.encode(
            "utf-8", "replace"
        )
    return files


def _mbox(said: list[Said]) -> Files:
    def mail(place: int, one: Said) -> str:
        answer = "" if one.reply is None else f"In-Reply-To: <{one.reply}@x.org>\n"
        return (
            f"From {place}@xxx {one.time:%a %b %d %H:%M:%S} +0000 {one.time:%Y}\n"
            f"From: {Header(one.who, 'utf-8').encode()} <{place % 7}@x.org>\n"
            f"Date: {one.time:%a, %d %b %Y %H:%M:%S} +0000\nSubject: {one.chat}\n"
            f"Message-ID: <{one.id or place}@x.org>\n{answer}"
            f"Content-Type: text/plain; charset=utf-8\n\n{one.text}\n\n"
        )

    box = "".join(mail(place, one) for place, one in enumerate(said))
    return {"All mail.mbox": box.encode("utf-8", "replace")}


def _chatgpt(said: list[Said]) -> Files:
    conversations = []
    for name, chat in by_chat(said).items():
        ids = ["root", *(one.id or f"n{place}" for place, one in chat)]
        nodes: dict[str, Any] = {"root": {"message": None, "parent": None, "children": ids[1:2]}}
        for at, (_, one) in enumerate(chat, 1):
            message = {
                "author": {"role": "assistant"},
                "create_time": one.epoch,
                "content": {"content_type": "text", "parts": [one.text]},
                "metadata": {"model_slug": one.who},
                "recipient": "all",
            }
            node = {"message": message, "parent": ids[at - 1], "children": ids[at + 1 : at + 2]}
            nodes[ids[at]] = node
        conversations.append(
            {"title": name, "mapping": nodes, "current_node": ids[-1], "conversation_id": name}
        )
    return {"conversations.json": as_json(conversations)}


def _claude(said: list[Said]) -> Files:
    conversations = [
        {
            "uuid": name,
            "name": name,
            "chat_messages": [
                {
                    "uuid": one.id or f"n{place}",
                    "text": one.text,
                    "content": [{"type": "text", "text": one.text}],
                    "sender": "assistant",
                    "model": one.who,
                    "created_at": f"{one.time.isoformat()}.000000Z",
                }
                for place, one in chat
            ],
        }
        for name, chat in by_chat(said).items()
    ]
    return {"conversations.json": as_json(conversations)}


DOWNLOADS: dict[str, Form] = {
    "chatlab": Form("chatlab", _chatlab),
    "chatlab lines": Form("chatlab", _chatlab_lines),
    "discord html": Form("discord", _discord_html),
    "messenger html": Form("messenger", lambda said: _meta_html(said, "your_facebook_activity")),
    "instagram html": Form("instagram", lambda said: _meta_html(said, "your_instagram_activity")),
    "mbox": Form("mbox", _mbox),
    "teams": Form("teams", _teams),
    "skype": Form("teams", _skype),
    "google chat": Form("google-chat", _google_chat),
    "chatgpt": Form("chatgpt", _chatgpt),
    "claude": Form("claude", _claude),
}
