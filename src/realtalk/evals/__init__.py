"""The engine of the benchmarks: samples, who solves them, and what comes of it.

`values` has the words, `running` carries a benchmark out in a folder or in memory, `comparing`
and `tables` make figures of its rows, `language_models` and `inspecting`
ask models. `folder` keeps rows so that a kill at any moment loses nothing that was there.
"""
