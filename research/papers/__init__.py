"""Two papers, table by table and figure by figure, beside what is measured here.

    study = reproduce(StudyPlan(data=Path("data")), Path("reproduced"))
    study["table-1"].verdict     → Verdict("exact", "6 of 6 figures are as printed")
    study.broken                 → () where whatever fails is recorded as failing

`study` runs the stages, `reproduce` is the command, the other modules build one part of REALTALK
(arXiv:2502.13270) or of PersonaConvBench (arXiv:2505.14106) each.
"""
