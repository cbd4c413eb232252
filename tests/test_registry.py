"""Names resolve late, and a typo gets a hint."""

from __future__ import annotations

import pickle

import pytest

from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.formats.registry import FORMATS
from realtalk.installing import cure
from realtalk.registry import Registry
from refusals import refused


def test_resolves_late() -> None:
    things: Registry[object] = Registry("thing", {"path": "pathlib:Path", "bad": "no_such_mod:x"})
    assert things["path"].__name__ == "Path"  # type: ignore[attr-defined]
    assert "bad" in things
    assert list(things) == ["path", "bad"]
    with pytest.raises(ModuleNotFoundError):
        things["bad"]


def test_did_you_mean() -> None:
    with refused(r"unknown format 'whatsap'; did you mean 'whatsapp'\?"):
        FORMATS["whatsap"]
    with refused("known: realtalk"):
        FORMATS["zzzz"]


def test_an_error_has_a_code() -> None:
    assert RealtalkError("`budget=x` is no size", fix="give `out=DIR`").code == "budget"
    assert RealtalkError("is a folder", fix="give `out=DIR`").code == "input"
    assert MissingExtraError("a judge", "llm").code == "missing-extra"
    with refused() as caught:
        FORMATS["zzzz"]
    assert pickle.loads(pickle.dumps(caught.value)).code == "unknown-format"


def test_an_error_is_one_line() -> None:
    error = RealtalkError("bad\nthing", where="a\nb.txt, line 3", fix="do\tthis")
    assert str(error) == "a b.txt, line 3: bad thing; do this"


def test_a_missing_extra_names_its_cure() -> None:
    assert str(MissingExtraError("the judge", "llm")).endswith(f"install it with: {cure('llm')}")
