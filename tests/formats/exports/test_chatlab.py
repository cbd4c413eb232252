"""ChatLab's exchange format of WeChat and QQ chats, as JSON and as lines."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from exported import texts
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadOptions
from shown import check
from text_tables import records

META = {"name": "菜园", "platform": "wechat", "type": "group", "groupId": "g7"}
HEAD: dict[str, Any] = {"chatlab": {"version": "0.0.2", "exportedAt": 1714550000}, "meta": META}
MEMBERS: list[dict[str, Any]] = [
    {"platformId": "wx1", "accountName": "林小雨", "groupNickname": "小雨", "aliases": ["Rain"]},
    {"platformId": "wx2", "accountName": "Oskar"},
]


def said(sender: str, minute: int, content: str | None, type: int = 0, **more: Any) -> Any:
    name = {"wx1": "林小雨", "wx2": "Oskar"}.get(sender, sender)
    stamp = 1714548600 + 60 * minute
    item = {"sender": sender, "accountName": name, "timestamp": stamp, "type": type}
    return item | {"content": content} | more


ITEMS = [
    said(**{key: value for key, value in row.items() if value != ""})
    for row in records("""
        sender | minute | content                    | type | platformMessageId | replyToMessageId
        wx1    | 0      | 番茄都红了                 | 0    | m1                | ""
        wx2    | 1      | at last!                   | 25   | m2                | m1
        wx1    | 2      | [图片]                     | 1    | ""                | ""
        wx1    | 3      | images/a.jpg               | 1    | ""                | ""
        wx1    | 4      | [语音转文字] 明天浇水      | 2    | ""                | ""
        wx2    | 5      | [文件] plan.pdf            | 4    | ""                | ""
        wx2    | 6      | [旺柴]                     | 5    | ""                | ""
        wx1    | 7      | data:image/png;base64,AAAA | 1    | ""                | ""
        wx2    | 8      | [位置] 温室                | 8    | ""                | ""
        wx1    | 9      | 恭喜发财                   | 20   | ""                | ""
        wx1    | 10     | 通话时长 05:21             | 23   | ""                | ""
        wx2    | 11     | Oskar 撤回了一条消息       | 81   | ""                | ""
        system | 12     | Zoe 加入了群聊             | 80   | ""                | ""
        wx2    | 13     | 拍了拍我                   | 22   | ""                | ""
        wx2    | 14     | null                       | 99   | ""                | ""
    """)
]


def as_json(folder: Path, items: list[Any], name: str = "garden.json", **meta: Any) -> Path:
    export = {**HEAD, "meta": META | meta, "members": MEMBERS, "messages": items}
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(export, ensure_ascii=False), "utf-8")
    return path


def as_lines(folder: Path, items: list[Any], before: str = "") -> Path:
    lines: list[Any] = [{"_type": "header", **HEAD}]
    lines += [{"_type": "member", **member} for member in MEMBERS]
    lines += [{"_type": "message", **item} for item in items]
    path = folder / "garden.jsonl"
    path.write_text(before + "".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return path


def test_every_type_of_entry(tmp_path: Path) -> None:
    opened = open_reading(as_json(tmp_path, ITEMS))
    assert opened.format == "chatlab"
    check(
        opened.reading,
        """
        菜园 (小雨, Oskar) {"authors":{"Oskar":"wx2","小雨":"wx1"},"calls":{"小雨":["2024-05-01T07:40:00
            "]},"groupId":"g7","platform":"wechat","type":"group"}
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 小雨: 番茄都红了
            {"id":"m1"}
        D1:2 2024-05-01 07:31:00 Oskar, to D1:1: at last!
            {"id":"m2"}
        D1:3 2024-05-01 07:32:00 小雨:
            image
        D1:4 2024-05-01 07:33:00 小雨:
            image a.jpg images/a.jpg
        D1:5 2024-05-01 07:34:00 小雨: 明天浇水
            audio
        D1:6 2024-05-01 07:35:00 Oskar:
            file plan.pdf plan.pdf
        D1:7 2024-05-01 07:36:00 Oskar:
            sticker   旺柴
        D1:8 2024-05-01 07:37:00 小雨:
            image
        D1:9 2024-05-01 07:38:00 Oskar:
            location 温室
        D1:10 2024-05-01 07:39:00 小雨: 恭喜发财
            {"sent":"red packet"}
        D1:11 2024-05-01 07:41:00 Oskar, deleted:
        林小雨 is 小雨 by the export
        15 entries = 11 in messages + 3 system + 1 left over
        garden.json, messages[14]: neither text nor attachment
        """,  # noqa: E501
    )


def test_lines_hold_the_same(tmp_path: Path) -> None:
    whole = open_reading(as_json(tmp_path, ITEMS)).reading
    found = open_reading(as_lines(tmp_path, ITEMS))
    assert found.format == "chatlab"
    assert found.reading.corpus.chats == whole.corpus.chats
    # A header and two members are lines as well.
    assert str(found.reading.ledger) == "18 entries = 11 in messages + 6 system + 1 left over"


def test_comments_broken_lines_and_other_lines(tmp_path: Path) -> None:
    path = as_lines(tmp_path, ITEMS[:2], before="# made by hand\n")
    with path.open("a") as stream:
        stream.write('{"_type": "message", "sender": \n{"_type": "sync"}\n7\n')
    found = open_reading(path)
    assert found.format == "chatlab" and texts(found.reading) == ["番茄都红了", "at last!"]
    left = {left.where.partition(":")[2]: left.reason for left in found.reading.ledger.leftovers}
    assert left.pop("8") == "neither header, member nor message"
    assert left == dict.fromkeys("179", "not a JSON object")


def test_two_exports_of_one_group_are_one_chat(tmp_path: Path) -> None:
    as_json(tmp_path / "all", ITEMS[:2], "may.json")
    as_json(tmp_path / "all", [*ITEMS[:2], said("wx2", 30, "new", platformMessageId="m9")])
    found = open_reading(tmp_path / "all").reading
    assert texts(found) == ["番茄都红了", "at last!", "new"]
    assert len(found.ledger.leftovers) == 2
    # Without an id only what they hold says that two chats of one name are the same.
    cases = {"two": {"": ITEMS[:1], " ": ITEMS[1:2]}, "apart": {"1": ITEMS[:2], "2": ITEMS[:2]}}
    for folder, groups in cases.items():
        for group, items in groups.items():
            as_json(tmp_path / folder, items, f"a{group}.json", groupId=group.strip())
        assert len(open_reading(tmp_path / folder).reading.corpus.chats) == 2


def test_milliseconds_and_a_time_zone(tmp_path: Path) -> None:
    items = [said("wx1", 0, "hi") | {"timestamp": 1714548600000}, said("wx2", 1, "ho")]
    reading = open_reading(
        as_json(tmp_path, items), options=ReadOptions(timezone="Asia/Shanghai")
    ).reading
    times = [message.time for message in reading.corpus.chats[0].messages]
    assert times == [datetime(2024, 5, 1, 15, 30), datetime(2024, 5, 1, 15, 31)]


def test_without_members_names_are_those_of_the_messages(tmp_path: Path) -> None:
    items = [said("qq1", 0, "hi", groupNickname="Captain"), said("qq1", 1, "ho") | {"type": "0"}]
    path = as_json(tmp_path, items)
    export = json.loads(path.read_text())
    del export["members"]
    path.write_text(json.dumps(export))
    [chat] = open_reading(path).reading.corpus.chats
    assert chat.speakers == ("Captain",)
