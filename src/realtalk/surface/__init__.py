"""What Python is offered: one function per job, values that print themselves and hold frames.

    rt.label("sample").facets().frame          surface.labelling
    rt.probe("sample").summary()               surface.benchmarks → surface.runs.Run
    rt.report([corpus, labels, run], "a.html") surface.pages

`realtalk` itself names these functions and loads them when they are first used. A path, the name
of a sample, a Corpus, a Reading and a stored folder are taken everywhere alike (`sources`); what
a command decides between its options and the work is decided in `choices`, for both.
"""
