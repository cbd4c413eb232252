"""The REALTALK paper, table by table and figure by figure, beside what is measured here.

    found = reproduce(Plan(data=Path("data")), Path("reproduced"))
    found["table-1"].verdict     → Verdict("exact", "6 of 6 figures are as printed")
    found.broken                 → () where whatever fails is recorded as failing

`study` runs the stages, the other modules make one part of the paper each.
"""

from realtalk.paper.study import Plan, Reproduction, reproduce
from realtalk.paper.values import Exhibit, Figure, Parity, Statement, Verdict

__all__ = [
    "Exhibit",
    "Figure",
    "Parity",
    "Plan",
    "Reproduction",
    "Statement",
    "Verdict",
    "reproduce",
]
