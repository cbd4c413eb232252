"""Instagram direct messages (JSON download) into chats.

    your_instagram_activity/messages/inbox/ann_123/message_1.json
    {"participants": [{"name": "Ann"}, {"name": "Ben"}], "title": "Ann",
     "messages": [{"sender_name": "Ben", "timestamp_ms": 1714548600000, "content": "hi"}]}
    → Chat("Ann") with one message of Ben

The files have Meta's layout (`meta_json`); the bare minimum of it counts as Instagram.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from realtalk.corpora.exports.meta_json import belongs_to_instagram, first_thread, read_threads
from realtalk.corpora.reading import Format

if TYPE_CHECKING:
    from realtalk.corpora.source import Source

__all__ = ["FORMAT"]


def _sniff(source: Source) -> bool:
    thread = first_thread(source)
    return thread is not None and belongs_to_instagram(thread, source)


FORMAT = Format(
    title="Instagram (JSON download)",
    sniff=_sniff,
    read=partial(read_threads, format_name="instagram"),
)
