"""Downloads against a server of our own that can also fail in every way that servers do."""

from __future__ import annotations

import hashlib
import socket
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from loopback import QuietHandler, serving
from realtalk.api.data import get as data_get
from realtalk.files import download
from realtalk.files.download import DATASETS, Dataset, RemoteFile, get, inventory
from refusals import refused
from text_tables import rows

GOOD = b'{"messages": []}' * 20_000
SMALL = b"small"


@dataclass
class Server:
    """What the server was asked for, how it misbehaves, and where it is."""

    url: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[str]] = field(default_factory=dict)  # used up one a request
    sent: list[str] = field(default_factory=list)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            state.asked[self.path] += 1
            state.sent.append(self.command)
            body = state.files.get(self.path)
            queue = state.faults.get(self.path, [])
            fault = queue.pop(0) if queue else ""
            if fault.isdigit():
                self.send_error(int(fault))
                return
            if body is None:
                self.send_error(404)
                return
            self.send_response(200)
            if fault == "cut":
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            if fault == "truncated":
                body = body[: len(body) // 2]
            if fault == "wrong":
                body = body[:-1] + b"?"
            if fault == "flood":
                body = body * 3
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with serving(Handler) as state.url:
        yield state


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "PAUSE", 0.0)
    monkeypatch.delenv("REALTALK_DATA_URL", raising=False)
    monkeypatch.delenv("REALTALK_CACHE", raising=False)


def dataset(url: str, **files: bytes) -> dict[str, Dataset]:
    entries = tuple(
        RemoteFile(f"{name}.json", len(data), hashlib.sha256(data).hexdigest())
        for name, data in files.items()
    )
    return {"toy": Dataset("toy", f"{url}/home", entries, "none", "nobody")}


def test_fetches_checks_and_does_not_fetch_again(server: Server, tmp_path: Path) -> None:
    toy = dataset(server.url, a=GOOD, b=SMALL)
    server.files = {"/home/a.json": GOOD, "/home/b.json": SMALL}
    steps: list[tuple[int, int, str]] = []
    folder = get(
        "toy",
        tmp_path,
        progress=lambda done, total, what: steps.append((done, total, what)),
        datasets=toy,
    )
    assert folder == tmp_path / "toy"
    assert (folder / "a.json").read_bytes() == GOOD
    assert (folder / "b.json").read_bytes() == SMALL
    assert sorted(path.name for path in folder.iterdir()) == ["a.json", "b.json"]
    done = [step[0] for step in steps]
    assert done == sorted(done)
    assert steps[-1] == (len(GOOD) + len(SMALL), len(GOOD) + len(SMALL), "b.json")

    get("toy", tmp_path, datasets=toy)
    assert server.asked == {"/home/a.json": 1, "/home/b.json": 1}
    assert set(server.sent) == {"GET"}


@pytest.mark.parametrize("spoiled", [b"", GOOD[:-5], b"?" + GOOD[1:]])
def test_a_damaged_file_is_fetched_again(server: Server, tmp_path: Path, spoiled: bytes) -> None:
    server.files = {"/home/a.json": GOOD}
    held = tmp_path / "toy" / "a.json"
    held.parent.mkdir()
    held.write_bytes(spoiled)
    get("toy", tmp_path, datasets=dataset(server.url, a=GOOD))
    assert held.read_bytes() == GOOD


@pytest.mark.parametrize("fault", ["cut", "truncated", "wrong", "503", "429"])
def test_trouble_that_passes_is_waited_out(server: Server, tmp_path: Path, fault: str) -> None:
    server.files = {"/home/a.json": GOOD}
    server.faults = {"/home/a.json": [fault, fault]}
    assert get("toy", tmp_path, datasets=dataset(server.url, a=GOOD)).read_bytes() == GOOD
    assert server.asked["/home/a.json"] == 3


LASTING = """
    cut       | broke off             | 3
    truncated | SHA-256               | 3
    wrong     | SHA-256               | 3
    flood     | larger than published | 1
    403       | answered 403          | 1
    500       | answered 500          | 3
    404       | 404                   | 1
"""


@pytest.mark.parametrize(("fault", "says", "asked"), rows(LASTING))
@pytest.mark.parametrize("before", [None, b"an older copy"])
def test_trouble_that_stays_leaves_nothing_new(
    server: Server, tmp_path: Path, *, fault: str, says: str, asked: str, before: bytes | None
) -> None:
    server.files = {"/home/a.json": GOOD}
    server.faults = {"/home/a.json": [fault] * 9}
    held = tmp_path / "toy" / "a.json"
    if before is not None:
        held.parent.mkdir()
        held.write_bytes(before)
    with refused() as caught:
        get("toy", tmp_path, datasets=dataset(server.url, a=GOOD))
    line = str(caught.value)
    assert says in line
    assert "a.json" in line
    assert "\n" not in line
    assert caught.value.fix
    assert server.asked["/home/a.json"] == int(asked)
    left = list(held.parent.iterdir()) if held.parent.exists() else []
    assert left == ([held] if before is not None else [])


def test_a_dead_server_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with refused(r"a\.json could not be fetched: the connection"):
        get("toy", tmp_path, datasets=dataset(f"http://127.0.0.1:{port}", a=SMALL))
    assert not (tmp_path / "toy" / "a.json").exists()


def test_mirrors_hold_files_in_a_folder_or_directly(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = dataset("http://127.0.0.1:1", a=SMALL, b=GOOD)
    server.files = {"/m/toy/a.json": SMALL, "/m/toy/b.json": GOOD}
    get("toy", tmp_path / "one", base_url=f"{server.url}/m/", datasets=toy)
    server.files = {"/m/a.json": SMALL, "/m/b.json": GOOD}
    monkeypatch.setenv("REALTALK_DATA_URL", f"{server.url}/m")
    get("toy", tmp_path / "two", datasets=toy)
    assert {held.state for held in inventory(tmp_path / "two", datasets=toy)} == {"verified"}
    # The second file is looked for where the first one was found.
    assert server.asked["/m/toy/b.json"] == 1


@pytest.mark.parametrize("url", ["file:///etc", "ftp://127.0.0.1/x", "/some/folder", "http://"])
def test_only_web_addresses(tmp_path: Path, url: str) -> None:
    with refused("not a web address"):
        get("toy", tmp_path, base_url=url, datasets=dataset("http://x", a=SMALL))


def test_inventory_says_what_is_there(tmp_path: Path) -> None:
    toy = dataset("http://x", a=GOOD, b=SMALL, c=SMALL)
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "a.json").write_bytes(GOOD)
    (tmp_path / "toy" / "b.json").write_bytes(b"smale")
    held = inventory(tmp_path, datasets=toy)
    assert [(each.path.name, each.size, each.state) for each in held] == [
        ("a.json", len(GOOD), "verified"),
        ("b.json", 5, "damaged"),
        ("c.json", 0, "missing"),
    ]


def test_the_cache_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "here"))
    assert download.cache_folder() == tmp_path / "here"
    assert download.cache_folder(tmp_path) == tmp_path
    monkeypatch.delenv("REALTALK_CACHE")
    assert "realtalk" in str(download.cache_folder())


def test_an_unwritable_cache_is_one_line(server: Server, tmp_path: Path) -> None:
    server.files = {"/home/a.json": SMALL}
    (tmp_path / "file").write_text("in the way")
    with refused("REALTALK_CACHE"):
        get("toy", tmp_path / "file", datasets=dataset(server.url, a=SMALL))


def test_a_mistyped_name_is_corrected() -> None:
    with refused("unknown-dataset"):
        get("lokomo")


def test_a_file_without_a_hash_is_held_against_its_first_arrival(
    server: Server, tmp_path: Path
) -> None:
    toy = {"toy": Dataset("toy", f"{server.url}/c0ffee", (RemoteFile("1/a.json"),), "", "")}
    server.files = {"/c0ffee/1/a.json": GOOD}
    held = tmp_path / "toy" / "1" / "a.json"
    held.parent.mkdir(parents=True)
    held.write_bytes(SMALL)  # of which nothing is known
    assert [each.state for each in inventory(tmp_path, datasets=toy)] == ["damaged"]
    assert get("toy", tmp_path, datasets=toy).read_bytes() == GOOD
    line = f"{hashlib.sha256(GOOD).hexdigest()}  1/a.json\n"
    assert (tmp_path / "toy" / "SHA256SUMS").read_text() == line
    get("toy", tmp_path, datasets=toy)
    assert server.asked == {"/c0ffee/1/a.json": 1}
    held.write_bytes(GOOD + b" ")
    assert [each.state for each in inventory(tmp_path, datasets=toy)] == ["damaged"]
    get("toy", tmp_path, datasets=toy)
    assert held.read_bytes() == GOOD


def test_the_licence_is_told_before_the_first_download(
    server: Server,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("REALTALK_DATA_URL", server.url)
    server.files = {f"/locomo-audit/errors_conv_{at}.json": b"[]" for at in range(10)}
    for told in (2, 0):
        caplog.clear()
        data_get("locomo-audit", cache=tmp_path)
        assert len(caplog.messages) == told
        for part, line in zip(("CC BY-NC", "10 of its 10"), caplog.messages, strict=False):
            assert part in line


AT_HAND = {"beam-100k": "memory_sets/beam/100K", "realmem": "memory_sets/realmem/dataset"}
AT_HAND |= {"locomo-plus": "memory_sets/locomo_plus", "realtalk": "realtalk", "locomo": "locomo"}


def test_the_published_files_are_the_ones_at_hand(data: Path) -> None:
    for name, folder in AT_HAND.items():
        for file in DATASETS[name].files:
            path = data / folder / file.name
            if file.sha256 and path.exists():
                content = path.read_bytes()
                digest = hashlib.sha256(content).hexdigest()
                assert (len(content), digest) == (file.size, file.sha256)
    assert all(each.url.startswith("https://") for each in DATASETS.values())
