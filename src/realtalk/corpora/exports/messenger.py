"""Facebook Messenger conversations (JSON download) into chats.

    your_facebook_activity/messages/inbox/ann_123/message_1.json ... message_9.json
    {"participants": [{"name": "Ann"}, {"name": "Ben"}], "title": "Ann",
     "thread_path": "inbox/ann_123", "magic_words": [],
     "messages": [{"sender_name": "Ben", "timestamp_ms": 1714548600000, "content": "hi"}]}
    → Chat("Ann") with one message of Ben

The download of end-to-end encrypted conversations (one file per conversation, `threadName`
and `senderName`) is read as well. `meta_json` describes both layouts.
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
    return thread is not None and not belongs_to_instagram(thread, source)


FORMAT = Format(
    title="Messenger (JSON download)",
    sniff=_sniff,
    read=partial(read_threads, format_name="messenger"),
)
