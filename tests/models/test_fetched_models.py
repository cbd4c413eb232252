"""Models from their makers' address: a server of our own that knows parts, cuts off, and lies."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from file_modes import mode
from loopback import QuietHandler, serving
from realtalk.errors import RealtalkError
from realtalk.local import resuming
from realtalk.local.caches import survey
from realtalk.local.download import RemoteFile
from realtalk.local.resuming import unfinished
from realtalk.models.files import MODELS, LocalModel, get, inventory, path_of

WEIGHTS = b"GGUF" + bytes(range(256)) * 2000
NAME = MODELS["qwen2.5-0.5b"].file_name


@dataclass
class Home:
    """Where the model is published: what was asked of it, and how it misbehaves."""

    url: str = ""
    body: bytes = WEIGHTS
    faults: list[str] = field(default_factory=list)  # used up one per request
    ranges: list[str | None] = field(default_factory=list)

    @property
    def models(self) -> dict[str, LocalModel]:
        toy = replace(
            MODELS["qwen2.5-0.5b"],
            name="toy",
            size=len(WEIGHTS),
            sha256=hashlib.sha256(WEIGHTS).hexdigest(),
            url=f"{self.url}/{NAME}",
        )
        return {"toy": toy}

    def part(self, cache: Path) -> Path:
        toy = self.models["toy"]
        remote = RemoteFile(toy.file_name, toy.size, toy.sha256)
        return unfinished(remote, cache / "models" / NAME)


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    state = Home()
    monkeypatch.setattr(resuming, "PAUSE", 0.0)

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            asked = self.headers.get("Range")
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
        yield state


def test_a_model_arrives_whole_and_is_not_fetched_twice(home: Home, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = get(
        "toy", tmp_path, lambda done, total, _: seen.append((done, total)), models=home.models
    )
    assert path == tmp_path / "models" / NAME
    assert path.read_bytes() == WEIGHTS and mode(path) == 0o600
    assert [each.name for each in path.parent.iterdir()] == [NAME]
    assert seen[-1] == (len(WEIGHTS), len(WEIGHTS)) and seen == sorted(seen)
    assert get("toy", tmp_path, models=home.models) == path_of("toy", tmp_path, models=home.models)
    assert home.ranges == [None]
    assert inventory(tmp_path, models=home.models)[0].state == "verified"


def test_an_interrupted_download_goes_on_where_it_stopped(home: Home, tmp_path: Path) -> None:
    home.faults = ["cut", "503", "503"]
    with pytest.raises(RealtalkError, match="goes on where it stopped") as said:
        get("toy", tmp_path, models=home.models)
    assert "\n" not in str(said.value) and "--from FILE" in str(said.value)
    part = home.part(tmp_path)
    held = part.stat().st_size
    assert 0 < held < len(WEIGHTS) and mode(part) == 0o600
    assert WEIGHTS.startswith(part.read_bytes())
    assert not (tmp_path / "models" / NAME).exists()
    (item,) = survey(tmp_path)  # the cache knows it as ours and not finished
    assert item.is_temporary and item.files == (part,)
    home.ranges.clear()
    assert get("toy", tmp_path, models=home.models).read_bytes() == WEIGHTS
    assert home.ranges == [f"bytes={held}-"]
    assert not part.exists()


def test_a_cut_within_a_call_is_mended_by_the_next_request(home: Home, tmp_path: Path) -> None:
    home.faults = ["cut", "cut"]
    assert get("toy", tmp_path, models=home.models).read_bytes() == WEIGHTS
    first, second, third = home.ranges
    assert first is None and second is not None and third is not None
    assert int(second[6:-1]) < int(third[6:-1])


def test_a_server_without_parts_gives_all_of_it_again(home: Home, tmp_path: Path) -> None:
    home.faults = ["cut", "no parts"]
    assert get("toy", tmp_path, models=home.models).read_bytes() == WEIGHTS


@pytest.mark.parametrize("left", [WEIGHTS + b"more", WEIGHTS[::-1]])
def test_a_part_that_is_none_does_no_harm(home: Home, tmp_path: Path, left: bytes) -> None:
    part = home.part(tmp_path)
    part.parent.mkdir()
    part.write_bytes(left)
    if len(left) == len(WEIGHTS):  # whole and wrong: refused once, then fetched anew
        with pytest.raises(RealtalkError, match="wrong SHA-256"):
            get("toy", tmp_path, models=home.models)
    assert get("toy", tmp_path, models=home.models).read_bytes() == WEIGHTS
    assert home.ranges == [None]


@pytest.mark.parametrize(
    ("body", "line"),
    [(WEIGHTS[:-1] + b"?", "wrong SHA-256"), (WEIGHTS + b"?", "larger than published")],
)
def test_another_file_is_refused(home: Home, tmp_path: Path, body: bytes, line: str) -> None:
    home.body = body
    with pytest.raises(RealtalkError, match=line):
        get("toy", tmp_path, models=home.models)
    assert not (tmp_path / "models" / NAME).exists()
    assert home.part(tmp_path).stat().st_size == 0  # nothing of it is gone on with
    home.body = WEIGHTS
    assert get("toy", tmp_path, models=home.models).read_bytes() == WEIGHTS


def test_what_will_not_get_better_is_asked_once(home: Home, tmp_path: Path) -> None:
    home.faults = ["404"]
    with pytest.raises(RealtalkError, match="there is no such file"):
        get("toy", tmp_path, models=home.models)
    assert len(home.ranges) == 1


def test_without_a_connection_there_is_one_clear_line(home: Home, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        home.url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(RealtalkError, match="the connection failed") as said:
            get("toy", tmp_path, models=home.models)
    assert "\n" not in str(said.value) and "--from FILE" in str(said.value)


def test_a_file_at_hand_is_taken_without_asking(home: Home, tmp_path: Path) -> None:
    given = tmp_path / "blob"  # a hub's cache names files by their hash
    given.write_bytes(WEIGHTS)
    path = get("toy", tmp_path / "cache", at_hand=given, models=home.models)
    assert path.read_bytes() == WEIGHTS and given.exists()
    given.write_bytes(WEIGHTS[::-1])
    path.unlink()
    with pytest.raises(RealtalkError, match=r"not the published .*wrong SHA-256"):
        get("toy", tmp_path / "cache", at_hand=given, models=home.models)
    with pytest.raises(RealtalkError, match="cannot be read"):
        get("toy", tmp_path / "cache", at_hand=tmp_path / "missing", models=home.models)
    assert not home.ranges and not list((tmp_path / "cache" / "models").iterdir())


def test_two_do_not_write_into_one_file(home: Home, tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    part = home.part(tmp_path)
    part.parent.mkdir()
    with part.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(RealtalkError, match="another process is fetching it"):
            get("toy", tmp_path, models=home.models)
    assert not home.ranges


def test_the_larger_models_are_pinned_to_their_makers_files() -> None:
    for name in ("qwen2.5-0.5b", "qwen2.5-1.5b"):
        model = MODELS[name]
        assert model.url.startswith("https://huggingface.co/Qwen/") and model.url.endswith(
            f"/resolve/main/{model.file_name}"
        )
        assert len(model.sha256) == 64 and model.context == 32_768
