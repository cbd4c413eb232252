"""A run of thread tasks whose texts are encoded by workers before it begins.

predict_by(corpus, task, samples, predictor, Processes(4), Path("out"))
→ PredictedRun, with the rows that `run_threads` writes
"""

from __future__ import annotations

from pathlib import Path

from realtalk.chat import Corpus
from realtalk.engine.encoding import encode_by
from realtalk.engine.jobs import Engine
from realtalk.engine.workplaces import workplace
from realtalk.errors import RealtalkError
from realtalk.evals import running
from realtalk.local.progress import Progress, silent
from realtalk.threads.benchmark import PredictedRun, ThreadTask, run_threads
from realtalk.threads.foreseen import foreseen_texts
from realtalk.threads.predictors import Predictor
from realtalk.threads.registry import BASELINES

_PLACE = ".texts"


def predict_by(
    corpus: Corpus,
    task: ThreadTask,
    predictor: Predictor,
    engine: Engine,
    folder: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> PredictedRun:
    """Encodes by an engine, then runs as ever; rows and settings are those of `run_threads`."""
    if predictor.name not in BASELINES:
        raise RealtalkError(
            "an engine splits what needs no language model",
            fix="leave --engine out, or take one of " + ", ".join(BASELINES),
        )
    task.refuse(predictor, corpus)
    running.claim(task, corpus, predictor, folder, fresh=fresh)
    with workplace(folder, _PLACE, engine) as place:
        texts = foreseen_texts(task.samples, task.shown_settings, predictor, progress)
        encode_by(texts, engine, place, fresh=fresh, progress=progress)
        return run_threads(corpus, task, predictor, folder, progress=progress)
