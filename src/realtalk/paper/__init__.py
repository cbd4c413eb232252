"""The REALTALK paper, table by table and figure by figure, beside what is measured here.

    study = reproduce(StudyPlan(data=Path("data")), Path("reproduced"))
    study["table-1"].verdict     → Verdict("exact", "6 of 6 figures are as printed")
    study.broken                 → () where whatever fails is recorded as failing

`study` runs the stages, the other modules build one part of the paper each.
"""

from realtalk.paper.study import Reproduction, StudyPlan, reproduce
from realtalk.paper.values import Exhibit, PaperFigure, Parity, Statement, Verdict

__all__ = [
    "Exhibit",
    "PaperFigure",
    "Parity",
    "Reproduction",
    "Statement",
    "StudyPlan",
    "Verdict",
    "reproduce",
]
