"""A model's name → where its files lie: weights, tokenizers, lists, settings and cards.

    path("ei")                             → …/realtalk_models/ei, a folder
    path("names") / "model.onnx"           → weights of the name tagger

No other code is here: `realtalk.encoders` runs the models. A folder may name a file of its
neighbour (`../ei/tokenizer.json`), so that no file is shipped twice.
"""

from __future__ import annotations

from pathlib import Path


def path(name: str) -> Path:
    """The folder of a model that ships; it need not exist where weights were left out."""
    return Path(__file__).parent / name
