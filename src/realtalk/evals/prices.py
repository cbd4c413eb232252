"""Tokens that models used, and their prices → money, where a price is known.

    prices = read_prices(Path("prices.json"))
    usage = usage_of(run.settings, run.rows)[0]
    → Usage("answers", "openai/gpt-4o-mini", calls=51, tokens_in=40_812, tokens_out=612)
    cost_json([usage], prices)[0]["cost"]           → {"amount": 0.006489, "currency": "USD"}
    cost_table([usage], prices)                     one line per model: calls, tokens, cost

prices.json, per million tokens: {"openai/gpt-4o-mini": {"input": 0.15, "output": 0.60}}, and
"currency" where it is not USD. What has no price has no cost, never zero, and the reason is said.
An answer that was kept from an earlier run counts like one that was asked for now.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from realtalk.errors import RealtalkError
from realtalk.evals.values import COUNTS, Lines, Row, by_column

_MILLION = 1_000_000
_EXAMPLE = '{"openai/gpt-4o-mini": {"input": 0.15, "output": 0.60}}'


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost."""

    input: float
    output: float
    currency: str = "USD"


Prices: TypeAlias = Mapping[str, Price]


@dataclass(frozen=True, slots=True)
class Usage:
    """What one model was asked for in a run, and the tokens that took."""

    part: str  # answers, judgements, memory
    model: str
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


def read_prices(given: str | PathLike[str] | Mapping[str, Any]) -> Prices:
    """Prices by model, from a JSON file or from what such a file holds."""
    where, value = "prices", given
    if not isinstance(given, Mapping):
        where = str(given)
        try:
            value = orjson.loads(Path(given).read_bytes())
        except OSError as error:
            raise RealtalkError(f"cannot be read ({error.strerror})", where=where) from error
        except ValueError as error:
            raise RealtalkError("is not JSON", where=where, fix=f"write {_EXAMPLE}") from error
    if not isinstance(value, Mapping):
        raise RealtalkError("is not a list of prices", where=where, fix=f"write {_EXAMPLE}")
    return {model: _price(model, price, where) for model, price in value.items()}


def _price(model: str, value: Any, where: str) -> Price:
    fields = Price.__dataclass_fields__
    if not isinstance(value, Mapping) or not {"input", "output"} <= value.keys() <= fields.keys():
        raise RealtalkError(
            f"the price of '{model}' is not an input and an output", where=where, fix=_EXAMPLE
        )
    for name in ("input", "output"):
        if type(value[name]) not in (int, float) or not 0 <= value[name] < math.inf:
            raise RealtalkError(f"the {name} price of '{model}' is no amount", where=where)
    currency = value.get("currency", "USD")
    if not isinstance(currency, str) or not currency.strip():
        raise RealtalkError(f"the currency of '{model}' is no name", where=where)
    return Price(float(value["input"]), float(value["output"]), currency.strip())


def usage_of(
    settings: Mapping[str, Any],
    rows: Iterable[Row],
    *,
    judgements: Iterable[Row] = (),
    preparations: Iterable[Row] = (),
) -> list[Usage]:
    """What every model of a run was asked for; a run that asked none has an empty list.

    Answers are by the model of the solver, or of its reader; what a memory asked, in preparation
    and while it recalled, by that of the memory; `judgements` by the model that each of them names.
    """
    solver = (settings.get("solver") or {}).get("settings") or {}
    answers = list(rows)
    recalls = [{name: row.get(f"memory_{name}") for name in COUNTS} for row in answers]
    tables = [
        ("answers", str(solver.get("model") or _model(solver, "reader")), answers),
        ("memory", _model(solver, "memory"), [*preparations, *recalls]),
    ]
    judged = by_column(judgements, "judge")
    tables += [("judgements", judge, own) for judge, own in judged.items()]
    usages = []
    for part, model, used in tables:
        counts = {name: sum(row.get(name) or 0 for row in used) for name in COUNTS}
        if any(counts.values()):
            usages.append(Usage(part, model, **counts))
    return usages


def _model(settings: Mapping[str, Any], part: str) -> str:
    return str(((settings.get(part) or {}).get("settings") or {}).get("model") or "")


def cost_json(usages: Sequence[Usage], prices: Prices) -> list[dict[str, Any]]:
    """One line per part and model: without a price `cost` is None, and `unpriced` says why."""
    rows = []
    for usage in usages:
        cost, unpriced = None, None
        price = prices.get(usage.model)
        if price is None:
            unpriced = f"no price is given for {usage.model or 'a model without a name'}"
        elif usage.calls and not usage.tokens_in:
            unpriced = "the provider counted no tokens"
        else:
            amount = (usage.tokens_in * price.input + usage.tokens_out * price.output) / _MILLION
            cost = {"amount": amount, "currency": price.currency}
        rows.append({**asdict(usage), "cost": cost, "unpriced": unpriced})
    return rows


def cost_table(usages: Sequence[Usage], prices: Prices) -> Lines:
    """The same for people, then what all of them cost, one line per currency."""
    headings = ("asked for", "model", "calls", "tokens in", "tokens out", "cost")
    rows: list[tuple[Any, ...]] = []
    sums: dict[str, float] = {}
    for row in cost_json(usages, prices):
        cost, counts = row["cost"], (row[name] for name in COUNTS)
        rows.append((row["part"], row["model"], *counts, row["unpriced"] or money(**cost)))
        if cost is not None:
            sums[cost["currency"]] = sums.get(cost["currency"], 0.0) + cost["amount"]
    for currency, amount in sums.items() if len(usages) > 1 else ():
        rows.append(("together", None, None, None, None, money(amount, currency)))
    return headings, rows


def money(amount: float, currency: str) -> str:
    """An amount for people; amounts of different currencies are never added up."""
    if 0 < amount < 0.00005:
        return f"under 0.0001 {currency}"
    return f"{amount:,.4f} {currency}"
