"""Tokens become money where a price is known, and nothing else does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from realtalk.evals.prices import Usage, cost_json, cost_table, money, read_prices, usage_of
from refusals import refused
from text_tables import cases

MINI = {"openai/gpt-4o-mini": {"input": 0.15, "output": 0.60}}


def test_a_million_tokens_cost_their_price() -> None:
    prices = read_prices({"a/b": {"input": 2, "output": 8, "currency": "EUR"}})
    (line,) = cost_json([Usage("answers", "a/b", 3, 1_000_000, 500_000)], prices)
    assert line["cost"] == {"amount": 6.0, "currency": "EUR"}
    assert money(1234.5, "EUR") == "1,234.5000 EUR"
    assert money(0.0000001, "USD") == "under 0.0001 USD"


def test_what_has_no_price_has_no_cost() -> None:
    prices = read_prices(MINI)
    unknown = Usage("answers", "openai/gpt-4o", 3, 100, 10)
    uncounted = Usage("answers", "openai/gpt-4o-mini", 3, 0, 0)
    _, rows = cost_table([unknown, uncounted], prices)
    assert [row[-1] for row in rows] == [
        "no price is given for openai/gpt-4o",
        "the provider counted no tokens",
    ]
    assert [line["cost"] for line in cost_json([unknown, uncounted], prices)] == [None, None]


def test_currencies_are_not_added_up() -> None:
    prices = read_prices(
        MINI
        | {"x/y": {"input": 1, "output": 1, "currency": "EUR"}, "x/z": {"input": 1, "output": 1}}
    )
    usages = [
        Usage("answers", "x/y", 1, 10**6, 0),
        Usage("judgements", "x/z", 1, 10**6, 0),
        Usage("memory", "openai/gpt-4o-mini", 1, 10**6, 0),
    ]
    _, rows = cost_table(usages, prices)
    assert [row[-1] for row in rows[3:]] == ["1.0000 EUR", "1.1500 USD"]


def test_every_model_of_a_run_is_counted() -> None:
    def used(tokens: int, **more: Any) -> dict[str, Any]:
        return {"calls": 1, "tokens_in": tokens, "tokens_out": 1, **more}

    settings = {
        "reader": {"settings": {"model": "a/reader"}},
        "memory": {"settings": {"model": "a/notes"}},
    }
    usages = usage_of(
        {"solver": {"settings": settings}},
        [used(10), used(20, memory_calls=1, memory_tokens_in=3, memory_tokens_out=1)],
        judgements=[used(5, judge="b/one"), used(6, judge="c/two"), used(7, judge="b/one")],
        preparations=[used(100)],
    )
    assert [(usage.model, usage.tokens_in) for usage in usages] == [
        ("a/reader", 30),
        ("a/notes", 103),
        ("b/one", 12),
        ("c/two", 6),
    ]
    assert usage_of({"solver": {"settings": {}}}, [used(0) | {"calls": 0, "tokens_out": 0}]) == []


@cases("""
    prices                                   | line
    {                                        | is not JSON
    [1]                                      | is not a list of prices
    {"a/b": 3}                               | the price of 'a/b' is not an input and an output
    {"a/b": {"input": 1}}                    | the price of 'a/b' is not an input and an output
    {"a/b": {"input": 1, "output": 1, "per": 1}} | is not an input and an output
    {"a/b": {"input": -1, "output": 1}}      | the input price of 'a/b' is no amount
    {"a/b": {"input": 1, "output": true}}    | the output price of 'a/b' is no amount
    {"a/b": {"input": 1, "output": 1, "currency": 3}} | the currency of 'a/b' is no name
""")
def test_a_bad_file_is_one_clear_line(tmp_path: Path, prices: Any, line: str) -> None:
    file = tmp_path / "prices.json"
    file.write_text(prices if isinstance(prices, str) else json.dumps(prices))
    with refused(line) as error:
        read_prices(file)
    assert "prices.json" in str(error.value)


def test_a_file_is_read(tmp_path: Path) -> None:
    with refused("cannot be read"):
        read_prices(tmp_path)
    file = tmp_path / "prices.json"
    file.write_text(json.dumps(MINI))
    assert read_prices(str(file)) == read_prices(MINI)
