"""Messages as lines → rows that a read-only SQL query of an assistant's own asks for, by DuckDB.

    QueryTables(lines, texts=False).rows("SELECT person, count(*) AS n FROM messages GROUP BY 1")
    → [{"person": "Mara", "n": 180}, {"person": "Theo", "n": 168}]

The tables are copies in memory; afterwards the database may open no file, load nothing and change
no setting. One SELECT at a time, with an end in time, memory and rows. Texts are only in the tables
where whoever started the server allowed it.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from realtalk.assistant.answers import MOST_CHARACTERS, rounded
from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.pages.lines import MessageLines

MOST_RESULTS = 1000
SECONDS = 10.0
_LONGEST_REASON = 300
# Set while the tables are made; the last one locks the others.
_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "python_enable_replacements": "false",  # else a query reads variables of ours
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "memory_limit": "'1GB'",
        "temp_directory": "''",
        "threads": "2",
        "enable_external_access": "false",
        "lock_configuration": "true",
    }
)


class QueryTables:
    """The tables `messages` and `reactions`, which can only be read."""

    def __init__(self, lines: MessageLines, *, texts: bool) -> None:
        if find_spec("duckdb") is None:
            raise MissingExtraError("a query", "mcp")
        import duckdb

        self._database = duckdb.connect(":memory:")
        messages = lines.frame.rename({"speaker": "person", "reply": "reply_seconds"})
        self._database.register("given_messages", messages if texts else messages.drop("text"))
        self._database.register("given_reactions", lines.reactions)
        for name in ("messages", "reactions"):
            self._database.execute(f"CREATE TABLE {name} AS FROM given_{name}")
            self._database.unregister(f"given_{name}")
        for name, value in _SETTINGS.items():
            self._database.execute(f"SET {name} = {value}")

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """The first rows of a query, one more than `MOST_RESULTS` where there are more."""
        import duckdb

        clock = threading.Timer(SECONDS, self._database.interrupt)
        clock.daemon = True
        try:
            statements = self._database.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise RealtalkError("only one SELECT can be asked", fix="write one query")
            clock.start()
            result = self._database.execute(statements[0])
            free = UniqueNames()
            names = [free.free(column[0]) for column in result.description or ()]
            rows = result.fetchmany(MOST_RESULTS + 1)
        except duckdb.InterruptException:
            reason = f"the query took longer than {SECONDS:.0f} seconds"
            raise RealtalkError(reason, fix="ask for less") from None
        except (duckdb.ParserException, duckdb.BinderException, duckdb.CatalogException) as error:
            line = str(error).partition("\n\n")[0][:_LONGEST_REASON]  # then the query itself
            raise RealtalkError(line, fix="`DESCRIBE messages` lists the columns") from None
        except duckdb.PermissionException:
            raise RealtalkError("a query reads no files", fix="ask `messages`") from None
        except duckdb.Error as error:  # its message may hold what somebody wrote
            kind = type(error).__name__.removesuffix("Exception")
            raise RealtalkError(f"the query failed ({kind})", fix="ask in another way") from None
        finally:
            clock.cancel()
        return [dict(zip(names, map(_cell, row), strict=True)) for row in rows]


def _cell(value: Any) -> Any:
    """A value as JSON has it, and no longer than it tells."""
    if value is None or isinstance(value, bool | int | float | Decimal):
        return rounded(value)
    if isinstance(value, datetime):
        return value.isoformat(" ", "seconds")
    return value.isoformat() if isinstance(value, date) else str(value)[:MOST_CHARACTERS]
