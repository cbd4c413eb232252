"""The open retrieval encoders that ship → what the name tagger begins with.

    python -m research.training.names_body
    → build/names/layers.safetensors   six layers in 16 bits, and places and norm of the lowest
      build/names/config.json          their shape
      build/names/open_table.npz       the shared table of pieces, and its projection to the width

Layers 0, 2 and 5 are the multilingual retriever's, 1, 3 and 4 the English one's: all learned from
open text alone. Both are read back from the 8 bits in which they ship.
"""

from __future__ import annotations

import json

import numpy as np
import torch
from safetensors.torch import save_file

import realtalk_models
from realtalk.encoders.weights import Floats, read_weights
from research.training.names_data import BUILD

LAYERS = (
    ("memory_multilingual", 0),
    ("memory", 1),
    ("memory_multilingual", 1),
    ("memory", 3),
    ("memory", 4),
    ("memory_multilingual", 2),
)
SHAPE = {
    "model_type": "bert",
    "vocab_size": 16,  # words come from the table
    "hidden_size": 384,
    "num_hidden_layers": len(LAYERS),
    "num_attention_heads": 12,
    "intermediate_size": 1536,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
}


def layers(encoders: dict[str, dict[str, Floats]]) -> dict[str, Floats]:
    """The chosen layers from below, over the embeddings of the lowest one's encoder."""
    lowest = encoders[LAYERS[0][0]]
    chosen = {
        name.removeprefix("encoder."): values
        for name, values in lowest.items()
        if name.startswith("encoder.embeddings.") and "word_embeddings" not in name
    }
    for place, (encoder, layer) in enumerate(LAYERS):
        head = f"encoder.encoder.layer.{layer}."
        for name, values in encoders[encoder].items():
            if name.startswith(head):
                chosen[f"encoder.layer.{place}.{name.removeprefix(head)}"] = values
    return chosen


def main() -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    names = {encoder for encoder, _ in LAYERS}
    encoders = {name: read_weights(realtalk_models.path(name) / "model.onnx") for name in names}
    halves = {name: torch.tensor(values).half() for name, values in layers(encoders).items()}
    save_file(halves, str(BUILD / "layers.safetensors"))
    (BUILD / "config.json").write_text(json.dumps(SHAPE, indent=1), "utf-8")
    with np.load(realtalk_models.path("open_table") / "table.npz") as table:
        rows = table["rows"]  # what the projection has beyond their width fills a block of 8 bits
        projection = encoders["memory_multilingual"]["projection.weight"][:, : rows.shape[1]].T
        np.savez(BUILD / "open_table.npz", rows=rows, scales=table["scales"], projection=projection)


if __name__ == "__main__":
    main()
