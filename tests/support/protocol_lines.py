"""Lines of the Model Context Protocol, as a client writes them to a server's standard input.

OPENING                          a greeting, which is answered, and a notice, which is not
call("list_chats", limit=1)      → '{"jsonrpc": "2.0", "id": 2, "method": "tools/call", …}'
"""

from __future__ import annotations

import json
from typing import Any

_GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
OPENING = (
    json.dumps(_GREETING),
    json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
)


def call(tool: str, **given: Any) -> str:
    """A question that a tool answers."""
    params = {"name": tool, "arguments": given}
    return json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params})
