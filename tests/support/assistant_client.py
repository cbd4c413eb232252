"""The server of `realtalk mcp` in this process, asked by the official client of the protocol.

with assistant("sample") as asked:
    asked("list_chats", limit=1)              → {"chats": [...], "total": 2, ...}
    asked.refused("recall", question="")      → "'question' is empty"

What it reads, writes and opens as a process of its own is for `test_assistant_process`.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is not installed")

from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.server import MCPServer
from mcp.types import CallToolResult, TextContent

import realtalk as rt
from realtalk.assistant import server
from realtalk.assistant.answers import MOST_CHARACTERS


class Assistant:
    """A client that is connected; every answer is held to what holds for all of them."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self._portal = portal
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


@contextmanager
def assistant(*paths: str, redact: bool = False) -> Iterator[Assistant]:
    """A server over the paths, for as long as the block runs."""
    made: list[MCPServer[Any]] = []
    with pytest.MonkeyPatch.context() as patch, start_blocking_portal() as portal:
        patch.setattr(server, "PATIENCE", 600.0)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
        patch.setattr(MCPServer, "run", lambda self, _: made.append(self))
        rt.mcp(paths, redact=redact)
        with portal.wrap_async_context_manager(Client(made[0])) as connected:
            yield Assistant(portal, connected)
