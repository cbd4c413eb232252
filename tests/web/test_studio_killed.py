"""Two clients edit while the server is killed: what was acknowledged is there."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from realtalk.web.store import Store
from studio_server import entered, new_item, run_studio

pytest.importorskip("fastapi", reason="the extra studio is not installed")

CHAT = "Chat_1_Mara_Theo"


class Annotator:
    """Makes and changes questions, and remembers every answer that it got."""

    def __init__(self, name: str, edits: int) -> None:
        self.name = name
        self.left = edits
        self.texts: dict[str, str] = {}  # item → what the server acknowledged last
        self.doubtful: dict[str, str] = {}  # item → sent, but no answer came
        self.versions: dict[str, int] = {}
        self.trouble: list[str] = []

    def work(self, url: str) -> None:
        chance = random.Random(f"{self.name} {self.left}")
        with entered(url) as client:
            client.post("/annotator", json={"name": self.name})
            while self.left:
                try:
                    self._edit(client, chance)
                except httpx.TransportError:
                    return  # killed; the next server goes on
                self.left -= 1

    def _edit(self, client: httpx.Client, chance: random.Random) -> None:
        request = f"{self.name}-{self.left}-{chance.random()}"
        text = f"{self.name} {self.left}"
        if not self.texts or chance.random() < 0.3:
            answer = client.post(
                "/chat/0/items", json=new_item("question", {"text": text}, request)
            )
        else:
            id_ = chance.choice(sorted(self.texts))
            self.doubtful[id_] = text
            form: dict[str, Any] = {"version": self.versions[id_], "request": request}
            answer = client.patch(f"/items/{id_}", json={**form, "fields": {"text": text}})
            if answer.status_code == 409:  # an edit before the kill was kept after all
                self._again(answer.json())
                return
            del self.doubtful[id_]
        if answer.status_code not in (200, 201):
            self.trouble.append(f"{answer.status_code}")
            return
        item = answer.json()["item"]
        self.texts[item["id"]], self.versions[item["id"]] = text, item["version"]

    def _again(self, conflict: dict[str, Any]) -> None:
        for item in (conflict["current"], conflict["kept"]):
            self.texts[item["id"]] = item["body"]["text"]
            self.versions[item["id"]] = item["version"]
        self.doubtful.pop(conflict["current"]["id"], None)


def hammer(path: Path, edits: int, kills: int) -> tuple[list[Annotator], int]:
    people = [Annotator("Ana", edits // 2), Annotator("Bo", edits // 2)]
    killed = 0
    late = time.monotonic() + 300
    while any(person.left for person in people):
        assert time.monotonic() < late, "the edits do not get on"
        with run_studio("sample", path) as running:
            threads = [
                threading.Thread(target=person.work, args=(running.url,)) for person in people
            ]
            before = sum(person.left for person in people)
            for thread in threads:
                thread.start()
            if killed < kills:
                share = edits // (kills + 1)
                enough = max(1, before - share)
                while sum(p.left for p in people) > enough and any(t.is_alive() for t in threads):
                    time.sleep(0.002)
                running.kill()
                killed += 1
            for thread in threads:
                thread.join()
    return people, killed


def holds(path: Path, people: list[Annotator]) -> None:
    store = Store.open(path)
    try:
        for person in people:
            assert not person.trouble
            there = {item.id: item.body["text"] for item in store.items(CHAT, person.name)}
            for id_, text in person.texts.items():
                # An edit that was sent as the server died may be there too; nothing else may.
                assert id_ in there and there[id_] in (text, person.doubtful.get(id_)), id_
    finally:
        store.close()


@pytest.mark.slow
def test_a_thousand_edits_and_five_kills(tmp_path: Path) -> None:
    people, killed = hammer(tmp_path / "notes.sqlite", 1000, 5)
    assert killed == 5
    holds(tmp_path / "notes.sqlite", people)
