"""One list of messages in each of the published and general formats."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any

from said import Files, Form, Said, as_json, by_chat, json_lines, table


def _realtalk_chat(said: list[Said]) -> dict[str, Any]:
    people = list(dict.fromkeys(one.who for one in said))
    data: dict[str, Any] = {
        "name": {f"speaker_{place}": name for place, name in enumerate(people, 1)}
    }
    for place, one in enumerate(said):
        number = 1 + one.seconds // 86400
        data.setdefault(f"session_{number}", []).append(
            {
                "clean_text": one.text,
                "speaker": one.who,
                "dia_id": one.id or f"D{number}:{place}",
                "date_time": one.time.strftime("%d.%m.%Y, %H:%M:%S"),
                "img_file": [],
                "img_url": [],
            }
        )
        noted = data.setdefault(f"events_session_{number}", {"agent_a": [], "agent_b": []})
        noted["agent_a"].append({"sub-event": one.text[:40], "date": "", "id": "E"})
    data["qa"] = [
        {"question": one.text[:60], "answer": "x", "evidence": ["D1:1"], "category": 2}
        for one in said[:: max(1, len(said) // 1000)]
    ]
    return data


def _realtalk(said: list[Said]) -> Files:
    return {
        f"{place}.json": as_json(_realtalk_chat([one for _, one in chat]))
        for place, chat in enumerate(by_chat(said).values())
    }


def _undated(book: bytes) -> bytes:
    """The same workbook without the time of writing, so that equal messages are equal bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as source, zipfile.ZipFile(out, "w") as written:
        for name in source.namelist():
            data = source.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"\d{4}-\d\d-\d\dT[\d:.]+Z", b"2024-05-01T00:00:00Z", data)
            entry = zipfile.ZipInfo(name, (2024, 5, 1, 0, 0, 0))
            written.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _sheet(said: list[Said]) -> Files:
    import openpyxl

    files = {}
    for place, chat in enumerate(by_chat(said).values()):
        book = openpyxl.Workbook(write_only=True)
        page = book.create_sheet()
        people = list(dict.fromkeys(one.who for _, one in chat))[:4000]
        head: list[Any] = []
        for name in people:
            head += [None, name]
        page.append([*head, "Date, Time"])
        page.append([None, "Session 1"])
        for at, one in chat:
            row: list[Any] = [None] * (2 * len(people))
            spot = 2 * people.index(one.who) if one.who in people else 0
            clean = "".join(c for c in one.text[:30000] if c >= " " or c in "\n\t")
            row[spot : spot + 2] = [f"D1:{at}", clean]
            page.append([*row, one.time.strftime("%d.%m.%Y, %H:%M:%S")])
        out = io.BytesIO()
        book.save(out)
        files[f"{place}.xlsx"] = _undated(out.getvalue())
    return files


def _locomo(said: list[Said]) -> Files:
    samples = []
    for name, chat in by_chat(said).items():
        talk: dict[str, Any] = {"speaker_a": chat[0][1].who, "speaker_b": chat[-1][1].who}
        notes: dict[str, Any] = {}
        for place, one in chat:
            number = 1 + one.seconds // 86400
            talk[f"session_{number}_date_time"] = "1:56 pm on 8 May, 2023"
            talk.setdefault(f"session_{number}", []).append(
                {"speaker": one.who, "dia_id": one.id or f"D{number}:{place}", "text": one.text}
            )
            seen = notes.setdefault(f"events_session_{number}", {"date": "8 May, 2023"})
            seen.setdefault(one.who, []).append(one.text[:20])
        qa = [{"question": "x?", "answer": 3, "evidence": ["D1:1"], "category": 2}]
        samples.append({"sample_id": name, "conversation": talk, "qa": qa, "event_summary": notes})
    return {"locomo.json": as_json(samples)}


def _longmemeval(said: list[Said]) -> Files:
    items = []
    for name, chat in by_chat(said).items():
        sessions: dict[int, list[Any]] = {}
        for _, one in chat:
            sessions.setdefault(one.seconds // 86400, []).append(
                {"role": one.who, "content": one.text, "has_answer": True}
            )
        items.append(
            {
                "question_id": name,
                "question_type": "temporal-reasoning",
                "question": "x?",
                "answer": 3,
                "question_date": "2023/10/02 (Mon) 04:40",
                "haystack_session_ids": [f"s{day}" for day in sessions],
                "haystack_dates": ["2023/04/11 (Tue) 07:47" for _ in sessions],
                "haystack_sessions": list(sessions.values()),
                "answer_session_ids": ["s1"],
            }
        )
    return {"lme.json": as_json(items)}


def _convokit(said: list[Said]) -> Files:
    def name(place: int) -> str:
        return said[place].id or f"u{place}"

    return {
        "utterances.jsonl": json_lines(
            {
                "id": name(place),
                "conversation_id": one.chat,
                "speaker": one.who,
                "text": one.text,
                "reply-to": None if one.reply is None else name(one.reply),
                "timestamp": one.epoch,
                "meta": {"score": 1},
            }
            for place, one in enumerate(said)
        ),
        "speakers.json": as_json({one.who: {"meta": {}, "vectors": []} for one in said}),
        "conversations.json": as_json(
            {one.chat: {"meta": {"t": 1}, "vectors": []} for one in said}
        ),
        "corpus.json": b"{}",
        "index.json": b"{}",
    }


def _reddit(said: list[Said]) -> Files:
    posts = []
    for _, chat in by_chat(said).items():
        (_, first), *others = chat
        posts.append(
            {
                "title": first.text[:50],
                "content": first.text,
                "score": 12,
                "author": first.who,
                "timestamp": f"{first.time.isoformat()}Z",
                "id": first.id,
                "comments": [
                    {
                        "body": one.text,
                        "author": one.who,
                        "score": 3,
                        "id": one.id,
                        "timestamp": one.epoch,
                        "replies": [],
                    }
                    for _, one in others
                ],
            }
        )
    return {"threads.json": as_json({"mara": posts})}


def _jsonl(said: list[Said]) -> Files:
    return {
        "talk.jsonl": json_lines(
            {
                "chat": one.chat,
                "id": one.id,
                "author": {"name": one.who},
                "time": one.time.isoformat(),
                "text": one.text,
                "reply_to": one.reply,
            }
            for one in said
        )
    }


def _own_lines(said: list[Said]) -> Files:
    lines: list[Any] = [{"type": "corpus", "realtalk": 1, "name": "x", "format": "y"}]
    for name, chat in by_chat(said).items():
        people = list(dict.fromkeys(one.who for _, one in chat))
        lines.append({"type": "chat", "id": name, "speakers": people})
        lines += [
            {
                "type": "message",
                "chat": name,
                "session": 1 + one.seconds // 86400,
                "id": one.id or f"u{place}",
                "speaker": one.who,
                "time": one.time.isoformat(),
                "text": one.text,
            }
            for place, one in chat
        ]
    return {"own.jsonl": json_lines(lines)}


def _csv(said: list[Said]) -> Files:
    rows = ([one.chat, one.who, f"{one.time}", one.text, one.id] for one in said)
    return {"talk.csv": table(["chat", "speaker", "time", "text", "id"], rows)}


PUBLISHED: dict[str, Form] = {
    "realtalk": Form("realtalk", _realtalk),
    "sheet": Form("sheet", _sheet),
    "locomo": Form("locomo", _locomo),
    "longmemeval": Form("longmemeval", _longmemeval),
    "convokit": Form("convokit", _convokit),
    "reddit": Form("reddit", _reddit),
    "jsonl": Form("jsonl", _jsonl),
    "jsonl own": Form("jsonl", _own_lines),
    "csv": Form("csv", _csv),
}
