"""Tiny models with random weights and tokenizers that are trained on the spot."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "peft")),
    reason="torch, transformers and peft are not installed (the extra 'train')",
)

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
MARKS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def save_tiny_model(
    folder: Path,
    texts: Iterable[str],
    *,
    template: bool = True,
    window: int = 1024,
    seed: int = 7,
    kind: str = "Llama",
) -> Path:
    """Saves the model, with a chat template or without, and says where."""
    torch, transformers = import_module("torch"), import_module("transformers")
    tokenizers = import_module("tokenizers")
    trained = tokenizers.ByteLevelBPETokenizer()
    trained.train_from_iterator(list(texts), vocab_size=600, special_tokens=list(MARKS))
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer,
        eos_token=MARKS[2] if template else MARKS[0],
        pad_token=MARKS[0],
        additional_special_tokens=list(MARKS),
    )
    if template:
        tokenizer.chat_template = TEMPLATE
    torch.manual_seed(seed)
    config = getattr(transformers, f"{kind}Config")(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=window,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=False,
        initializer_range=0.15,  # with less, a frozen last layer cannot be sure of anything
    )
    model = getattr(transformers, f"{kind}ForCausalLM")(config)
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def roberta_tokenizer(texts: Iterable[str], words: int) -> Any:
    """A byte-level tokenizer trained on the spot, in RoBERTa's form."""
    tokenizers, transformers = import_module("tokenizers"), import_module("transformers")
    trained = tokenizers.ByteLevelBPETokenizer()
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    trained.train_from_iterator(list(texts), vocab_size=words, special_tokens=special)
    trained._tokenizer.post_processor = tokenizers.processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0)
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=trained._tokenizer,
        **{"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"},
        **{"sep_token": "</s>", "cls_token": "<s>", "mask_token": "<mask>"},
    )
