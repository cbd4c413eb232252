"""Tables for a notebook and a prompt."""

from __future__ import annotations

from realtalk.notebook import counted, plain, table_html, table_text


def test_counts_have_their_noun() -> None:
    assert counted(1, "chat") == "1 chat"
    assert counted(2012, "message") == "2,012 messages"
    assert counted(0, "turn") == "0 turns"


def test_a_table_in_letters_is_aligned_and_cut() -> None:
    made = table_text("scores", ("score", "n"), [("f1", "7"), ("recall", "12")], ["by chat"])
    assert made.splitlines() == ["scores", " score    n", " f1       7", " recall  12", "by chat"]
    assert table_text("", ("n",), [("1",)] * 5, most=2).splitlines()[-1] == "… and 3 rows more"


def test_what_would_steer_a_terminal_is_not_printed() -> None:
    assert plain("a\x1b[2Jb\u202e") == "a\ufffd[2Jb\ufffd"
    assert "\x1b" not in table_text("\x1b", ("\x1b",), [("\x1b",)], ["\x1b"])
    assert len(plain("long " * 40)) == 48


def test_html_is_escaped_everywhere() -> None:
    bad = "<script>&"
    page = table_html(bad, (bad,), [(bad,)], [bad])
    assert "<script>" not in page
    assert page.count("&lt;script&gt;&amp;") == 4
