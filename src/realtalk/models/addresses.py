"""Which server a model's name stands for → an address that may be written down.

    address_of("openai/gpt-4o-mini", None)                         → None: the provider's own
    address_of("openai/gpt-4o-mini", None)  with OPENAI_BASE_URL   → "http://gateway.test/v1"
    address_of("openai-api/my/model", "https://me:pw@host.test/v1?key=1")
                                                                   → "https://host.test/v1"

Two servers may call different models by one name, so a run remembers where its answers came
from. What may be a key in an address (user, password, query) is left out; an address that
cannot be read is kept as its hash.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

_VARIABLE = re.compile(r"(\w+)_(?:BASE_URL|API_BASE|ENDPOINT)")
_ANY = "INSPECT_EVAL_MODEL_BASE_URL"  # what Inspect takes where a provider has none of its own
_CLOUDS = frozenset({"azure", "bedrock", "vertex"})  # serve others' models: openai/azure/gpt-4o
# Words of such a variable beside the name itself.
_OTHER_WORDS = {"grok": ["XAI"], "azure": ["AZUREAI"], "bedrock": ["AWS"]}
_HASHED = re.compile(r"sha256:[0-9a-f]{12}")


def address_of(
    model: str, base_url: str | None, environment: Mapping[str, str] = os.environ
) -> str | None:
    """Where the model will be asked; None at its provider's own address, or on this machine."""
    provider, service = model.split("/")[:2]
    if provider == "realtalk":
        return None
    if base_url:
        return bare_address(base_url)
    names = {service} if provider == "openai-api" else {provider, *_CLOUDS & {service}}
    words = {word for name in names for word in name.upper().split("-")}
    words |= {word for name in names for word in _OTHER_WORDS.get(name, ())}
    found = (_VARIABLE.fullmatch(name) for name in sorted(environment) if environment[name])
    addresses = dict.fromkeys(
        bare_address(environment[variable[0]])
        for variable in found
        if variable and words.issuperset(variable[1].split("_"))
    )
    if not addresses and environment.get(_ANY):
        return bare_address(environment[_ANY])
    return " ".join(addresses) or None


def bare_address(url: str) -> str:
    """The address without user, password, query and fragment; one that is bare stays as it is."""
    if _HASHED.fullmatch(url):
        return url
    try:
        parts = urlsplit(url.strip())
        doubtful = not parts.netloc or "@" in parts.path + parts.query + parts.fragment
        if doubtful and not re.fullmatch(r"[\w.-]+(:\d+)?(/[\w./-]*)?", url.strip()):
            raise ValueError
    except ValueError:
        return f"sha256:{hashlib.sha256(url.encode('utf-8', 'replace')).hexdigest()[:12]}"
    place = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, place, parts.path.rstrip("/"), "", ""))
