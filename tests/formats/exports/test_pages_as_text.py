"""Pages as text: where tags were lost no message is, and none runs into its neighbour."""

from __future__ import annotations

from pathlib import Path

import pytest

import exported
from exported import messages
from realtalk.formats.exports.html_tags import flat
from text_tables import cases

HEADS = {
    "discord": "<div class=preamble></div>",
    "telegram": "<div class=page_wrap>",
}
# A message of each app, and parts of it that get lost, up to the next.
DISCORD = (
    "<div class=chatlog__message-group><div data-message-id={number}><span class=chatlog__author>"
    "{name}</span><span class=chatlog__timestamp>01-May-24 09:30 AM</span>"
    "<div class=chatlog__content>{words}</div></div></div>"
)
OLD = (
    "<div class=chatlog__message-group><span class=chatlog__author-name>{name}</span><span "
    "class=chatlog__timestamp>01-May-24 09:30 AM</span><div class=chatlog__content>{words}</div>"
    "<div class=chatlog__attachment>Attachment: <a href=a.pdf>a.pdf</a></div></div>"
)
TELEGRAM = (
    '<div class="message default" id="message{number}"><div class="pull_right date details" '
    'title="01.05.2024 09:30:07">09:30</div><div class="from_name">{name}</div>'
    '<div class="text">{words}</div></div>'
)
IMESSAGE = (
    '<div class="message"><div class="received"><p><span class="timestamp">May 17, 2022  5:29:42 '
    'PM</span><span class="sender">{name}</span></p><div class="message_part"><span '
    'class="bubble">{words}</span></div></div></div>'
)
META = (
    "<div><div>{name}</div><div><div>{words}</div></div><div>May 1, 2024, 7:3{number} AM</div>"
    "</div>"
)


@pytest.mark.parametrize(
    ("app", "message", "lost"),
    [
        ("discord", DISCORD, ("</span>", "</div></div></div>")),
        ("discord", OLD, ("</span>", "</div></div>")),
        ("telegram", TELEGRAM, ("</div>", "</div></div>")),
        ("imessage", IMESSAGE, ("</span></p>", "</span></div></div></div>", "</div></div>")),
        ("messenger", META, ("</div>",)),
    ],
)
def test_lost_tags(tmp_path: Path, app: str, message: str, lost: tuple[str, ...]) -> None:
    first, second = (
        message.format(number=number, name=name, words=words)
        for number, name, words in ((1, "Ida", "hi"), (2, "Ben", "so?"))
    )
    if app == "messenger":
        first, second = second, first  # the newest is the first
    path = "your_facebook_activity/messages/inbox/ida_7/message_1.html"
    name = {"telegram": "messages.html", "messenger": path}.get(app, "a.html")
    for place, tags in enumerate(lost):
        before, found, after = first.rpartition(tags)
        assert found
        page = HEADS.get(app, "") + before + after + second
        reading = exported.read(tmp_path / str(place), {name: page}, app)
        assert [(m.speaker, m.text) for m in messages(reading)] == [("Ida", "hi"), ("Ben", "so?")]


# --- the text of one message ---


@cases(r"""
    written                                              | text
    <p>one</p><p>two</p>                                 | "one\ntwo"
    "<div>one</div>\n <div>&nbsp;</div>\n<div>two</div>" | "one\n\ntwo"
    a<br>b<br/>c                                         | "a\nb\nc"
    "  much \n space  "                                  | much space
    <ul><li>x</li><li>y</li></ul>                        | "x\ny"
    <style>p {}</style><p>seen</p><script>no()</script>  | seen
    a &lt;b&gt; &amp; &#127793;                          | a <b> & 🌱
    "<pre>x = 1\n  y = 2</pre>"                          | "x = 1\n y = 2"
    never < closed                                       | never < closed
    <!-- a comment --><b>bold</b>                        | bold
    ""                                                   | ""
""")
def test_text(written: str, text: str) -> None:
    assert flat(written).text == text


def test_quotations_links_and_pictures_stand_apart() -> None:
    found = flat(
        '<blockquote itemid="41">old <a href="u">w</a></blockquote>new '
        '<a href="https://x.org">words</a><img src="cid:1" alt="bed">'
    )
    assert (found.text, found.quoted, found.answers) == ("new words", "old w", "41")
    assert found.links == [("https://x.org", "words")]
    assert found.pictures == [("cid:1", "bed")]
