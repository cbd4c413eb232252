"""Pages of DiscordChatExporter, minified as it writes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadCorpus, ReadOptions
from shown import check

START = 1714548600000  # 2024-05-01 07:30 UTC


def number(minute: int) -> int:
    return (START + 60_000 * minute - 1_420_070_400_000) << 22


def message(minute: int, inside: str, aside: str = "") -> str:
    name = number(minute)
    return (
        f"<div id=chatlog__message-container-{name} class=chatlog__message-container "
        f"data-message-id={name}><div class=chatlog__message><div class=chatlog__message-aside>"
        f"{aside}</div><div class=chatlog__message-primary>{inside}</div></div></div>"
    )


def header(name: str, account: str, user: int, *, bot: bool = False) -> str:
    tag = "<span class=chatlog__author-tag>BOT</span>" if bot else ""
    return (
        f'<div class=chatlog__header><span class=chatlog__author style="color:rgb(1,2,3)" '
        f"title={account} data-user-id={user}>{name}</span>{tag} <span class=chatlog__timestamp>"
        f"<a href=#x>5/1/2024 7:30 AM</a></span></div>"
    )


def text(words: str, after: str = "") -> str:
    return (
        "<div class='chatlog__content chatlog__markdown'><span class=chatlog__markdown-preserve>"
        f"<!--wmm:ignore-->{words}<!--/wmm:ignore--></span>{after}</div>"
    )


EDITED = '<span class=chatlog__edited-timestamp title="5/1/2024 7:40 AM">(edited)</span>'
REPLY = (
    "<div class=chatlog__reply><div class=chatlog__reply-author title=ida>Ida</div><div "
    f'class=chatlog__reply-content><span class=chatlog__reply-link onclick="scrollToMessage(event, '
    f"'{number(0)}')\">did it rain?</span></div></div>"
)
FILES = (
    "<div class=chatlog__attachment><a href=https://cdn/bed.png><img "
    "class=chatlog__attachment-media src=https://cdn/bed.png title='Image: bed.png'></a></div>"
    "<div class=chatlog__attachment><div class=chatlog__attachment-generic><svg "
    "class=chatlog__attachment-generic-icon><use href=#attachment-icon /></svg><div "
    "class=chatlog__attachment-generic-name><a href=https://cdn/plan.pdf>plan.pdf</a></div></div></div>"
    "<div class=chatlog__embed><div class=chatlog__embed-text><div class=chatlog__embed-title><a "
    "class=chatlog__embed-title-link href=https://x.org/a><div class=chatlog__markdown>Beans</div>"
    "</a></div><div class=chatlog__embed-description>how to</div></div></div>"
    "<div class=chatlog__sticker title=wave><img class=chatlog__sticker--media src=https://cdn/w.png>"
    "</div>"
)
REACTIONS = (
    "<div class=chatlog__reactions><div class=chatlog__reaction title=seedling><img "
    "class='chatlog__emoji chatlog__emoji--small' alt=🌱 src=x><span "
    "class=chatlog__reaction-count>3</span></div></div>"
)
NOTICE = (
    "<span class=chatlog__system-notification-author title=ben data-user-id=2>Ben</span><span "
    "class=chatlog__system-notification-content><span>pinned a message</span></span>"
)
HEAD = (
    "<!DOCTYPE html><html lang=en><head><title>Gardeners - beds</title><style>"
    + ".chatlog__message-group{} .x{}" * 3000
    + "</style></head><body><div class=preamble><div class=preamble__entries-container><div "
    "class=preamble__entry>Gardeners</div><div class=preamble__entry>Outside / beds</div>"
    "</div></div><div class=chatlog>"
)


def page(*groups: str) -> str:
    joined = "".join(f"<div class=chatlog__message-group>{group}</div>" for group in groups)
    return f"{HEAD}{joined}</div><div class=postamble></div></body></html>"


WHOLE = page(
    message(0, header("Ida", "ida_h", 1) + text("did it rain?<br>here &lt;3 <img alt=🌧 src=x>"))
    + message(1, text("two\nlines", EDITED) + FILES),
    message(2, REPLY + header("Ben", "ben", 2) + text("it did") + REACTIONS),
    message(3, NOTICE),
    message(4, header("Polly", "polly", 3, bot=True) + text("poll!")),
    message(5, header("Ida", "ida_h", 1)),
)


def read(path: Path, text: str, **options: Any) -> ReadCorpus:
    path.write_text(text, "utf-8")
    opened = open_reading(path, options=ReadOptions(**options))
    assert opened.format == "discord"
    return opened.reading


def test_a_page(tmp_path: Path) -> None:
    reading = read(tmp_path / "Gardeners - beds.html", WHOLE)
    check(
        reading,
        """
        beds (Ida, Ben, Polly) {"authors":{"Ben":"2","Ida":"1","Polly":"3"}}
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 Ida: did it rain?⏎here <3 🌧
            {"id":"1235131092172800000"}
        D1:2 2024-05-01 07:31:00 Ida, edited: two⏎lines
            image bed.png https://cdn/bed.png
            file plan.pdf https://cdn/plan.pdf
            link Beans https://x.org/a how to
            sticker w.png https://cdn/w.png
            {"id":"1235131343831040000"}
        D1:3 2024-05-01 07:32:00 Ben, to D1:1: it did
            {"id":"1235131595489280000","reactions":[{"by":[],"count":3,"emoji":"seedling"}]}
        D1:4 2024-05-01 07:34:00 Polly: poll!
            {"bot":true,"id":"1235132098805760000"}
        ida_h is Ida by the export
        ben is Ben by the export
        polly is Polly by the export
        6 entries = 4 in messages + 1 system + 1 left over
        Gardeners - beds.html, message 1235132350464000000: neither text nor attachment
        """,
    )


def test_written_dates_where_the_numbers_are_no_times(tmp_path: Path) -> None:
    text = WHOLE.replace(str(number(0)), "41").replace(str(number(1)), "42")
    [chat] = read(tmp_path / "x.html", text, timezone="Europe/Berlin").corpus.chats
    assert {"2024-05-01 07:30:00", "2024-05-01 09:32:00"} <= {str(m.time) for m in chat.messages}


def test_parts_of_one_channel_are_joined(tmp_path: Path) -> None:
    for part in ("", " [part 2]"):
        (tmp_path / f"Gardeners - beds [123456]{part}.html").write_text(WHOLE, "utf-8")
    found = open_reading(tmp_path).reading
    assert len(found.corpus.chats) == 1 and found.ledger.in_messages == 4


# --- up to 2.x: the author stands before the group ---------------------------------------


def old_page(*groups: str, head: str = "info") -> str:
    """The page of 2.0 to 2.13; later ones say "preamble", and the style names come first."""
    about = (
        '<div class="info"><div class="info__metadata"><div class="info__guild-name">Gardeners'
        '</div><div class="info__channel-name">beds</div></div></div>'
        if head == "info"
        else '<div class="preamble"><div class="preamble__entry">Gardeners</div>'
        '<div class="preamble__entry">beds</div></div>'
    )
    style = "<style>.chatlog__message-group{display:flex}.chatlog__author-name{color:red}</style>"
    inside = "\n".join(groups)
    return f'<html>{style}<body>{about}<div class="chatlog">{inside}</div></body></html>'


def old_group(name: str, about: str, stamp: str, *inside: str) -> str:
    return (
        '<div class="chatlog__message-group">\n<div class="chatlog__author-avatar-container"><img '
        'class="chatlog__author-avatar" src="https://cdn/a.png" /></div>\n'
        f'<div class="chatlog__messages">\n<span class="chatlog__author-name" {about}>{name}</span>'
        f'\n<span class="chatlog__timestamp">{stamp}</span>\n{"".join(inside)}</div></div>'
    )


def content(words: str, after: str = "") -> str:
    return f'<div class="chatlog__content">\n    {words}\n\n    {after}\n</div>'


OLD_EDITED = '<span class="chatlog__edited-timestamp" title="01-May-19 09:40 AM">(edited)</span>'
OLD_FILE = '<div class="chatlog__attachment"><a href="https://cdn/{0}">{1}</a></div>'
PICTURE = '<img class="chatlog__attachment-thumbnail" src="https://cdn/bed.png" />'
OLD_CARD = (
    '<div class="chatlog__embed"><div class="chatlog__embed-title"><a class='
    '"chatlog__embed-title-link" href="https://x.org/a">Beans</a></div></div>'
)
OLD_REACTIONS = (
    '<div class="chatlog__reactions"><div class="chatlog__reaction"><span '
    'class="chatlog__reaction-emoji">👍</span><span class="chatlog__reaction-count">3</span></div>'
    '<div class="chatlog__reaction"><span class="chatlog__reaction-emoji"><img class="emoji" '
    'title="bean" src="https://cdn/e.png" /></span><span class="chatlog__reaction-count">1</span>'
    "</div></div>"
)


def test_a_page_without_numbers(tmp_path: Path) -> None:
    text = old_page(
        old_group(
            "Ida",
            'title="ida#1234"',
            "01-May-19 09:30 AM",
            content("did it<br />rain?", OLD_EDITED),
            OLD_FILE.format("bed.png", PICTURE),
            OLD_REACTIONS,
            OLD_FILE.format("plan.pdf", "Attachment: plan.pdf (12 KB)"),
            content("second &amp; last"),
            OLD_CARD,
            content("Pinned a message."),
        ),
        old_group("Ida", 'title="other#9"', "01-May-19 09:45 PM", content("I am another Ida")),
    )
    check(
        read(tmp_path / "beds.html", text),
        """
        beds (ida#1234, other#9) {"authors":{"ida#1234":"ida#1234","other#9":"other#9"}}
        session 1, 2019-05-01 09:30:00
        D1:1 2019-05-01 09:30:00 ida#1234, edited: did it⏎rain?
            image bed.png https://cdn/bed.png
            {"reactions":[{"by":[],"count":3,"emoji":"👍"},{"by":[],"count":1,"emoji":"bean"}]}
        D1:2 2019-05-01 09:30:00 ida#1234:
            file plan.pdf https://cdn/plan.pdf
        D1:3 2019-05-01 09:30:00 ida#1234: second & last
            link Beans https://x.org/a
        session 2, 2019-05-01 21:45:00
        D2:1 2019-05-01 21:45:00 other#9: I am another Ida
        5 entries = 4 in messages + 1 system + 0 left over
        """,
    )


def test_a_page_with_numbers_and_the_author_before_them(tmp_path: Path) -> None:
    def said(minute: int, inside: str) -> str:
        return f'<div class="chatlog__message " data-message-id="{number(minute)}">{inside}</div>'

    bot = '<span class="chatlog__bot-tag">BOT</span>'
    markdown = '<div class="chatlog__content"><div class="markdown">{}</div></div>'
    text = old_page(
        old_group(
            "Ida",
            'title="ida#1" data-user-id="7"',
            "x",
            said(0, markdown.format("hi")),
            said(4, markdown.format("so?")),
        ),
        old_group(
            "Bert", 'title="b#2" data-user-id="8"', f"x{bot}", said(5, markdown.format("no"))
        ),
        head="preamble",
    )
    check(
        read(tmp_path / "beds.html", text),
        """
        beds (Ida, Bert) {"authors":{"Bert":"8","Ida":"7"}}
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 Ida: hi
            {"id":"1235131092172800000"}
        D1:2 2024-05-01 07:34:00 Ida: so?
            {"id":"1235132098805760000"}
        D1:3 2024-05-01 07:35:00 Bert: no
            {"bot":true,"id":"1235132350464000000"}
        ida#1 is Ida by the export
        b#2 is Bert by the export
        3 entries = 3 in messages + 0 system + 0 left over
        """,
    )


def test_a_page_of_the_first_years(tmp_path: Path) -> None:
    group = (
        '<div class="msg"><div class="msg-left"><img class="msg-avatar" src="a.png" /></div>'
        '<div class="msg-right"><span class="msg-user" title="ann#1">{}</span>\n'
        '<span class="msg-date">{}</span>{}</div></div>'
    )
    words = '<div class="msg-content">{}</div>'
    picture = (
        '<div class="msg-attachment"><a href="https://cdn/b.png"><img class="msg-attachment" '
        'src="https://cdn/b.png" /></a></div>'
    )
    text = (
        '<html><body><div id="info"><div class="info-right"><div class="guild-name">Gardeners</div>'
        '<div class="channel-name">beds</div></div></div><div id="log">'
        + group.format("Ann", "25.10.2017 09:30:05", words.format("hi") + words.format("you?"))
        + group.format("Ann", "26.10.2017 09:30:05", words.format("look") + picture)
        + "</div></body></html>"
    )
    check(
        read(tmp_path / "beds.html", text),
        """
        beds (Ann) {"authors":{"Ann":"ann#1"}}
        session 1, 2017-10-25 09:30:05
        D1:1 2017-10-25 09:30:05 Ann: hi
        D1:2 2017-10-25 09:30:05 Ann: you?
        session 2, 2017-10-26 09:30:05
        D2:1 2017-10-26 09:30:05 Ann: look
            image b.png https://cdn/b.png
        ann#1 is Ann by the export
        3 entries = 3 in messages + 0 system + 0 left over
        """,
    )
