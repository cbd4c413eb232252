"""What the PersonaConvBench paper reports, to stand beside what is measured here.

    TABLE["GPT-4.1"]["p-conv"]["mcc"]      → 0.677
    published_gain("GPT-4.1", "mcc")       → 1.99, the abstract's 198 %

The main table of arXiv 2505.14106v2, settings P-Conv and P-NonConv, on 19,215 posts of ten
domains. It gives no intervals. By its released code: the rows of GPT-4.1 and GPT-4o-mini are the
best of ten answers a metric, those of the other models one answer; F1 is the positive class's in
some rows and weighted in others; the replies were chosen and thinned by their outcome. The figures
stand in published.toml.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping

from realtalk.text.wordlists import data_text

_FILE = tomllib.loads(data_text("realtalk.threads", "published.toml"))
COLUMNS: tuple[str, ...] = tuple(_FILE["columns"])
TABLE: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    model: {
        setting: dict(zip(COLUMNS, values, strict=True)) for setting, values in settings.items()
    }
    for model, settings in _FILE["table"].items()
}


def published_gain(model: str, column: str) -> float:
    """With the conversation over without it, less 1."""
    row = TABLE[model]
    return row["p-conv"][column] / row["p-nonconv"][column] - 1
