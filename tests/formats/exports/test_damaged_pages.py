"""Pages that lost tags: no message is lost, and none runs into its neighbour."""

from __future__ import annotations

from pathlib import Path

import pytest

import exported
from exported import messages

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
