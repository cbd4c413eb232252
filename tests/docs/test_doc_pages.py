"""Pages for people: their commands run, their links lead somewhere, and they stay short."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from research import site
from research.results import run_pages
from research.results.python_reference import reference

pytest_plugins = ["page_browser"]

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ROOMS = ("start", "chat", "redact", "research", "build")
PAGES = sorted(
    path.relative_to(ROOT).as_posix() for room in ROOMS for path in (DOCS / room).glob("*.md")
)
LONG = {f"docs/research/{name}.md" for name in ("persona", "runs", "who-wrote-it")}  # they simulate
RUN = re.compile(r"<!-- run -->\n```sh\n(.*?)```", re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def prose(path: Path) -> str:
    """A page without its code."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.DOTALL)


def anchors(path: Path) -> set[str]:
    """The headings of a page as links name them."""
    heads = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", head.lower()).strip() for head in heads)
    return {head.replace(" ", "-") for head in plain}


def commands(text: str) -> list[list[str]]:
    """The realtalk commands of shell text, as words."""
    lines = text.replace("\\\n", " ").splitlines()
    words = (shlex.split(line, comments=True) for line in lines)
    return [found[1:] for found in words if found[:1] == ["realtalk"]]


def chat_of_mara(folder: Path) -> None:
    """The export that the pages speak of."""
    said = ["are the pears in?", "Bex took them, I was so angry", "oh no. how did that happen?"]
    said += ["no idea… are you coming on friday?", "yes! I can't wait to see you all"]
    lines = [
        f"{day:02}/03/2026, 18:{minute:02} - {'Mara' if minute % 2 else 'Theo'}: {text}"
        for day in range(13, 20)
        for minute, text in enumerate(said)
    ]
    with ZipFile(folder / "WhatsApp Chat with Mara.zip", "w") as archive:
        archive.writestr("WhatsApp Chat with Mara.txt", "\n".join(lines))


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] if page in LONG else [])
        for page in PAGES
        if RUN.search((ROOT / page).read_text("utf-8"))
    ],
)
def test_the_commands_of_a_page_run(
    page: str, run: Any, tmp_path: Path, shared_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(shared_cache / "pages"))  # vectors are made once
    text = (ROOT / page).read_text("utf-8")
    chat_of_mara(tmp_path)
    if page.endswith("build/memory.md"):
        code = text.partition("```python\n")[2].partition("```")[0]
        (tmp_path / "mine.py").write_text(code, "utf-8")
    for block in RUN.findall(text):
        for words in commands(block):
            status, _, err = run(*words)
            assert status == 0, (words, err)


@pytest.mark.parametrize("page", ["README.md", *PAGES])
def test_examples_can_be_run_one_after_another(page: str) -> None:
    """No two different commands of a page write into one folder."""
    wrote: dict[str, list[str]] = {}
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL):
        for words in commands(block):
            for option, place in pairwise(words):
                if option in ("--out", "-o"):
                    assert wrote.setdefault(place, words) == words


def test_every_link_leads_somewhere() -> None:
    sources = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), ROOT / "bench" / "README.md"]
    dead = []
    for source in sources:
        for link, picture in LINK.findall(prose(source)):
            target, _, anchor = (link or picture).partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            file = (source.parent / target).resolve() if target else source
            if not file.exists():
                dead.append(f"{source.relative_to(ROOT)}: {link or picture}")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                dead.append(f"{source.relative_to(ROOT)}: {link} has no such heading")
    assert dead == []


def test_every_page_is_in_the_navigation() -> None:
    nav = (ROOT / "mkdocs.yml").read_text("utf-8")
    for page in DOCS.rglob("*.md"):
        name = page.relative_to(DOCS).as_posix()
        if name != "model-cards/names.md":  # leads to the card that is there
            assert f"{name}\n" in nav, name


class Addresses(HTMLParser):
    """What a page of the site links to and loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.ids.add(values.get("id", ""))
        if tag == "a":
            self.links.append(values.get("href", ""))
        elif tag in ("script", "img", "iframe"):
            self.loads.append(values.get("src", ""))
        elif tag == "link" and values.get("rel") in ("stylesheet", "icon", "preconnect"):
            self.loads.append(values.get("href", ""))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a network."""
    pytest.importorskip("zensical", reason="the site's generator is not installed")
    folder = tmp_path_factory.mktemp("site")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    with pytest.MonkeyPatch.context() as changed:
        for name in ("http_proxy", "https_proxy"):
            changed.setenv(name, "http://127.0.0.1:9")
        return site.build(folder)


@pytest.mark.slow
def test_the_site_holds_together(built: Path) -> None:
    """No page fetches anything, and every link of the site leads to a page and a heading."""
    pages = {path: Addresses(path.read_text("utf-8")) for path in built.rglob("*.html")}
    assert len(pages) > 50
    dead = []
    for path, page in pages.items():
        assert [load for load in page.loads if re.match(r"(https?:)?//", load)] == [], path
        for link in page.links:
            target, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:", target) or path.name == "404.html":
                continue
            file = (path.parent / target).resolve() if target else path
            file = file / "index.html" if file.is_dir() else file
            known = pages[file].ids if file in pages else {""}
            if not file.is_file() or (anchor and anchor not in known):
                dead.append(f"{path.relative_to(built)}: {link}")
    assert dead == []
    assert (built / "search.js").stat().st_size > 100_000


@pytest.mark.slow
def test_every_page_fits_a_phone(built: Path, open_file: Any) -> None:
    """Wide tables scroll in themselves; nothing is fetched (the fixture looks)."""
    page = open_file(built / "index.html", width=390, height=800)
    wide = {}
    for path in sorted(built.rglob("[!4]*.html")):  # 404.html is for a server alone
        page.goto(path.as_uri())
        wide[path.relative_to(built).as_posix()] = page.evaluate(
            "document.documentElement.scrollWidth"
        )
    assert {name: width for name, width in wide.items() if width > 390} == {}


# --- pages with Python in them ---


def test_the_reference_is_what_the_code_says() -> None:
    written = (DOCS / "reference-python.md").read_text("utf-8")
    assert written == reference(), "run: python -m research.results.python_reference"
    assert " at 0x" not in written


@pytest.mark.slow
def test_the_page_shows_what_its_code_shows() -> None:
    written = (DOCS / "python.md").read_text("utf-8")
    assert run_pages.run_markdown(written) == written, "run: python -m research.results.run_pages"


@pytest.mark.slow
def test_the_tour_shows_what_its_code_shows() -> None:
    written = json.loads((DOCS / "tour.ipynb").read_text("utf-8"))
    assert shown(run_pages.run_notebook(written)) == shown(written), (
        "run: python -m research.results.run_pages"
    )


def shown(page: dict[str, Any]) -> list[list[str]]:
    """What each cell shows, but for pictures: fonts differ from machine to machine."""
    return [
        [
            "".join(text)
            for output in cell.get("outputs", ())
            for kind, text in (output.get("data") or {"text/plain": output.get("text")}).items()
            if kind.startswith("text/")
        ]
        for cell in page["cells"]
    ]
