"""Research beside the package: papers, result pages, experiments, and the training of what ships.

Nothing here is in the wheel, and nothing of the package imports it. Run from the repository's
root: `python -m research.papers.reproduce --help`.
"""
