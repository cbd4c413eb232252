"""What the REALTALK paper prints of its corpus and its speakers, as numbers.

    TABLE_1["REALTALK"]                     → Table1Row(turns=894.4, sessions=21.9, tokens=17109.8)
    TABLE_5["Chat_1_Emi_Elise"]["words"]    → 17341
    TABLE_7["Chat_4_Emi_Paola", "Emi"]      → {"reflective_frequency": 0.08, ...}

arXiv:2502.13270. Tables 2 and 8 are in `persona/published.py`, Table 3 in `memory/published.py`.
Chats are named by the published files. Intimacy's course is printed in thousandths.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from realtalk.ei.values import FACETS
from realtalk.local.download import DATASETS

__all__ = [
    "CHATS",
    "SECTION_5_1",
    "TABLE_1",
    "TABLE_5",
    "TABLE_6",
    "TABLE_7",
    "TEXT_QUESTIONS",
    "TEXT_TOTAL",
    "Table1Row",
]


class Table1Row(NamedTuple):
    """A row of Table 1: its "turns" are messages per chat, its "tokens" words per chat."""

    turns: float
    sessions: float
    tokens: float


# The rows of corpora that are read here; the others are only quoted in the paper.
TABLE_1: Mapping[str, Table1Row] = MappingProxyType(
    {
        "REALTALK": Table1Row(894.4, 21.9, 17109.8),
        "LoCoMo": Table1Row(588.2, 27.2, 13377.2),
        "LongMemEval": Table1Row(9.8, 50.2, 1572.3),
    }
)

SECTION_5_1: Mapping[str, tuple[float, int]] = MappingProxyType(  # figure: value, digits printed
    {
        "response gap, mean (minutes)": (20.98, 2),
        "response gap, median (minutes)": (2.22, 2),
        "response gap, longest (hours)": (27.90, 2),
        "messages in a row, mean": (2.31, 2),
        "messages in a row, median": (2.00, 2),
        "messages in a row, most": (68, 0),
    }
)

# §3.2 and Appendix A.3, in words: "728 questions, comprising 302 …, 321 …, and 111 …".
TEXT_QUESTIONS: Mapping[str, int] = MappingProxyType(
    {"multi_hop": 302, "temporal": 321, "commonsense": 111}
)
TEXT_TOTAL = 728

# The order of Tables 5 and 6 is that of the published files.
CHATS = tuple(file.name.removesuffix(".json") for file in DATASETS["realtalk"].files)


def _by_chat(
    names: tuple[str, ...], rows: tuple[tuple[int, ...], ...]
) -> Mapping[str, Mapping[str, int]]:
    named = (MappingProxyType(dict(zip(names, row, strict=True))) for row in rows)
    return MappingProxyType(dict(zip(CHATS, named, strict=True)))


TABLE_5 = _by_chat(
    ("days", "words", "words a day", "images", "topics"),
    (
        (21, 17341, 826, 35, 6),
        (21, 16040, 764, 46, 7),
        (16, 11057, 691, 35, 7),
        (16, 11511, 719, 37, 6),
        (21, 16902, 805, 37, 7),
        (21, 18005, 857, 39, 8),
        (21, 16343, 778, 43, 8),
        (21, 17191, 819, 25, 6),
        (21, 18089, 861, 27, 7),
        (21, 16951, 807, 23, 8),
    ),
)
TABLE_6 = _by_chat(
    ("multi_hop", "temporal", "commonsense", "events"),
    (
        (30, 30, 10, 44),
        (30, 31, 12, 41),
        (30, 30, 11, 51),
        (30, 30, 10, 61),
        (31, 31, 14, 61),
        (30, 30, 12, 84),
        (30, 30, 12, 90),
        (30, 31, 10, 83),
        (30, 31, 9, 29),
        (30, 45, 10, 56),
    ),
)


def _facets(*values: float) -> Mapping[str, float]:
    return MappingProxyType(dict(zip(FACETS, values, strict=True)))


# Eight of the ten chats; the paper does not say why two are left out.
TABLE_7: Mapping[tuple[str, str], Mapping[str, float]] = MappingProxyType(
    {
        ("Chat_10_Fahim_Muhhamed", "Fahim Khan"): _facets(
            0.14, 2.21, 1.43, 0.11, 1.54, -0.2, -0.4, 0.46, 0.38, 0.47, 0.36
        ),
        ("Chat_10_Fahim_Muhhamed", "Muhhamed"): _facets(
            0.11, 2.41, 1.53, 0.04, 1.5, -0.4, -0.7, 0.5, 0.32, 0.55, 0.4
        ),
        ("Chat_4_Emi_Paola", "Emi"): _facets(
            0.08, 1.11, 0.67, 0.43, 3.23, 0.6, 1.1, 0.75, 0.68, 0.86, 0.74
        ),
        ("Chat_4_Emi_Paola", "Paola"): _facets(
            0.06, 1.15, 0.52, 0.44, 3.53, 0.5, 0.9, 0.82, 0.66, 0.78, 0.67
        ),
        ("Chat_8_Akib_Muhhamed", "Akib"): _facets(
            0.06, 2.63, 1.48, 0.04, 0.87, -0.1, -0.2, 0.46, 0.29, 0.45, 0.35
        ),
        ("Chat_8_Akib_Muhhamed", "Muhhamed"): _facets(
            0.12, 2.61, 1.56, 0.05, 1.32, -0.4, -0.7, 0.37, 0.26, 0.43, 0.26
        ),
        ("Chat_1_Emi_Elise", "Emi"): _facets(
            0.05, 1.33, 0.8, 0.44, 2.8, 1.0, 1.8, 0.61, 0.58, 0.67, 0.62
        ),
        ("Chat_1_Emi_Elise", "elise"): _facets(
            0.07, 1.53, 1.03, 0.28, 2.29, 1.0, 1.7, 0.58, 0.51, 0.57, 0.55
        ),
        ("Chat_5_Nicolas_Nebraas", "Nicolas"): _facets(
            0.04, 2.74, 1.44, 0.15, 0.92, 0.1, 0.1, 0.44, 0.24, 0.45, 0.24
        ),
        ("Chat_5_Nicolas_Nebraas", "Nebraas"): _facets(
            0.1, 2.62, 1.44, 0.27, 1.86, -0.4, -0.6, 0.46, 0.25, 0.49, 0.24
        ),
        ("Chat_7_Nebraas_Vanessa", "Vanessa"): _facets(
            0.09, 2.08, 1.46, 0.19, 2.35, -0.3, -0.6, 0.47, 0.42, 0.46, 0.29
        ),
        ("Chat_7_Nebraas_Vanessa", "Nebraas"): _facets(
            0.03, 2.41, 1.41, 0.15, 1.43, 0, 0, 0.48, 0.32, 0.54, 0.38
        ),
        ("Chat_3_Kevin_Paola", "Kevin"): _facets(
            0.07, 1.04, 0.55, 0.52, 3.19, -0.1, -0.2, 0.8, 0.68, 0.71, 0.59
        ),
        ("Chat_3_Kevin_Paola", "Paola"): _facets(
            0.08, 1.27, 0.66, 0.41, 3.2, -0.1, -0.3, 0.72, 0.59, 0.73, 0.7
        ),
        ("Chat_9_Fahim_Akib", "Akib"): _facets(
            0.07, 2.53, 1.44, 0.05, 0.92, -0.4, -0.8, 0.45, 0.31, 0.48, 0.39
        ),
        ("Chat_9_Fahim_Akib", "Fahim Khan"): _facets(
            0.08, 2.32, 1.47, 0.11, 1.29, -0.3, -0.5, 0.47, 0.34, 0.36, 0.26
        ),
    }
)
