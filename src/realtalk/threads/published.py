"""What the PersonaConvBench paper reports, to stand beside what is measured here.

    TABLE["GPT-4.1"]["p-conv"]["mcc"]      → 0.677
    published_gain("GPT-4.1", "mcc")       → 1.99, the abstract's 198 %

The main table of arXiv 2505.14106v2, settings P-Conv and P-NonConv, on 19,215 posts of ten
domains. It gives no intervals. By its released code: the rows of GPT-4.1 and GPT-4o-mini are the
best of ten answers a metric, those of the other models one answer; F1 is the positive class's in
some rows and weighted in others; the replies were chosen and thinned by their outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["COLUMNS", "DOMAINS", "SIZE", "TABLE", "published_gain"]

COLUMNS = (
    *("accuracy", "f1", "mcc", "rmse", "mae"),
    *("rouge1", "rougeL", "meteor", "bleu", "sbert"),
)
SIZE: Mapping[str, int] = MappingProxyType(
    {"posts": 19215, "conversations": 111239, "users": 3878, "domains": 10}
)
DOMAINS = (
    *("Worldnews", "Science", "Politics", "Technology", "Gaming"),
    *("Life", "Movies", "Books", "Entrepreneur", "Art"),
)
_SETTINGS = ("p-conv", "p-nonconv")


def _model(*columns: tuple[float, float]) -> Mapping[str, Mapping[str, float]]:
    return MappingProxyType(
        {
            setting: MappingProxyType(
                {name: both[at] for name, both in zip(COLUMNS, columns, strict=True)}
            )
            for at, setting in enumerate(_SETTINGS)
        }
    )


TABLE: Mapping[str, Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        "GPT-4.1": _model(
            *((0.9122, 0.7862), (0.9481, 0.872), (0.677, 0.2266)),
            *((310.09, 350.29), (97.52, 113.46)),
            *((0.2777, 0.2248), (0.2115, 0.1565), (0.2677, 0.2316)),
            *((0.0604, 0.0206), (0.4757, 0.4322)),
        ),
        "GPT-4o-mini": _model(
            *((0.6875, 0.6562), (0.7895, 0.764), (0.2268, 0.187)),
            *((310.23, 351.5), (97.64, 115.8)),
            *((0.2491, 0.2121), (0.1906, 0.147), (0.212, 0.2198)),
            *((0.033, 0.017), (0.4381, 0.3982)),
        ),
        "Claude-3.5": _model(
            *((0.9109, 0.8192), (0.9474, 0.8908), (0.6721, 0.3666)),
            *((282.48, 344.75), (85.39, 109.27)),
            *((0.2161, 0.1645), (0.1719, 0.113), (0.1913, 0.1636)),
            *((0.0549, 0.0123), (0.3942, 0.3512)),
        ),
        "LLaMA-3.3": _model(
            *((0.8458, 0.7305), (0.8401, 0.7495), (0.442, 0.2333)),
            *((319.83, 350.43), (101.25, 113.18)),
            *((0.2055, 0.154), (0.1572, 0.1009), (0.1838, 0.1659)),
            *((0.048, 0.0089), (0.3733, 0.3339)),
        ),
        "DeepSeek-R1": _model(
            *((0.8853, 0.7092), (0.8848, 0.7362), (0.607, 0.2586)),
            *((300.03, 353.8), (89.59, 112.52)),
            *((0.1786, 0.1359), (0.1395, 0.0911), (0.1649, 0.1401)),
            *((0.0423, 0.0083), (0.3699, 0.3307)),
        ),
    }
)


def published_gain(model: str, column: str) -> float:
    """With the conversation over without it, less 1."""
    row = TABLE[model]
    return row["p-conv"][column] / row["p-nonconv"][column] - 1
