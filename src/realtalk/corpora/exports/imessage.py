"""iMessage and the SMS beside it: Messages' own database, or what imessage-exporter writes.

    ~/Library/Messages/chat.db                   (`imessage_database`)
    imessage-exporter -f txt → +15550100.txt     (`imessage_text`)
    imessage-exporter -f html → +15550100.html   (`imessage_html`)
    → one chat per conversation; who owns the machine is called Me

The database says more than the others: everybody's address, ids, and what answers what.
"""

from __future__ import annotations

from collections.abc import Iterator

from realtalk.corpora.exports import imessage_database, imessage_html, imessage_text
from realtalk.corpora.exports.assembly import Draft, assemble
from realtalk.corpora.json_input import head_text, zone
from realtalk.corpora.reading import Format, Reading, ReadOptions
from realtalk.corpora.source import Member, Source, matching
from realtalk.errors import RealtalkError

_DATABASES = (".db", ".sqlite", ".sqlite3")


def _is_text(member: Member) -> bool:
    return imessage_text.is_text(head_text(member))


def _is_page(member: Member) -> bool:
    return imessage_html.is_page(head_text(member))


def _sniff(source: Source) -> bool:
    return any(_members(source, 64))


def _members(source: Source, limit: int) -> Iterator[Member]:
    yield from matching(source, _DATABASES, imessage_database.is_database, limit)
    yield from matching(source, (".html",), _is_page, limit)
    yield from matching(source, (".txt",), _is_text, limit)


def _read(source: Source, options: ReadOptions) -> Reading:
    tz = zone(options.timezone)
    members = list(_members(source, 0))
    if not members and len(source.members) == 1:
        members = list(source.having(*_DATABASES, ".html", ".txt"))
    if not members:
        raise RealtalkError(
            "no iMessage chat found",
            where=str(source.path),
            fix="pass chat.db, or the files that imessage-exporter has written",
        )
    notes: list[str] = []
    drafts: list[Draft] = []
    pages = {(member.folder, member.stem) for member in members if member.suffix == ".html"}
    for done, member in enumerate(members):
        options.progress(done, len(members), member.name)
        if member.suffix in _DATABASES:
            drafts += imessage_database.drafts(member, tz, notes)
        elif member.suffix == ".html":
            drafts.append(imessage_html.draft(member))
        elif (member.folder, member.stem) not in pages:
            drafts.append(imessage_text.draft(member))
    return assemble(source, "imessage", drafts, options, notes)


FORMAT = Format(
    title="iMessage (chat.db, imessage-exporter's text or HTML)", sniff=_sniff, read=_read
)
