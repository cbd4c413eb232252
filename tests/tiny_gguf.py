"""A tiny model's folder → the f32 GGUF that llama.cpp runs, and llama.cpp asked about it.

save_gguf(folder, tmp_path / "tiny.gguf")
logits = next_logprobs(tmp_path / "tiny.gguf", prompt_ids, adapter=Path("mara.gguf"))
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

KINDS = {"llama": "llama", "mistral": "llama", "qwen2": "qwen2", "qwen3": "qwen3"}
_SPECIAL, _NORMAL = 3, 1  # llama.cpp's numbers of a token's type
_LETTER = 67  # "a" of a tokenizer of bytes, after three marks


def llama_rows(matrix: Any, heads: int) -> Any:
    """Rows as llama.cpp has those of a llama's queries and keys, one by one."""
    size = len(matrix) // heads
    turned = np.empty_like(matrix)
    for head in range(heads):
        for row in range(size):
            half, place = divmod(row, size // 2)
            turned[head * size + 2 * place + half] = matrix[head * size + row]
    return turned


def save_gguf(folder: Path, file: Path) -> Path:
    """All weights, in f32, with the tokenizer."""
    import gguf
    from safetensors.torch import load_file

    config = json.loads((folder / "config.json").read_text("utf-8"))
    kind, layers = KINDS[config["model_type"]], config["num_hidden_layers"]
    heads, shared = config["num_attention_heads"], config["num_key_value_heads"]
    writer = gguf.GGUFWriter(file, kind)
    writer.add_type(gguf.GGUFType.MODEL)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(layers)
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(shared)
    size = config.get("head_dim") or config["hidden_size"] // heads
    writer.add_key_length(size)
    writer.add_value_length(size)
    writer.add_rope_dimension_count(size)
    writer.add_rope_freq_base(config["rope_parameters"]["rope_theta"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_vocab_size(config["vocab_size"])
    _add_tokenizer(writer, json.loads((folder / "tokenizer.json").read_text("utf-8")))
    arch = {name: arch for arch, name in gguf.MODEL_ARCH_NAMES.items()}[kind]
    names = gguf.get_tensor_name_map(arch, layers)
    for key, tensor in load_file(folder / "model.safetensors").items():
        matrix = tensor.float().numpy()
        for part, count in {"q_proj.weight": heads, "k_proj.weight": shared}.items():
            if kind == "llama" and key.endswith(part):
                matrix = llama_rows(matrix, count)
        writer.add_tensor(names.get_name(key, (".weight", ".bias")), matrix)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _add_tokenizer(writer: Any, tokenizer: dict[str, Any]) -> None:
    special = {each["id"]: each["content"] for each in tokenizer["added_tokens"]}
    known = {number: token for token, number in tokenizer["model"]["vocab"].items()} | special
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([known[number] for number in range(len(known))])
    writer.add_token_types([_SPECIAL if n in special else _NORMAL for n in range(len(known))])
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(2)


def next_logprobs(model: Path, prompt: Sequence[int], adapter: Path | None = None) -> Any:
    """llama.cpp's log probability of every token after the prompt."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    if adapter is not None:
        parameters.lora_adapters = [xllamacpp.CommonAdapterLoraInfo(str(adapter), 1.0)]
    parameters.n_ctx, parameters.n_parallel = 512, 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.verbosity, parameters.warmup = -1, False
    # Keys, values and attention are rounded to f16 otherwise.
    parameters.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    parameters.cache_type_k = parameters.cache_type_v = xllamacpp.ggml_type.GGML_TYPE_F32
    server = xllamacpp.Server(parameters)
    asked = {
        "prompt": list(prompt),
        "n_predict": 1,
        "temperature": 0.0,
        "n_probs": 100_000,  # all of them
        # What is written is a letter: of half a sign no probabilities are told. Those are the
        # model's own, whatever is written.
        "logit_bias": [[_LETTER, 1e6]],
    }
    (choice,) = server.handle_completions(asked)["choices"]
    (token,) = choice["logprobs"]["content"]
    told = {each["id"]: each["logprob"] for each in token["top_logprobs"]}
    return np.array([told[number] for number in range(len(told))])
