"""A model file → an OpenAI-compatible server on loopback, one per process and model.

    served = serve("smollm2")
    served.url, served.key    → "http://127.0.0.1:46099/v1", a word that only this process knows

The server starts in about a second, on a port that the system picks, and ends with the
process. It answers nobody else: requests need the key.
"""

from __future__ import annotations

import atexit
import os
import secrets
import threading
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.models.files import model_of, path_of


@dataclass(frozen=True, slots=True)
class ServedModel:
    """Where a model answers. `context` is how many tokens fit, prompt and answer together."""

    url: str
    key: str
    context: int


_running: dict[str, tuple[Any, ServedModel]] = {}
_lock = threading.Lock()


def serve(name: str) -> ServedModel:
    """The server of a model, started where it does not run yet."""
    model = model_of(name)
    with _lock:
        if name in _running:
            return _running[name][1]
        if find_spec("xllamacpp") is None:
            raise MissingExtraError(f"the model {name}", "local")
        path = path_of(name)
        import xllamacpp

        key = secrets.token_hex(16)
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.model_alias = {name}
        parameters.n_ctx = model.context
        # More slots would share the context between them.
        parameters.n_parallel = 1
        parameters.hostnames = ["127.0.0.1"]
        parameters.port = 0
        # Two threads that wait for each other on cores that are busy elsewhere write five times
        # slower than one; reading a prompt gains from all of them.
        cores = os.cpu_count() or 1
        parameters.cpuparams.n_threads = max(1, cores // 2)
        parameters.cpuparams_batch.n_threads = cores
        parameters.api_keys = [key]
        parameters.verbosity = -1
        parameters.ctx_shift = False
        # A kept prefix is computed in other batches, which can change the last digit and with it
        # a word: the same question must get the same answer in any order.
        parameters.cache_prompt = False
        try:
            server = xllamacpp.Server(parameters)
        except RuntimeError as error:
            raise RealtalkError(
                "the model could not be started",
                where=str(path),
                fix=f"get it again: remove the file, then realtalk models get {name}",
            ) from error
        served = ServedModel(f"{server.listening_address}/v1", key, model.context)
        _running[name] = (server, served)
        return served


@atexit.register
def stop() -> None:
    """Ends every server. Left to the interpreter's end, they would end after its threads."""
    with _lock:
        _running.clear()
