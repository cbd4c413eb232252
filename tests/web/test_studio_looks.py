"""How the pages look in a real browser: nothing cut off, readable, explained, and by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.ei.labels import Label
from realtalk.web.app import Server
from realtalk.web.session import StudioSession
from realtalk.web.turn_labels import TurnLabels
from studio_browser import CHAT, NEEDED, base_of, opened
from studio_server import open_studio, small_corpus

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import Browser, Locator, Page, expect

pytestmark = NEEDED
pytest_plugins = ["studio_pages"]

LABEL = Label(
    sentiment="negative", sentiment_p=0.9, emotion="anticipation", emotion_p=0.5,
    reflective=True, reflective_p=0.8, grounding=True, grounding_p=0.7, intimacy=0.3, empathy=2.4,
    emotional_reaction=1, interpretation=1, exploration=0,
)  # fmt: skip
LENGTHS = (1, 3, 12, 60)  # words; where the strip stands depends on it


def odd_chats() -> tuple[Chat, ...]:
    """Messages of every length by two people, one message alone, and eight people."""
    people = ("Ilse", "Omar")
    said = tuple(
        Message(f"D1:{at}", people[at % 2], None, "word " * LENGTHS[at // 2 % 4])
        for at in range(16)
    )
    pair = Chat("pair", people, (Session(1, None, said),))
    names = ("שלום בן-גוריון", "x" * 80)
    alone = Chat("alone", names, (Session(1, None, (Message("D1:1", names[0], None, "היי"),)),))
    many = tuple(f"Person {at}" for at in range(8))
    spoken = tuple(Message(f"D1:{at}", many[at], None, f"hello {at}") for at in range(2, 8))
    return pair, alone, Chat("group", many, (Session(1, None, spoken),))


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    chats = (*small_corpus().chats, *odd_chats())
    labels = {c.id: TurnLabels({message.id: LABEL for message in c.messages}) for c in chats}
    with open_studio(tmp_path, Corpus("harbour", "realtalk", chats), labels) as made:
        yield made


def sizes(browser: Browser, server: Server, *wanted: tuple[int, str]) -> Iterator[Page]:
    """The library at widths and in schemes."""
    for width, scheme in wanted:
        dark = "dark" if scheme == "dark" else "light"
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme=dark,  # type: ignore[arg-type]
        )
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.goto(server.url)
        page.wait_for_selector(".book")
        yield page
        context.close()


def is_on_top(box: Locator) -> bool:
    """Whether a box is seen up to its (rounded) corners, not covered and not cut off."""
    return bool(
        box.evaluate(
            """(box) => {
              const at = box.getBoundingClientRect();
              return [at.left + 6, at.right - 6].every((x) => [at.top + 6, at.bottom - 6].every(
                (y) => box.contains(document.elementFromPoint(x, y))));
            }"""
        )
    )


@pytest.mark.slow
def test_all_measures_are_seen_wherever_a_message_stands(browser: Browser, server: Server) -> None:
    for page in sizes(browser, server, (1280, "light"), (1000, "light"), (390, "dark")):
        page.goto(f"{base_of(server)}chat/1")
        page.wait_for_selector(".row .ei")
        page.wait_for_selector("#panel h3", state="attached")
        rows = page.locator(".row")
        for at in range(rows.count()):
            strip = rows.nth(at).locator(".ei")
            strip.scroll_into_view_if_needed()
            strip.focus()
            tip = strip.locator(".tip")
            expect(tip).to_be_visible()
            page.evaluate("() => new Promise((done) => requestAnimationFrame(done))")
            assert is_on_top(tip), (page.viewport_size, at, tip.bounding_box())


# Every text that is seen against what is behind it, as WCAG 2 counts; what is disabled is exempt.
CONTRAST = """() => {
  const numbers = (colour) => {
    const found = colour.match(/[\\d.]+/g).map(Number);
    const scale = colour.startsWith("color(") ? 255 : 1;
    return [found[0] * scale, found[1] * scale, found[2] * scale, found[3] ?? 1];
  };
  const over = (top, under) =>
    [0, 1, 2].map((at) => top[at] * top[3] + under[at] * (1 - top[3])).concat(1);
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((value) => value / 255)
      .map((value) => (value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const poor = new Set();
  let seen = 0;
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const looked = (element, ink, said) => {
    let fade = 1, ground = [255, 255, 255, 1];
    const around = [];
    for (let each = element; each; each = each.parentElement) around.unshift(each);
    for (const style of around.map((each) => getComputedStyle(each))) {
      ground = over(numbers(style.backgroundColor), ground);
      fade *= Number(style.opacity);
    }
    if (fade < .05) return; // not there until it is pointed at
    seen += 1;
    const colour = numbers(ink);
    colour[3] *= fade;
    const [more, less] = [light(over(colour, ground)), light(ground)].sort((a, b) => b - a);
    const ratio = (more + .05) / (less + .05);
    const where = `${element.tagName}.${element.className}`;
    if (ratio < 4.5) poor.add(`${ratio.toFixed(2)} ${where} ${said}`);
  };
  const skipped = "script, template, option, [disabled], .piece.empty";
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, said = texts.currentNode.textContent.trim();
    if (!said || element.closest(skipped)) continue;
    if (!element.checkVisibility({ visibilityProperty: true })) continue;
    looked(element, getComputedStyle(element).color, said.slice(0, 30));
  }
  for (const field of document.querySelectorAll("[placeholder]"))
    if (field.checkVisibility({ visibilityProperty: true }))
      looked(field, getComputedStyle(field, "::placeholder").color, field.placeholder);
  return { seen, poor: [...poor] };
}"""


def readable(page: Page, where: str) -> None:
    found = page.evaluate(CONTRAST)
    assert found["seen"] > 5 and found["poor"] == [], (where, found)


@pytest.mark.slow
def test_every_text_has_contrast(browser: Browser, server: Server, studio: StudioSession) -> None:
    """At least 4.5 to 1, in light and dark, also of what opens on demand."""
    body = {"text": "Who?", "answer": "Noor", "category": "temporal", "evidence": ["D2:2"]}
    studio.open_chat(0)
    for name in ("Ana", "Bo"):
        item = studio.store.create(CHAT, "question", name, body)
    studio.store.create_all(CHAT, "final", [("question", body, item.id)])
    event = {"session": 1, "speaker": "Ilse", "text": "Ilse moves.", "date": "May"}
    first = studio.store.create(CHAT, "event", "Ana", event)
    studio.store.change(first.id, "Ana", 1, {"text": "one"})
    studio.store.change(first.id, "Ana", 1, {"text": "other"})  # a conflict
    for page in sizes(browser, server, (1280, "light"), (1280, "dark")):
        look(page, server)


def look(page: Page, server: Server) -> None:
    press = page.keyboard.press
    base = base_of(server)
    readable(page, "library")
    page.locator("[data-open=person]").click()
    readable(page, "person")
    press("Escape")
    page.goto(f"{base}chat/0")
    page.wait_for_selector("#panel .clash")
    page.locator("#m1 .ei").focus()
    readable(page, "measures")
    press("/")
    page.keyboard.type("flat")
    page.wait_for_selector("#hits mark")
    readable(page, "hits")
    press("Escape")
    page.locator("#questions summary").first.click()
    page.locator("#questions [data-pick]").first.click()
    page.locator("#m5 .bubble").click()
    readable(page, "picking")
    press("Escape")
    for dialog in ("keys", "files"):
        page.locator(f"[data-open={dialog}]").click()
        readable(page, dialog)
        press("Escape")
    for bad in ("false", "true"):
        page.evaluate(f"import('/static/talk.js').then((talk) => talk.toast('a line', {bad}))")
        expect(page.locator("#toast")).to_have_css("opacity", "1")
        readable(page, f"notice {bad}")
    for state in ("saved", "saving", "failed", "refused"):
        page.evaluate(f"import('/static/talk.js').then((talk) => talk.saved('{state}'))")
        readable(page, state)
    for path in ("chat/2", "chat/3", "chat/0/review?first=Ana&second=Bo", "chat/2/review"):
        page.goto(base + path)
        if not path.endswith("review") and "?" not in path:
            page.wait_for_selector("#panel h3")
        readable(page, path)


@pytest.mark.slow
def test_an_event_of_everybody_who_speaks_can_be_added(
    page: Page, server: Server, trouble: list[str]
) -> None:
    other = opened(page.context, server, trouble, chat=3)
    expect(other.locator(".new-event")).to_have_count(6)
    other.get_by_label("New event of Person 7").fill("Person 7 waves.")
    other.keyboard.press("Enter")
    expect(other.locator(".card.event")).to_have_count(1)
