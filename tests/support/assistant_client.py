"""`realtalk mcp` in a process of its own, asked by the official client of the protocol.

with assistant("sample", cache=folder) as asked:
    asked("list_chats", limit=1)              → {"chats": [...], "total": 2, ...}
    asked.refused("recall", question="")      → "'question' is empty"
    asked.said                                → everything that standard error got
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client
from mcp.types import CallToolResult, TextContent

from realtalk.assistant.answers import MOST_CHARACTERS

# Vectors are waited for however busy the machine is.
START = """
from realtalk.assistant import server
from realtalk.cli.main import main
server.PATIENCE = 600.0
main()
"""
COMMAND = (sys.executable, "-c", START, "mcp")


class Assistant:
    """A client that is connected; every answer is held to what holds for all of them."""

    def __init__(self, portal: BlockingPortal, client: Client, log: IO[str]) -> None:
        self._portal = portal
        self._log = log
        self.client = client
        self.heard: list[str] = []  # every answer, errors among them
        self.progress: list[tuple[float, float | None, str | None]] = []

    def result(self, tool: str, **given: Any) -> CallToolResult:
        async def hear(progress: float, total: float | None, message: str | None) -> None:
            self.progress.append((progress, total, message))

        ask = partial(self.client.call_tool, tool, given, progress_callback=hear)
        answer = self._portal.call(ask)
        assert isinstance(answer, CallToolResult)
        (content,) = answer.content
        assert isinstance(content, TextContent)
        assert len(content.text) <= MOST_CHARACTERS
        self.heard.append(content.text)
        return answer

    def __call__(self, tool: str, **given: Any) -> dict[str, Any]:
        answer = self.result(tool, **given)
        assert not answer.is_error, self.heard[-1]
        told: dict[str, Any] = json.loads(self.heard[-1])
        assert answer.structured_content == told
        return told

    def refused(self, tool: str, **given: Any) -> str:
        assert self.result(tool, **given).is_error, self.heard[-1]
        return self.heard[-1].removeprefix(f"Error executing tool {tool}: ")

    def tools(self) -> list[Any]:
        return list(self._portal.call(self.client.list_tools).tools)

    @property
    def said(self) -> str:
        self._log.flush()
        return Path(self._log.name).read_text("utf-8")


@contextmanager
def assistant(*words: str, cache: Path) -> Iterator[Assistant]:
    """A server over the paths and options, for as long as the block runs."""
    environment = {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "REALTALK_CACHE": str(cache),
    }
    command, *rest = COMMAND
    server = StdioServerParameters(command=command, args=[*rest, *words], env=environment)
    with (cache / "said.txt").open("w", encoding="utf-8") as log, start_blocking_portal() as portal:
        client = Client(stdio_client(server, errlog=log))
        with portal.wrap_async_context_manager(client) as connected:
            yield Assistant(portal, connected, log)
