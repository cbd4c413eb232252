"""Names of protocols, and what a table made by one must say."""

from __future__ import annotations

from typing import Any

from realtalk.threads.values import CLEAN, LEAKS, PROTOCOLS, RELEASED, describe, protocol
from refusals import refused
from text_tables import cases


def test_names() -> None:
    assert CLEAN.name == "clean" and RELEASED.name == "released"
    assert [protocol(name) for name in PROTOCOLS] == [CLEAN, RELEASED]
    assert protocol(leaks=("sign-shown",)).name == "clean+sign-shown"
    both = protocol(leaks=("sign-shown", "flat-tree"))
    assert both == protocol(leaks=("flat-tree", "sign-shown"))
    assert protocol(leaks=tuple(LEAKS)).name == "released"


def test_a_table_says_what_was_shown() -> None:
    assert not any("scores" in line for line in describe(CLEAN))
    assert any("later than any cutoff" in line for line in describe(protocol(with_scores=True)))
    assert any("nothing from then or later" in line for line in describe(CLEAN))
    assert not any("nothing from then or later" in line for line in describe(RELEASED))
    assert sum(line.startswith("leak ") for line in describe(RELEASED)) == len(LEAKS)
    assert protocol(with_scores=True).settings["with_scores"] is True
    assert protocol(leaks=("scores-shown",)).shows_scores


@cases("""
    given                    | said
    {"name": "relased"}      | unknown-protocol
    {"leaks": ["sign"]}      | unknown-leak
    {"split": "gobal"}       | unknown-split
    {"chosen": "nearest"}    | unknown-choice
    {"test_share": 1.0}      | protocol
    {"least": 0}             | protocol
    {"shots": -1}            | protocol
    {"conversation": 0}      | protocol
""")
def test_wrong_settings_are_refused(given: dict[str, Any], said: str) -> None:
    with refused(said):
        protocol(**given)
