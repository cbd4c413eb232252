"""An adapter of `persona tune` → one GGUF file that llama.cpp loads onto the base's own.

    consent = known("Mara", Path("adapters/mara"))
    write_gguf(one_adapter(Path("adapters/mara")), Path("mara.gguf"), consent)
    → AdapterFile(speaker="Mara", architecture="qwen2", rank=16, matrices=168, …)
    llama-cli -m qwen2.5-coder-0.5b-instruct-q4_k_m.gguf --lora mara.gguf

The matrices are peft's under llama.cpp's names, in fp32. Of a llama, llama.cpp keeps the rows of
queries and keys in another order than transformers; theirs are put into that order. Whom it
imitates, that this is simulated, and who consented stand in the file's metadata. Needs the extra
`train`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk import __version__
from realtalk.chat import MARK
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.local.writing import atomic_path, check_holder
from realtalk.persona.consent import Consent
from realtalk.persona.pretrained import find, folder_hash, library
from realtalk.persona.tuned import adapters_in, refuse_other_base
from realtalk.persona.tuning import ADAPTER, CONFIG

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

# transformers' name of a model's kind → llama.cpp's. Each is checked against llama.cpp.
_KINDS = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
_PARTS = {"lora_A": "lora_a", "lora_B": "lora_b"}
_HEADS = {"q_proj": "num_attention_heads", "k_proj": "num_key_value_heads"}


@dataclass(frozen=True, slots=True)
class OwnAdapter:
    """A finished adapter's folder, whom it imitates, and what its settings.json says."""

    folder: Path
    speaker: str
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class AdapterFile:
    """What was written. `base` is the file to load it onto, where that lies on this machine."""

    file: Path
    speaker: str
    architecture: str
    rank: int
    matrices: int  # of the base, that the adapter changes
    base: Path | None
    consent: Consent

    @property
    def command(self) -> str:
        """How llama.cpp is started with it."""
        return f"llama-cli -m {self.base or 'BASE.gguf'} --lora {self.file}"


def one_adapter(folder: Path) -> OwnAdapter:
    """The adapter of a folder, which may lie in a folder of its own there."""
    (place, settings), *others = adapters_in(folder).items()
    if others:
        raise RealtalkError(
            f"holds {len(others) + 1} adapters",
            where=str(folder),
            fix=f"name one of them, as {place}",
        )
    return OwnAdapter(place, str(settings["about"].get("speaker", "")), settings)


def write_gguf(
    adapter: OwnAdapter,
    out: Path,
    consent: Consent,
    *,
    base: str | None = None,
    cache: Path | None = None,
    progress: Progress = silent,
) -> AdapterFile:
    """Writes the adapter as llama.cpp reads it.

    `base` says where the model lies, where that is not the one named in training: how many heads
    it has decides the order of rows.
    """
    gguf = library("gguf")
    model = find(base or str(adapter.settings["about"]["base"]), cache, progress)
    refuse_other_base(adapter.folder, adapter.settings["base"], folder_hash(model))
    config = json.loads((model / "config.json").read_text("utf-8"))
    if (kind := _KINDS.get(config["model_type"])) is None:
        raise RealtalkError(
            f"adapters of the architecture {config['model_type']} are not written as GGUF",
            where=str(adapter.folder),
            fix=f"known: {', '.join(_KINDS)}; llama.cpp's convert_lora_to_gguf.py takes more",
        )
    settings = json.loads((adapter.folder / CONFIG).read_text("utf-8"))
    tensors = dict(_tensors(adapter.folder, kind, config))
    with atomic_path(check_holder(out)) as temporary:
        writer = gguf.GGUFWriter(temporary, kind)
        writer.add_type(gguf.GGUFType.ADAPTER)
        writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
        writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(settings["lora_alpha"]))
        writer.add_file_type(gguf.LlamaFileType.ALL_F32)
        _describe(writer, adapter, consent)
        for name, matrix in tensors.items():
            writer.add_tensor(name, matrix)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
    # `find` puts a converted model beside the file it came from.
    origin = model.with_name(f"{model.name.removesuffix('-bf16')}.gguf")
    return AdapterFile(
        out,
        adapter.speaker,
        kind,
        int(settings["r"]),
        len(tensors) // len(_PARTS),
        origin if origin.is_file() else None,
        consent,
    )


def _describe(writer: Any, adapter: OwnAdapter, consent: Consent) -> None:
    """Who is imitated and by whose leave: llama.cpp shows these lines when it loads the file."""
    speaker, trained_on = adapter.speaker, adapter.settings["base"]
    writer.add_name(speaker + MARK)
    writer.add_description(f"Writes like {speaker}. Whatever it writes is simulated.")
    writer.add_tags(["simulated"])
    writer.add_base_model_count(1)
    writer.add_base_model_name(0, str(trained_on["title"]))
    writer.add_bool("realtalk.simulated", True)
    for name, value in {
        "version": __version__,
        "speaker": speaker,
        "consent.speaker": consent.speaker,
        "consent.answer": consent.answer,
        "consent.day": consent.day,
        "consent.meaning": consent.meaning,
        "base.sha256": str(trained_on["sha256"]),
    }.items():
        writer.add_string(f"realtalk.{name}", value)


def _tensors(folder: Path, kind: str, config: Mapping[str, Any]) -> Iterator[tuple[str, Matrix]]:
    """peft's matrices under llama.cpp's names: (rank, in) as lora_a, (out, rank) as lora_b."""
    gguf = library("gguf")
    arch = {name: arch for arch, name in gguf.MODEL_ARCH_NAMES.items()}[kind]
    names = gguf.get_tensor_name_map(arch, int(config["num_hidden_layers"]))
    for key, tensor in library("safetensors.torch").load_file(folder / ADAPTER).items():
        # base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight
        module, _, part = key.removesuffix(".weight").rpartition(".")
        name = names.get_name(module.removeprefix("base_model.model."))
        if name is None or part not in _PARTS:
            raise RealtalkError(f"llama.cpp has no place for {key}", where=str(folder))
        matrix: Matrix = tensor.float().numpy()
        heads = _HEADS.get(module.rpartition(".")[2])
        if kind == "llama" and part == "lora_B" and heads is not None:
            matrix = paired_rows(matrix, int(config[heads]))
        yield f"{name}.weight.{_PARTS[part]}", matrix


def paired_rows(matrix: Matrix, heads: int) -> Matrix:
    """Rows of a llama's queries or keys in llama.cpp's order.

    A rotation turns two rows of a head. transformers has them half a head apart, llama.cpp side
    by side: of a head 0 1 2 3 4 5 becomes 0 3 1 4 2 5.
    """
    import numpy as np

    halves = matrix.reshape(heads, 2, matrix.shape[0] // heads // 2, matrix.shape[1])
    return np.ascontiguousarray(halves.swapaxes(1, 2).reshape(matrix.shape))
