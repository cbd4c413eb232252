"""One list of messages as each messenger would export it."""

from __future__ import annotations

import html
from typing import Any

from said import Files, Form, Said, as_json, by_chat, given, json_lines, table, texts


def _number(place: int, one: Said) -> int:
    """What tells messages of one second apart: the same in every export that has the message."""
    return int(one.id) if one.id.isdigit() else place


_whatsapp = texts(
    "WhatsApp Chat with {}.txt",
    "",
    lambda one: f"{one.time:%d/%m/%Y, %H:%M} - {one.who}: {one.text}\n",
)
_iphone = texts(
    "{}/_chat.txt", "", lambda one: f"[{one.time:%d.%m.%y, %H:%M:%S}] {one.who}: {one.text}\n"
)
_signal_text = texts(
    "{}/chat.md", "", lambda one: f"[{one.time:%Y-%m-%d %H:%M:%S}] {one.who}: {one.text}\n"
)


def _telegram(said: list[Said]) -> Files:
    chats = [
        {
            "name": name,
            "type": "personal_chat",
            "id": number,
            "messages": [
                given(
                    {
                        "id": one.id or place,
                        "type": "message",
                        "date": one.time.isoformat(),
                        "date_unixtime": str(one.epoch),
                        "from": one.who,
                        "from_id": f"user{one.who}",
                        "text": [one.text[:9], {"type": "italic", "text": one.text[9:]}],
                        "reply_to_message_id": one.reply,
                    }
                )
                for place, one in chat
            ],
        }
        for number, (name, chat) in enumerate(by_chat(said).items())
    ]
    about = "Here is the data you requested from Telegram"
    return {"result.json": as_json({"about": about, "chats": {"about": "x", "list": chats}})}


def _telegram_html(said: list[Said]) -> Files:
    files = {}
    for number, chat in enumerate(by_chat(said).values()):
        bubbles = [
            f'<div class="message default clearfix" id="message{one.id or place}">'
            f'<div class="body"><div class="pull_right date details" title="'
            f'{one.time:%d.%m.%Y %H:%M:%S}">x</div><div class="from_name">{html.escape(one.who)}'
            f'</div><div class="text">{html.escape(one.text)}</div></div></div>\n'
            for place, one in chat
        ]
        page = (
            '<!DOCTYPE html><html><div class="page_wrap"><div class="page_header">x</div>'
            f"{''.join(bubbles)}</div></html>"
        )
        files[f"{number}/messages.html"] = page.encode("utf-8", "replace")
    return files


def _signal_lines(said: list[Said]) -> Files:
    rest: dict[str, Any] = {"quote": "", "sticker": None, "reactions": [], "attachments": []}
    return {
        f"{place}/data.json": json_lines(
            {"date": one.time.isoformat(), "sender": one.who, "body": one.text} | rest
            for _, one in chat
        )
        for place, chat in enumerate(by_chat(said).values())
    }


def _signal_frames(said: list[Said]) -> Files:
    frames: list[Any] = [{"version": "1", "backupTimeMs": "1"}]
    frames += [
        {"recipient": {"id": who, "contact": {"profileGivenName": who}}}
        for who in dict.fromkeys(one.who for one in said)
    ]
    frames += [
        {
            "chatItem": {
                "chatId": one.chat,
                "authorId": one.who,
                "dateSent": str(one.epoch * 1000 + _number(place, one)),
                "standardMessage": {"text": {"body": one.text}, "reactions": []},
            }
        }
        for place, one in enumerate(said)
    ]
    return {"main.jsonl": json_lines(frames)}


def _signal_desktop(said: list[Said]) -> Files:
    people = [
        {"id": f"p{who}", "serviceId": who, "name": who, "type": "private"}
        for who in dict.fromkeys(one.who for one in said)
    ]
    items = [
        {
            "conversationId": one.chat,
            "type": "incoming",
            "sourceServiceId": one.who,
            "sent_at": one.epoch * 1000,
            "body": one.text,
        }
        for one in said
    ]
    return {"dump.json": as_json({"conversations": people, "messages": items})}


def _discord(said: list[Said]) -> Files:
    def name(place: int) -> str:
        return said[place].id or str(place)

    return {
        f"{number}.json": as_json(
            {
                "guild": {"id": "0", "name": "g"},
                "channel": {"id": str(number), "name": chat_name},
                "messages": [
                    {
                        "id": name(place),
                        "type": "Default",
                        "timestamp": f"{one.time.isoformat()}+00:00",
                        "content": one.text,
                        "author": {"id": one.who, "name": "x", "nickname": one.who},
                        "attachments": [],
                        "reactions": [{"emoji": {"name": "👍"}, "count": 1}],
                        "reference": {"messageId": None if one.reply is None else name(one.reply)},
                    }
                    for place, one in chat
                ],
            }
        )
        for number, (chat_name, chat) in enumerate(by_chat(said).items())
    }


def _discord_table(said: list[Said]) -> Files:
    head = ["AuthorID", "Author", "Date", "Content", "Attachments", "Reactions"]
    return {
        f"{number}.csv": table(
            head, ([s.who, s.who, f"{s.time.isoformat()}+00:00", s.text, "", ""] for _, s in chat)
        )
        for number, chat in enumerate(by_chat(said).values())
    }


def _discord_package(said: list[Said]) -> Files:
    return {
        f"messages/c{number}/messages.json": as_json(
            [
                {
                    "ID": _number(place, s),
                    "Timestamp": f"{s.time}",
                    "Contents": s.text,
                    "Attachments": "",
                }
                for place, s in chat
            ]
        )
        for number, chat in enumerate(by_chat(said).values())
    }


def _slack(said: list[Said]) -> Files:
    names = dict.fromkeys(one.who for one in said)
    days: dict[str, list[Any]] = {}
    for place, one in enumerate(said):
        item = {"type": "message", "user": one.who, "ts": f"{one.epoch}.{_number(place, one):06}"}
        if one.reply is not None:
            first = said[one.reply]
            item["thread_ts"] = f"{first.epoch}.{_number(one.reply, first):06}"
        days.setdefault(f"{one.chat}/{one.time:%Y-%m-%d}.json", []).append(
            item | {"text": html.escape(one.text, quote=False)}
        )
    return {
        "users.json": as_json([{"id": who, "profile": {"real_name": who}} for who in names]),
        "channels.json": as_json([{"id": f"C{c}", "name": c} for c in by_chat(said)]),
        **{name: as_json(items) for name, items in days.items()},
    }


def _broken(text: str) -> str:
    """As Meta writes it: every byte a character."""
    return text.encode("utf-8", "replace").decode("latin-1")


def _meta(said: list[Said], folder: str) -> Files:
    return {
        f"{folder}/inbox/ann_{number}/message_1.json": as_json(
            {
                "participants": [
                    {"name": _broken(who)} for who in dict.fromkeys(one.who for _, one in chat)
                ],
                "messages": [
                    {
                        "sender_name": _broken(s.who),
                        "timestamp_ms": s.epoch * 1000,
                        "content": _broken(s.text),
                    }
                    for _, s in reversed(chat)
                ],
                "title": name,
            }
        )
        for number, (name, chat) in enumerate(by_chat(said).items())
    }


def _encrypted(said: list[Said]) -> Files:
    return {
        f"Ann_{number}.json": as_json(
            {
                "participants": list(dict.fromkeys(one.who for _, one in chat)),
                "threadName": name,
                "messages": [
                    {
                        "senderName": s.who,
                        "text": s.text,
                        "timestamp": s.epoch * 1000,
                        "type": "text",
                    }
                    for _, s in chat
                ],
            }
        )
        for number, (name, chat) in enumerate(by_chat(said).items())
    }


_kakaotalk = texts(
    "KakaoTalk {}.txt",
    "Ann 님과 카카오톡 대화\n저장한 날짜 : 2024년 5월 3일 오후 3:05\n\n",
    lambda one: f"{one.time:%Y. %m. %d. %H:%M}, {one.who} : {one.text}\n",
)


_kakaotalk_pc = texts(
    "KakaoTalk {}.txt",
    "Ann with KakaoTalk Chats\nDate Saved : 2024-05-03 15:05:11\n\n",
    lambda one: (
        f"--------------- {one.time:%Y년 %m월 %d일} ---------------\n"
        f"[{one.who}] [{'오후' if one.time.hour > 11 else '오전'} "
        f"{one.time.hour % 12 or 12}:{one.time:%M}] {one.text}\n"
    ),
)


def _kakaotalk_table(said: list[Said]) -> Files:
    return {
        f"{number}.csv": table(
            ["Date", "User", "Message"], ([f"{s.time}", s.who, s.text] for _, s in chat)
        )
        for number, chat in enumerate(by_chat(said).values())
    }


_line = texts(
    "[LINE] {}.txt",
    "[LINE] Chat history with Ann\nSaved on: 2024/05/03 15:05\n\n",
    lambda one: f"{one.time:%Y/%m/%d(%a)}\n{one.time:%H:%M}\t{one.who}\t{one.text}\n",
)


_line_pc = texts(
    "[LINE]{}.txt",
    "",
    lambda one: f"{one.time:%Y.%m.%d %A}\n{one.time:%H:%M} {one.who} {one.text}\n",
)


_viber = texts(
    "{}.txt",
    "",
    lambda one: f"[ {one.time:%d/%m/%Y} ] {one.time:%H:%M:%S}: {one.who}: {one.text}\n",
)


_viber_table = texts(
    "{}.csv",
    "",
    lambda one: (
        f'="{one.time:%d/%m/%Y}"\t{one.time:%H:%M:%S}\t="{one.who}"\t="+1555"\t'
        f'"{one.text.replace(chr(34), chr(34) * 2)}"\n'
    ),
)


EXPORTS: dict[str, Form] = {
    "viber": Form("viber", _viber),
    "viber table": Form("viber", _viber_table),
    "line": Form("line", _line),
    "line pc": Form("line", _line_pc),
    "kakaotalk": Form("kakaotalk", _kakaotalk),
    "kakaotalk pc": Form("kakaotalk", _kakaotalk_pc),
    "kakaotalk table": Form("kakaotalk", _kakaotalk_table),
    "whatsapp": Form("whatsapp", _whatsapp),
    "whatsapp iphone": Form("whatsapp", _iphone),
    "telegram": Form("telegram", _telegram),
    "telegram html": Form("telegram", _telegram_html),
    "signal text": Form("signal", _signal_text),
    "signal lines": Form("signal", _signal_lines),
    "signal frames": Form("signal", _signal_frames),
    "signal desktop": Form("signal", _signal_desktop),
    "discord": Form("discord", _discord),
    "discord table": Form("discord", _discord_table),
    "discord package": Form("discord", _discord_package),
    "slack": Form("slack", _slack),
    "instagram": Form("instagram", lambda said: _meta(said, "your_instagram_activity")),
    "messenger": Form("messenger", lambda said: _meta(said, "your_facebook_activity")),
    "messenger encrypted": Form("messenger", _encrypted),
}
