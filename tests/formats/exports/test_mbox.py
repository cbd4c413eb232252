"""Mailboxes: threads, bodies, quotations, encodings."""

from __future__ import annotations

from pathlib import Path

from realtalk.formats.exports.mbox import bare
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import ReadOptions
from refusals import refused
from shown import check
from text_tables import cases

IDA, BEN = "Ida Holm <Ida@example.org>", "Ben Roy <ben@example.org>"


def mail(number: int, sender: str, subject: str, body: str, *headers: str) -> str:
    head = "\n".join(
        (
            f"From {number}@xxx Wed May 01 07:30:00 +0000 2024",
            f"From: {sender}",
            f"Subject: {subject}",
            f"Date: Wed, 1 May 2024 09:{30 + number}:00 +0200",
            f"Message-ID: <{number}@example.org>",
            *headers,
        )
    )
    return f"{head}\n\n{body}\n\n"


HTML = (
    "<html><body><p>fine &amp; dry</p><div class=gmail_quote><div>On Wed, 1 May 2024 at 09:34, Ben "
    "Roy wrote:</div><blockquote>old words</blockquote></div></body></html>"
)
PARTS = """--b1
Content-Type: multipart/alternative; boundary=b2

--b2
Content-Type: text/plain; charset=iso-8859-1
Content-Transfer-Encoding: quoted-printable

K=FCrbis!
--b2
Content-Type: text/html

<p>Other</p>
--b2--
--b1
Content-Type: image/jpeg; name="=?utf-8?b?S8O8cmJpcy5qcGc=?="
Content-Disposition: attachment; filename="=?utf-8?b?S8O8cmJpcy5qcGc=?="
Content-Transfer-Encoding: base64

AAAA
--b1--"""
REPLY = "yes, at last!\n\nOn Wed, 1 May 2024 at 09:30, Ida <ida@example.org>\nwrote:\n> did\n> it?"
BOX = [
    mail(0, IDA, "Seeds", "did they come?\n\n>From the garden\n\n-- \nIda Holm\nBed 4"),
    mail(1, BEN, "Re: Seeds", REPLY, "In-Reply-To: <0@example.org>"),
    mail(2, IDA, "AW: [list] seeds", "=?", "X-Mailer: x"),
    mail(3, BEN, "=?utf-8?q?K=C3=BCrbis?=", PARTS, "Content-Type: multipart/mixed; boundary=b1"),
    mail(4, IDA, "Fwd: Seeds", HTML, "Content-Type: text/html", "References: <1@example.org>"),
    mail(5, BEN, "Out of office", "away", "Auto-Submitted: auto-replied"),
    mail(6, "", "nobody", "x"),
]


def test_threads_bodies_and_the_count(tmp_path: Path) -> None:
    path = tmp_path / "All mail.mbox"
    path.write_text("".join(BOX))
    opened = open_reading(path)
    assert opened.format == "mbox"
    check(
        opened.reading,
        """
        Seeds (Ida Holm, Ben Roy) {"authors":{"Ben Roy":"ben@example.org","Ida
            Holm":"ida@example.org"}}
        session 1, 2024-05-01 07:30:00
        D1:1 2024-05-01 07:30:00 Ida Holm: did they come?⏎⏎From the garden
            {"id":"<0@example.org>","subject":"Seeds"}
        D1:2 2024-05-01 07:31:00 Ben Roy, to D1:1: yes, at last!
            {"id":"<1@example.org>","subject":"Re: Seeds"}
        D1:3 2024-05-01 07:32:00 Ida Holm: =?
            {"id":"<2@example.org>","subject":"AW: [list] seeds"}
        D1:4 2024-05-01 07:34:00 Ida Holm, to D1:2: fine & dry
            {"id":"<4@example.org>","subject":"Fwd: Seeds"}
        Kürbis (Ben Roy) {"authors":{"Ben Roy":"ben@example.org"}}
        session 1, 2024-05-01 07:33:00
        D1:1 2024-05-01 07:33:00 Ben Roy: Kürbis!
            image Kürbis.jpg
            {"id":"<3@example.org>","subject":"Kürbis"}
        7 entries = 5 in messages + 1 system + 1 left over
        All mail.mbox, mail 7: no sender
        lines cut from mails: 6 of quotations, 3 of signatures
        """,
    )


def test_threads_that_turn_out_to_be_one(tmp_path: Path) -> None:
    late = mail(9, IDA, "both", "z", "References: <0@example.org> <7@example.org>")
    path = tmp_path / "box"
    path.write_text(BOX[0] + mail(7, BEN, "Plan", "y") + late)
    [chat] = open_reading(path).reading.corpus.chats
    assert [m.text[:3] for m in chat.messages] == ["did", "y", "z"]


def test_a_folder_of_mails_and_a_zone(tmp_path: Path) -> None:
    for place in (0, 1):
        text = BOX[place].partition("\n")[2].replace("\n", "\r\n")
        (tmp_path / f"{place}.eml").write_text(text)
    found = open_reading(tmp_path, options=ReadOptions(timezone="Europe/Berlin"))
    assert found.format == "mbox"
    [chat] = found.reading.corpus.chats
    assert [str(m.time) for m in chat.messages] == ["2024-05-01 09:30:00", "2024-05-01 09:31:00"]
    assert open_reading(tmp_path / "1.eml").format == "mbox"


def test_a_mailbox_whose_beginning_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "cut.mbox"
    path.write_text("".join(BOX)[180:])
    found = open_reading(path, "mbox").reading
    assert str(found.ledger) == "7 entries = 4 in messages + 1 system + 2 left over"


def test_a_text_that_begins_like_one_is_no_mailbox(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("From my window in 2024\nSubject: none\n")
    with refused("no message could be read"):
        open_reading(path, "mbox")


@cases(r"""
    body                                                         | text    | quoted | signature
    hi                                                           | hi      | 0 | 0
    "a\n> q\nb\n> r\nc"                                          | "a\nb\nc" | 2 | 0
    "a\n\nAm 1. Mai 2024 um 09:30 schrieb Ida:\n\n> q"           | a       | 2 | 0
    "my list:\n> q"                                              | my list: | 1 | 0
    "a\n-- \nIda\nBed 4"                                         | a       | 0 | 3
    "a\n\n-----Original Message-----\nFrom: Ida\nSent: 1 May 2024 09:30\nTo: b@x.org\n\nq" | a | 5 | 0
    "a\n\nVon: Ida <i@x.org>\nGesendet: 1. Mai 2024 09:30\nAn: Ben\n\nq" | a | 4 | 0
    # Neither a list nor what is quoted alone is cut.
    "buy:\nseeds: 4 packs\nsoil: 2 bags\npots: 9" | "buy:\nseeds: 4 packs\nsoil: 2 bags\npots: 9" | 0 | 0
    "> only\n> quoted"                                           | "> only\n> quoted" | 0 | 0
""")  # noqa: E501
def test_what_is_cut(body: str, text: str, quoted: int, signature: int) -> None:
    assert bare(body) == (text, quoted, signature)
