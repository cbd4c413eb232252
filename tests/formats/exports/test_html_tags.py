"""HTML of one message as text."""

from __future__ import annotations

from realtalk.formats.exports.html_tags import flat
from text_tables import cases


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
