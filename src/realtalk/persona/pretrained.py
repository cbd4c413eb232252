"""A folder with a causal language model, or a model's name → the model, ready to train or to write.

    found = load("my-model")                  # any Hugging Face folder with safetensors
    found = load("smollm2")                   # from the GGUF of `realtalk models get smollm2`
    found.title, found.sha256, found.device   → ("my-model", "9f2c…", "cpu")

bf16 on a GPU, fp32 on a CPU. A GGUF is converted once into the cache, as bf16 safetensors.
Needs the extra `train`. Weights that would have to be unpickled are refused.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

from realtalk.encoders import train_extra
from realtalk.errors import RealtalkError
from realtalk.files.offline import no_hub
from realtalk.files.offline import quiet as quietly
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import whole_folder

_GGUF = ".gguf"


@dataclass(frozen=True)
class PretrainedModel:
    """A loaded model. `sha256` is of its weights; `window` is how many tokens fit."""

    model: Any
    tokenizer: Any
    title: str
    sha256: str
    device: str
    precision: str
    window: int


library = partial(train_extra.library, what="training and running models in this process")


def settle(device: str = "auto") -> tuple[str, str]:
    """The device and its precision: bf16 on a GPU that has it, else fp32."""
    torch = library("torch")
    if device not in ("auto", "cpu", "cuda"):
        raise RealtalkError(f"unknown device '{device}'", fix="known: auto, cpu, cuda")
    where = train_extra.present_device(torch, device)
    return where, "bf16" if where == "cuda" and torch.cuda.is_bf16_supported() else "fp32"


def find(name: str | Path, cache: Path | None = None, progress: Progress = silent) -> Path:
    """The folder of a model: one that is given, or that of a name that `models get` knows."""
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    from realtalk.models.files import MODELS, path_of

    if path.is_file() and path.suffix == _GGUF:
        gguf = path
    elif str(name) in MODELS:
        gguf = path_of(str(name), cache)
    else:
        raise RealtalkError(
            "no such model",
            where=str(name),
            fix=f"give a Hugging Face folder, a .gguf file, or one of: {', '.join(MODELS)}",
        )
    folder = gguf.with_name(f"{gguf.stem}-bf16")
    if not folder.is_dir():
        progress(0, 0, f"converting {gguf.name}, once")
        convert_gguf(gguf, folder)
    return folder


def convert_gguf(gguf: Path, folder: Path) -> None:
    """A GGUF as a Hugging Face folder: bf16 safetensors, tokenizer and chat template."""
    torch, transformers = library("torch"), library("transformers")
    library("gguf")
    where = {"gguf_file": gguf.name, "local_files_only": True}
    # The conversion's bar is not one that transformers can switch off.
    with quiet(), no_hub(), redirect_stderr(StringIO()):
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(gguf.parent), **where)
        loaded = transformers.AutoModelForCausalLM.from_pretrained(
            str(gguf.parent), dtype=torch.bfloat16, **where
        )
        settings = loaded.config.to_dict()
        settings.pop("quantization_config", None)  # with it, saving is refused
        config = type(loaded.config).from_dict(settings)
        with torch.device("meta"):  # no weights of its own, which would be made up first
            plain = type(loaded)(config)
        plain.load_state_dict(loaded.state_dict(), assign=True)
        plain.tie_weights()
        with whole_folder(folder) as temporary:
            plain.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)


def load(
    name: str | Path,
    *,
    device: str = "auto",
    cache: Path | None = None,
    progress: Progress = silent,
) -> PretrainedModel:
    """The model and tokenizer of a folder or name, on the device, not training."""
    torch, transformers = library("torch"), library("transformers")
    where, precision = settle(device)
    folder = find(name, cache, progress)
    if not any(folder.glob("*.safetensors")):
        raise RealtalkError(
            "no weights as safetensors",
            where=str(folder),
            fix="save the model with save_pretrained of a current transformers",
        )
    progress(0, 0, f"loading {folder.name}")
    options = {"local_files_only": True, "trust_remote_code": False}
    try:
        with quiet(), no_hub():
            tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                str(folder),
                dtype=torch.bfloat16 if precision == "bf16" else torch.float32,
                use_safetensors=True,
                **options,
            )
    except (OSError, ValueError, KeyError) as error:
        raise RealtalkError(
            f"no causal language model could be loaded ({type(error).__name__})",
            where=str(folder),
            fix="give a Hugging Face folder with config.json, tokenizer.json and safetensors",
        ) from error
    # How to write is said by `Sampling`, never by what a folder recommends.
    model.generation_config = transformers.GenerationConfig()
    title = folder.resolve().name
    window = _window(model.config)
    model = model.to(where).eval()
    return PretrainedModel(model, tokenizer, title, folder_hash(folder), where, precision, window)


def _window(config: Any) -> int:
    for name in ("max_position_embeddings", "n_positions", "n_ctx"):
        if isinstance(size := getattr(config, name, None), int) and size > 0:
            return size
    return 1 << 20  # no stated limit


def folder_hash(folder: Path) -> str:
    """What a model is: a hash over its weights. Other files change with who saves them."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as stream:
            inner = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f"{path.name} {inner}\n".encode())
    return digest.hexdigest()


def with_adapter(base: PretrainedModel, folder: Path) -> PretrainedModel:
    """The model with the adapter's weights added to its own, which writes as fast as before."""
    peft = library("peft")
    with quiet(), no_hub():
        wrapped = peft.PeftModel.from_pretrained(base.model, str(folder))
        merged = wrapped.merge_and_unload()
    return replace(base, model=merged.eval())


@contextmanager
def quiet() -> Iterator[None]:
    """The libraries without their bars and warnings, which are not meant for our user."""
    with quietly(library("transformers")), warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # peft asks transformers by an old name
        yield
