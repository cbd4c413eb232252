"""The models that run here, as an Inspect provider: `realtalk/smollm2` wherever a model is named.

    inspect eval realtalk/memory_probing --model realtalk/smollm2
    realtalk probe sample --reader llm --model realtalk/smollm2 --out probe-smollm2

Importing this module registers the provider. Inspect speaks to the loopback server as to any
OpenAI-compatible one; a prompt that does not fit comes back as `model_length`, not as an error.

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
from importlib.util import find_spec
from typing import Any, NamedTuple

from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI
from openai import APIStatusError, AsyncOpenAI

from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.models.files import model_of, path_of

_TOO_LONG = "exceed_context_size_error"


class LocalAPI(OpenAICompatibleAPI):
    """An OpenAI-compatible server that this process started."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,  # noqa: ARG002
        api_key: str | None = None,  # noqa: ARG002
        config: GenerateConfig = GenerateConfig(),  # noqa: B008
        **model_args: Any,
    ) -> None:
        self._served = serve(model_name)
        super().__init__(
            model_name,
            # Inspect keeps answers under this address, and the port is another every time: the
            # file's hash is what stays, and what the answers depend on.
            base_url=f"http://{model_of(model_name).sha256[:16]}.local/v1",
            api_key=self._served.key,
            config=config,
            service="realtalk",
            **model_args,
        )

    def _create_client(self) -> AsyncOpenAI:
        return AsyncOpenAI(
            api_key=self._served.key,
            base_url=self._served.url,
            http_client=self.http_client,
            **self.model_args,
        )

    def max_connections(self) -> int:
        """One at a time: more would wait in the server's queue and run into timeouts."""
        return 1

    def connection_key(self) -> str:
        return f"realtalk/{self.model_name}"

    def handle_bad_request(self, ex: APIStatusError) -> ModelOutput | Exception:
        body = ex.body if isinstance(ex.body, dict) else {}
        if body.get("type") == _TOO_LONG:
            return ModelOutput.from_content(
                self.model_name, "the prompt is too long", stop_reason="model_length"
            )
        return super().handle_bad_request(ex)


@modelapi(name="realtalk")
def local_models() -> type[ModelAPI]:
    return LocalAPI


class ServedModel(NamedTuple):
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
