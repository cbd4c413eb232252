"""Which server a model's name stands for, written down without its keys."""

from __future__ import annotations

from realtalk.models.addresses import address_of, bare_address
from text_tables import cases


@cases("""
    model                       | variable
    openai/gpt-4o-mini          | OPENAI_BASE_URL
    anthropic/claude-sonnet-4-5 | ANTHROPIC_BASE_URL
    openai-api/my-box/tiny      | MY_BOX_BASE_URL
    openai-api/my_box/tiny      | MY_BOX_BASE_URL
    openai-api/azure/tiny       | AZURE_BASE_URL
    openai/azure/gpt-4o         | AZUREAI_OPENAI_BASE_URL
    openai/azure/gpt-4o         | AZURE_OPENAI_ENDPOINT
    openai/bedrock/x            | AWS_BEDROCK_BASE_URL
    anthropic/vertex/x          | ANTHROPIC_VERTEX_BASE_URL
    google/gemini-2.5-pro       | GOOGLE_BASE_URL
    grok/grok-4                 | XAI_BASE_URL
    ollama/llama3               | OLLAMA_BASE_URL
    vllm/x/y                    | VLLM_BASE_URL
    litellm-proxy/x             | LITELLM_PROXY_API_BASE
    openai/gpt-4o-mini          | INSPECT_EVAL_MODEL_BASE_URL
""")
def test_a_variable_of_the_provider_is_its_address(model: str, variable: str) -> None:
    told = {variable: "http://gateway.test:8080/v1/"}
    assert address_of(model, None, told) == "http://gateway.test:8080/v1"
    assert address_of(model, "http://given.test", told) == "http://given.test"
    assert address_of(model, None, {}) is None
    assert address_of("realtalk/smollm2", None, told) is None


@cases("""
    model                  | variable
    openai/gpt-4o-mini     | ANTHROPIC_BASE_URL
    openai/gpt-4o-mini     | AZURE_OPENAI_ENDPOINT
    openai-api/my-box/tiny | BOX_BASE_URL  # of openai-api/box
    litellm-proxy/x        | PROXY_BASE_URL
""")
def test_others_variables_are_not_its_address(model: str, variable: str) -> None:
    assert address_of(model, None, {variable: "http://a.test"}) is None


@cases("""
    url                                                     | bare
    https://me:hunter2@host.test:81/v1/?key=hunter2#hunter2 | https://host.test:81/v1
    http://hunter2@[::1]:9/v1                               | http://[::1]:9/v1
    api.x.ai                                                | api.x.ai
    localhost:8000/v1                                       | localhost:8000/v1
    http://me:hun/ter2@host/v1                              | null
    me:hunter2@host/v1                                      | null
    http://host/v1?mail=a@hunter2                           | null
    http://[hunter2                                         | null
""")
def test_no_key_is_left_in_an_address(url: str, bare: str | None) -> None:
    found = bare_address(url)
    assert "hunter2" not in found
    assert found == bare if bare else found.startswith("sha256:")
    assert bare_address(found) == found  # what was written down once reads the same
