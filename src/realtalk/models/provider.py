"""The models that run here, as an Inspect provider: `realtalk/smollm2` wherever a model is named.

    inspect eval realtalk/memory_probing --model realtalk/smollm2
    realtalk probe sample --reader llm --model realtalk/smollm2 --out probe-smollm2

Importing this module registers the provider. Inspect speaks to the loopback server as to any
OpenAI-compatible one; a prompt that does not fit comes back as `model_length`, not as an error.
"""

from __future__ import annotations

from typing import Any

from inspect_ai.model import GenerateConfig, ModelAPI, ModelOutput, modelapi
from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI
from openai import APIStatusError, AsyncOpenAI

from realtalk.models.files import model_of
from realtalk.models.server import serve

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
