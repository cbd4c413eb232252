"""An adapter as GGUF: the same change of the weights, in llama.cpp's names and order of rows."""

from __future__ import annotations

import json
import shutil
import stat
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import realtalk as rt
from persona_chats import ines
from realtalk.errors import RealtalkError
from realtalk.persona.adapter_files import one_adapter, paired_rows
from realtalk.persona.consent import NoConsent, known
from realtalk.persona.pretrained import Pretrained, load, with_adapter
from realtalk.persona.tuning import ADAPTER, SETTINGS
from realtalk.persona.turns import own_learning
from tiny_gguf import llama_rows, next_logprobs, save_gguf
from tiny_models import save_tiny_model

needs_train = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "peft", "gguf")),
    reason="torch, transformers, peft and gguf are not installed (the extra 'train')",
)
needs_llama_cpp = pytest.mark.skipif(
    find_spec("xllamacpp") is None, reason="llama.cpp is not installed (the extra 'local')"
)
KINDS = ("Llama", "Mistral", "Qwen2", "Qwen3")
PROMPT = (1, 5, 9, 20, 30, 70, 80, 41)
HEADS = {"q": 4, "k": 2}  # of the tiny models
NAMES = {
    **{f"self_attn.{part}_proj": f"attn_{part}" for part in "qkv"},
    "self_attn.o_proj": "attn_output",
    **{f"mlp.{part}_proj": f"ffn_{part}" for part in ("gate", "up", "down")},
}


# What needs no torch


def test_rows_that_are_turned_together_come_together() -> None:
    one_head = np.arange(6, dtype=np.float32)[:, None]
    assert paired_rows(one_head, 1).ravel().tolist() == [0, 3, 1, 4, 2, 5]
    rng = np.random.default_rng(5)
    sizes = ((24, 10), (24, 3), (3, 10))
    weights, left, right = (rng.normal(size=size).astype(np.float32) for size in sizes)
    for heads in (1, 2, 3, 4, 6, 12):
        changed = llama_rows(weights + left @ right, heads)
        apart = llama_rows(weights, heads) + paired_rows(left, heads) @ right
        assert np.allclose(changed, apart, atol=1e-5)


def test_a_folder_without_an_adapter_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RealtalkError, match="no finished adapter here"):
        rt.export_adapter(tmp_path, out=tmp_path / "x.gguf", consent="self")


# With torch


@pytest.fixture(scope="session", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def folders(tmp_path_factory: pytest.TempPathFactory, kind: str) -> tuple[Path, Path]:
    """A base, and an adapter that was trained on it."""
    pytest.importorskip("torch").set_num_threads(1)
    place = tmp_path_factory.mktemp(kind)
    texts = [turn.text for turn in own_learning(ines(), "Ines").turns]
    base = save_tiny_model(place / "tiny", texts, window=4096, kind=kind)
    short: dict[str, Any] = {"context_sessions": 1, "context_tokens": 20, "epochs": 1}
    given = {**short, "whole": True, "rank": 3, "learning_rate": 2e-2}
    rt.tune(ines(), "Ines", out=place / "ines", base=str(base), **given)
    return base, place / "ines"


@pytest.fixture
def own(folders: tuple[Path, Path], tmp_path: Path) -> Path:
    """A copy of the adapter: nobody has been asked yet."""
    return Path(shutil.copytree(folders[1], tmp_path / "ines"))


def contents(file: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """A GGUF's metadata and tensors."""
    from gguf import GGUFReader

    reader = GGUFReader(file)
    told = {name: field.contents() for name, field in reader.fields.items()}
    return told, {each.name: each.data for each in reader.tensors}


def weights(model: Pretrained) -> dict[str, Any]:
    return {name: value.numpy() for name, value in model.model.state_dict().items()}


@needs_train
def test_the_file_changes_the_weights_as_peft_does(
    folders: tuple[Path, Path], own: Path, kind: str, tmp_path: Path
) -> None:
    base = folders[0]
    written = rt.export_adapter(own, out=tmp_path / "ines.gguf", consent="given")
    told, tensors = contents(written.file)
    before = weights(load(base, device="cpu"))
    after = weights(with_adapter(load(base, device="cpu"), own))
    wanted = {
        f"blk.{layer}.{name}.weight.{part}"
        for layer in (0, 1)
        for name in NAMES.values()
        for part in ("lora_a", "lora_b")
    }
    assert tensors.keys() == wanted
    scale = told["adapter.lora.alpha"] / 3
    for layer in (0, 1):
        for module, name in NAMES.items():
            key = f"model.layers.{layer}.{module}.weight"
            change = after[key] - before[key]
            if kind in ("Llama", "Mistral") and (heads := HEADS.get(name.removeprefix("attn_"))):
                change = llama_rows(change, heads)
            low, high = (tensors[f"blk.{layer}.{name}.weight.lora_{part}"] for part in "ab")
            assert low.shape == (3, change.shape[1]) and high.shape == (change.shape[0], 3)
            assert low.dtype == high.dtype == np.float32
            assert np.abs(change).max() > 1e-3
            assert np.allclose(scale * high @ low, change, atol=1e-6)
    assert (written.architecture, written.rank, written.matrices) == (
        {"Mistral": "llama"}.get(kind, kind.casefold()),
        3,
        14,
    )
    assert told["general.architecture"] == written.architecture


@needs_train
@pytest.mark.parametrize("kind", ["Qwen2"], indirect=True)
def test_the_file_says_that_it_is_simulated_and_by_whose_leave(own: Path, tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return "given"

    first = rt.export_adapter(own, out=tmp_path / "one.gguf", consent=answer)
    second = rt.export_adapter(own, out=tmp_path / "two.gguf", consent=answer)
    assert len(asked) == 1 and "Ines" in asked[0]
    assert first.file.read_bytes() == second.file.read_bytes()
    assert stat.S_IMODE(first.file.stat().st_mode) == 0o600
    consent = known("Ines", own)
    assert consent is not None and first.consent == consent
    told, _ = contents(first.file)
    settings = json.loads((own / SETTINGS).read_text("utf-8"))
    expected = {
        "general.type": "adapter",
        "general.name": "Ines (simulated)",
        "general.description": "Writes like Ines. Whatever it writes is simulated.",
        "general.tags": ["simulated"],
        "general.base_model.0.name": "tiny",
        "adapter.type": "lora",
        "adapter.lora.alpha": 6.0,
        "realtalk.simulated": True,
        "realtalk.speaker": "Ines",
        "realtalk.consent.speaker": "Ines",
        "realtalk.consent.answer": "given",
        "realtalk.consent.day": consent.day,
        "realtalk.consent.meaning": "Ines agreed that a model writes as them.",
        "realtalk.base.sha256": settings["base"]["sha256"],
    }
    assert {name: told.get(name) for name in expected} == expected


@needs_train
@pytest.mark.parametrize("kind", ["Qwen2"], indirect=True)
def test_nothing_is_written_without_a_yes_or_for_another_model(
    folders: tuple[Path, Path], own: Path, tmp_path: Path
) -> None:
    out = tmp_path / "ines.gguf"
    with pytest.raises(NoConsent, match="no consent to write as Ines"):
        rt.export_adapter(own, out=out, consent="")
    other = save_tiny_model(tmp_path / "other", ["something else"], kind="Qwen2", seed=8)
    with pytest.raises(RealtalkError, match=r"trained on another model; .* called tiny"):
        rt.export_adapter(own, out=out, consent="self", base=str(other))
    strange = Path(shutil.copytree(folders[0], tmp_path / "strange"))
    config = json.loads((strange / "config.json").read_text("utf-8"))
    (strange / "config.json").write_text(json.dumps({**config, "model_type": "gpt_neox"}))
    with pytest.raises(RealtalkError, match="architecture gpt_neox are not written as GGUF"):
        rt.export_adapter(own, out=out, consent="self", base=str(strange))
    two = tmp_path / "two"
    for name in ("a", "b"):
        shutil.copytree(own, two / name)
    with pytest.raises(RealtalkError, match="holds 2 adapters"):
        one_adapter(two)
    assert not out.exists()


@needs_train
@pytest.mark.parametrize("kind", ["Qwen2"], indirect=True)
def test_a_matrix_that_llama_cpp_does_not_know_is_named(own: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    held = load_file(own / ADAPTER)
    key = next(iter(held))
    save_file({**held, key.replace("_proj.", "_nothing."): held[key].clone()}, own / ADAPTER)
    with pytest.raises(RealtalkError, match=r"llama\.cpp has no place for base_model.*_nothing"):
        rt.export_adapter(own, out=tmp_path / "ines.gguf", consent="self")


@needs_train
@pytest.mark.parametrize("kind", ["Qwen2"], indirect=True)
def test_the_command_says_how_llama_cpp_is_started(
    folders: tuple[Path, Path], own: Path, run: Any, tmp_path: Path
) -> None:
    status, out, err = run("persona", "export-adapter", "ines", "--consent", "self")
    assert (status, out) == (0, "")
    assert "wrote ines.gguf: Ines (simulated), 14 matrices of rank 3 for qwen2" in err
    assert "llama-cli -m BASE.gguf --lora ines.gguf" in err
    # A model that was converted from a GGUF lies beside it.
    shutil.copytree(folders[0], tmp_path / "tiny.q4-bf16")
    save_gguf(folders[0], tmp_path / "tiny.q4.gguf")
    words = ("persona", "export-adapter", "ines", "--base", "tiny.q4.gguf", "--out", "x.gguf")
    status, out, err = run(*words)
    assert status == 0, err
    assert "llama-cli -m tiny.q4.gguf --lora x.gguf" in err
    status, out, _ = run(*words, "--json")
    told = json.loads(out)
    assert status == 0 and told["file"] == "x.gguf" and told["base"] == "tiny.q4.gguf"
    assert told["consent"]["answer"] == "self"


@needs_train
@needs_llama_cpp
def test_llama_cpp_foretells_what_peft_foretells(
    folders: tuple[Path, Path], own: Path, tmp_path: Path
) -> None:
    import torch

    base = folders[0]
    model = save_gguf(base, tmp_path / "tiny.gguf")
    written = rt.export_adapter(own, out=tmp_path / "ines.gguf", consent="self").file

    def by_transformers(loaded: Pretrained) -> Any:
        with torch.no_grad():
            return loaded.model(torch.tensor([PROMPT])).logits[0, -1].log_softmax(-1).numpy()

    plain = by_transformers(load(base, device="cpu"))
    tuned = by_transformers(with_adapter(load(base, device="cpu"), own))
    assert np.abs(tuned - plain).max() > 0.1
    assert np.allclose(next_logprobs(model, PROMPT), plain, atol=1e-4)
    assert np.allclose(next_logprobs(model, PROMPT, written), tuned, atol=1e-4)
