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

_ENDINGS = ("BASE_URL", "API_BASE", "ENDPOINT")
_ANY = "INSPECT_EVAL_MODEL_BASE_URL"  # what Inspect takes where a provider has none of its own
_OTHER_NAMES = {"grok": ("XAI",), "litellm-proxy": ("LITELLM",)}
_HASHED = re.compile(r"sha256:[0-9a-f]{12}")
# Clouds that serve others' models: openai/azure/gpt-4o.
_CLOUDS = {"azure": ("AZURE", "AZUREAI"), "bedrock": ("BEDROCK",), "vertex": ("VERTEX",)}


def address_of(
    model: str, base_url: str | None, environment: Mapping[str, str] = os.environ
) -> str | None:
    """Where the model will be asked; None at its provider's own address, or on this machine."""
    provider, _, rest = model.partition("/")
    if provider == "realtalk":
        return None
    if base_url:
        return bare_address(base_url)
    service = rest.partition("/")[0]
    name = service if provider == "openai-api" else provider
    words = (name.upper().replace("-", "_"), *_OTHER_NAMES.get(name, ()))
    heads = set(words)
    if provider != "openai-api":
        for cloud in _CLOUDS.get(service, ()):
            heads |= {cloud, f"AWS_{cloud}"}
            heads |= {f"{a}_{b}" for word in words for a, b in ((cloud, word), (word, cloud))}
    names = sorted(f"{head}_{ending}" for head in heads for ending in _ENDINGS)
    addresses = dict.fromkeys(
        bare_address(environment[name]) for name in names if environment.get(name)
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
