"""`realtalk report FILE`: from an export to a page, with one command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EXPORT = "\n".join(
    f"{1 + day % 27:02}/{1 + day // 27:02}/2025, {8 + day % 12:02}:{minute:02} - {who}: {text}"
    for day in range(60)
    for minute, who, text in (
        (1, "Mara Lind", "good morning, did you sleep?"),
        (4, "Theo", "not much, the neighbours again"),
        (5, "Mara Lind", "poor you, come over for coffee"),
    )
)


def test_one_command_from_an_export_to_a_page(run: Any, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(EXPORT, "utf-8")
    err = run("report chat.txt --no-labels --out page.html").done.err
    assert "180 messages" in err and "67% of the messages are from Mara Lind" in err
    assert "wrote page.html" in err
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Mara Lind" in page and "poor you" not in page


def test_options_reach_the_page(run: Any, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(EXPORT, "utf-8")
    out = run("report chat.txt --no-labels --no-words --anonymous --json").done.out
    page = (tmp_path / "report.html").read_text("utf-8")
    assert "Mara" not in page and '"words":{' not in page
    told = json.loads(out)
    assert told["people"][0]["messages"] == 120 and told["people"][0]["reply_seconds"] == 60.0


def test_the_language_of_the_page(run: Any, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(EXPORT, "utf-8")
    status, _, err = run("report chat.txt --no-labels --language de")
    assert status == 0 and "67\u00a0% der Nachrichten sind von Mara Lind" in err
    assert '<html lang="de" dir="ltr">' in (tmp_path / "report.html").read_text("utf-8")
    status, _, err = run("report chat.txt --no-labels --language dee")
    assert status == 2 and "unknown language 'dee'; did you mean 'de'?" in err.replace("\n", " ")
    status, _, err = run("batch report chat.txt --no-labels --language xx --out pages")
    assert status == 2 and "unknown language 'xx'" in err and not (tmp_path / "pages").exists()


def test_a_stored_corpus_alone_is_a_chat(run: Any, tmp_path: Path) -> None:
    (tmp_path / "chat.txt").write_text(EXPORT, "utf-8")
    assert run("read chat.txt --out mara")[0] == 0
    err = run("report mara --no-labels").done.err
    assert "180 messages" in err
    assert "unknown chat 'nobody'" in run("report mara --no-labels --chat nobody").wrong
