"""Guess: rounds that are the same for all, picks that are kept at once, and what comes of them;
in a real browser by keyboard alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

import realtalk as rt
from axe_checks import assert_nothing_bars, on_a_phone
from file_modes import mode
from guess_chats import guessable
from guess_rooms import BOAT, SECRET, guess_room, guess_studio, take
from page_browser import expect, seeing
from realtalk.evals.run import Run
from realtalk.pages.report import make_report
from realtalk.persona.guessing import people_figures
from realtalk.web.app import Server
from realtalk.web.guessing import GuessRoom
from realtalk.web.session import StudioSession
from refusals import refused
from studio_browser import NEEDED, base_of

if TYPE_CHECKING:
    from playwright.sync_api import Page


pytest_plugins = ["studio_pages"]


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    made = guess_studio(tmp_path)
    yield made
    made.close()


def test_everybody_has_the_same_rounds_in_an_order_of_their_own(tmp_path: Path) -> None:
    room, again = guess_room(tmp_path / "a"), guess_room(tmp_path / "b")
    rounds = room.rounds(BOAT)
    assert rounds == again.rounds(BOAT) != guess_room(tmp_path / "c", seed=1).rounds(BOAT)
    assert len(rounds) == 12 and all(len(each.replies) == 4 for each in rounds)
    orders = {judge: [room.order(each, judge) for each in rounds] for judge in ("Ana", "Bo")}
    assert orders["Ana"] != orders["Bo"]
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders["Ana"])
    for lineup in rounds:
        assert {SECRET, "echo", "Ines"} <= {reply.writer for reply in lineup.replies}
    pairs = guess_room(tmp_path / "d", replies=2).rounds(BOAT)
    assert {tuple(sorted(r.origin for r in each.replies)) for each in pairs} == {
        ("real", "simulated")
    }
    assert {reply.writer for each in pairs for reply in each.replies} == {SECRET, "echo", "Ines"}
    with refused("3 replies cannot be shown"):
        guess_room(tmp_path / "e", replies=3)


def test_without_a_run_people_are_told_from_people(tmp_path: Path) -> None:
    room = GuessRoom(guessable(), folder=tmp_path / "people")
    rounds = room.rounds(BOAT)
    assert {each.turn.prompt.speaker for each in rounds} == {"Ines", "Juno"}
    assert not any(reply.origin == "simulated" for each in rounds for reply in each.replies)
    assert room.knows("Ana") is None and not (tmp_path / "people").exists()


def test_every_pick_is_kept_at_once_and_gone_on_with(tmp_path: Path) -> None:
    place = tmp_path / "g"
    room = guess_room(place)
    first = room.rounds(BOAT)[0].turn.prompt.place
    with refused("says first whether they know the chat"):
        room.pick(BOAT, first, "Ana", 0)
    room.introduce("Ana", knows=True)
    room.pick(BOAT, first, "Ana", 2)
    assert [row["variant"] for row in Run.load(place).rows] == ["Ana"]  # the room is open still
    room.pick(BOAT, first, "Ana", 1)  # another mind
    for turn, reply in ((first, 4), (999, 0)):
        with refused("no such"):
            room.pick(BOAT, turn, "Ana", reply)
    room.close()
    assert mode(place) == 0o700 and mode(place / "rows.jsonl") == 0o600
    later = guess_room(place)
    assert later.knows("Ana") is True and later.picks(BOAT, "Ana") == {first: 1}
    assert later.picks(BOAT, "Bo") == {} and len(later.rows) == 1
    later.close()
    with refused(r"made with other settings \(replies.seed"):
        guess_room(place, seed=5).check()


def test_shares_agreement_and_acquaintances(tmp_path: Path, run: Any) -> None:
    room = guess_room(tmp_path / "g")
    for judge, knows in (("Ana", True), ("Bo", True), ("Cy", False)):
        room.introduce(judge, knows=knows)
    take(room, "Ana", ["real"] * 12)
    take(room, "Bo", ["real"] * 9 + ["simulated"] * 3)
    take(room, "Cy", ["simulated"] * 12)
    found = people_figures(room.rows)
    room.close()
    shares = {each.writer: each for each in found.taken}
    person = shares["the person"]
    assert person.all.value == pytest.approx(21 / 36) and person.all.n == 36
    assert person.acquainted.value == pytest.approx(21 / 24) and person.strangers.value == 0
    assert person.difference.value == pytest.approx(21 / 24)
    assert person.difference.low is not None and person.difference.low > 0.5
    made = [shares[name].all.value or 0 for name in (SECRET, "echo")]
    assert sum(made) == pytest.approx(15 / 36) and person.chance == 0.25
    agreed = {each.judges: each.figure for each in found.agreement}
    assert agreed["Ana and Bo"].value is not None and agreed["Ana and Bo"].value > 0.5
    assert agreed["Ana and Cy"].value is not None and agreed["Ana and Cy"].value < 0.1
    assert agreed["all 3"].n == 12
    assert [(each.judge, each.knows, each.right.value) for each in found.judges] == [
        ("Ana", True, 1.0),
        ("Bo", True, 0.75),
        ("Cy", False, 0.0),
    ]
    (told,) = run("runs table them=g --json").told
    assert told["people"]["taken"][0]["writer"] == "the person"
    out = run("runs table g").done.out
    assert "Krippendorff's alpha" in out and SECRET in out
    report = make_report([tmp_path / "g"])
    (section,) = (each for each in report.sections if each.id.startswith("who-wrote-it-"))
    titles = [each.title for each in section.tables]
    assert {"People: taken for real", "People: agreement between judges"} <= set(titles)
    assert any(row[1] == "who wrote it" for row in report.sections[-1].tables[0].rows)
    stored = rt.Run.load(tmp_path / "g")
    assert stored.name == "people" and set(stored.summary().frame["variant"]) == {"Ana", "Bo", "Cy"}
    assert set(stored.changes(stored)) == {"Ana", "Bo", "Cy"}  # each judge by themselves
    assert len(stored.compare(stored, "Ana")) == 1


def test_no_simulator_is_named_and_no_text_is_exported(client: httpx.Client) -> None:
    assert "/chat/1/guess" in client.get("/chat/1").text
    assert "nothing to guess" in client.get("/chat/0/guess").text
    page = client.get("/chat/1/guess").text
    assert "Do you know these people" in page and "data-place" not in page
    assert client.post("/chat/1/guess", json={"turn": 1, "place": 0}).status_code == 400
    assert client.post("/guess/judge", json={"knows": False}).status_code == 201
    seen = [client.get("/chat/1/guess").text]
    for number in range(12):
        shown = client.get(f"/chat/1/guess/round?at={number}").text
        turn = int(shown.partition('data-turn="')[2].partition('"')[0])
        answer = client.post("/chat/1/guess", json={"turn": turn, "place": number % 4})
        assert answer.status_code == 201
        seen += [shown, answer.text]
    assert "that was all" in seen[-1]
    for text in seen:
        assert SECRET not in text and "simulat" not in text and "echo" not in text
    assert client.post("/chat/1/guess", json={"turn": 1, "place": 9}).status_code == 422
    assert client.post("/chat/1/guess", json={"turn": 1}).status_code == 422
    results = client.get("/guess/results").text
    assert SECRET in results and "the person" in results
    rows = [json.loads(line) for line in client.get("/guess/export").text.splitlines()]
    assert len(rows) == 12 and {row["judge"] for row in rows} == {"Ana"}
    assert {row["knows"] for row in rows} == {False}
    said = {message.text for chat in guessable().chats for message in chat.messages}
    assert not any(text in json.dumps(rows) for text in said)


# --- in a real browser ---


PLACE = "chat/1/guess"


@pytest.fixture
def page(page: Page) -> Page:
    expect(page.locator(".guess[data-ready]")).to_be_visible()  # keys and clicks are heard
    return page


@NEEDED
def test_replies_are_picked_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    see = seeing(page)
    press, guessed = page.keyboard.press, page.locator("#guessed")
    press("y")
    see('[data-ready] [data-place="1"]').to_be_visible()  # the page comes anew
    expect(guessed).to_have_text("0 of 12 guessed")
    press("9")  # no such reply
    press("2")
    expect(guessed).to_have_text("1 of 12 guessed")
    see("#asks").to_be_focused()
    (row,) = Run.load(tmp_path / "notes.guesses").rows
    assert (row["judge"], row["knows"]) == ("Ana", True)
    press("b")  # the one before, with what was picked
    see('[data-place="1"]').to_have_attribute("aria-pressed", "true")
    press("4")
    see('[data-place][aria-pressed="true"]').to_have_count(0)
    press("Tab")  # from the question to the first reply
    see('[data-place="0"]').to_be_focused()
    press("Enter")
    expect(guessed).to_have_text("2 of 12 guessed")
    assert SECRET not in page.content()
    page.reload()  # goes on where it was, and asks nobody again
    see(".guess[data-ready]").to_be_visible()
    expect(guessed).to_have_text("2 of 12 guessed")
    for number in range(3, 13):
        press("1")
        expect(guessed).to_have_text(f"{number} of 12 guessed")
    see("#asks").to_have_text("Thank you, that was all.")
    page.get_by_role("link", name="Results").press("Enter")
    expect(page.locator("table").first).to_contain_text("the person")


@NEEDED
@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_the_way(
    scheme: str, page: Page, server: Server, studio: StudioSession
) -> None:
    """axe finds no violation, and everything fits on a phone."""
    see = seeing(page)
    on_a_phone(page, scheme)
    page.locator('[data-knows="false"]').click()
    page.locator('[data-ready] [data-place="1"]').click()  # the page comes anew
    see("#guessed").to_have_text("1 of 12 guessed")
    page.locator('[data-step="-1"]').click()
    see('[aria-pressed="true"]').to_have_count(1)
    for path in ("", "guess/results"):
        if path:
            page.goto(base_of(server) + path)
        assert_nothing_bars(page)
