"""What libraries send by themselves, switched off before any of them is imported.

    import realtalk                        # every way in begins with this: command, task, module
    os.environ["ORT_DISABLE_TELEMETRY"]    → "1"
    with no_hub(): ...                     # Hugging Face's client refuses every request
    with quiet(transformers): ...          # no bars and warnings that are not for our user

ONNX Runtime 1.31 reports to its maker from its import on, and nothing stops it afterwards; the
others read their switch when they are imported, too. What the environment said before does not
count: "nothing leaves this machine" must not depend on a line in somebody's profile.
Processes that are started from here inherit the switches.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SWITCHES = {
    "ORT_DISABLE_TELEMETRY": "1",  # ONNX Runtime: a device id, events, a session in the temp folder
    "HF_HUB_DISABLE_TELEMETRY": "1",  # Hugging Face's client, below tokenizers and transformers
    "DO_NOT_TRACK": "1",  # https://donottrack.sh: asked by several of them
    "MEM0_TELEMETRY": "False",  # mem0: reports every call to PostHog
    "ANONYMIZED_TELEMETRY": "False",  # Chroma, one of mem0's stores
    # LangChain sends what a retriever is asked and gives back to LangSmith where one of these is
    # set, as it is in the profile of people who trace other work.
    "LANGSMITH_TRACING": "false",
    "LANGSMITH_TRACING_V2": "false",
    "LANGCHAIN_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
}
_RUNTIME = "ORT_DISABLE_TELEMETRY"


def switch_off() -> None:
    """Sets every switch; says so where ONNX Runtime has begun to report already."""
    if "onnxruntime" in sys.modules and os.environ.get(_RUNTIME) != SWITCHES[_RUNTIME]:
        warnings.warn(
            "onnxruntime was imported before realtalk and may report to its maker; import "
            f"realtalk first, or set {_RUNTIME}=1",
            RuntimeWarning,
            stacklevel=3,
        )
    os.environ.update(SWITCHES)


@contextmanager
def no_hub() -> Iterator[None]:
    """For what is read from a folder: whatever a library would look up on the hub fails here."""
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


@contextmanager
def quiet(transformers: Any) -> Iterator[None]:
    """Keeps the library's own bars and warnings off a user's screen."""
    logging = transformers.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
