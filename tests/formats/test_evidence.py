"""Evidence as typed: what is understood, and what stays unresolved."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from realtalk.formats.questions import resolve
from text_tables import rows

IDS = {f"D{day}:{number}" for day in range(1, 31) for number in range(1, 41)}


PIECES = """
    D5:3                        | D5:3                           |
    D5:3.                       | D5:3                           |
    D 2:18                      | D2:18                          |
    D17;39                      | D17:39                         |
    D17.39                      | D17:39                         |
    23:29                       | D23:29                         |
    d23:29                      | D23:29                         |
    D:11:26                     | D11:26                         |
    D30:05                      | D30:5                          |
    D5:12;D5:16                 | D5:12, D5:16                   |
    D13:4. D14:4                | D13:4, D14:4                   |
    D13:35:D20:19               | D13:35, D20:19                 |
    D9:1 D4:4 D4:6              | D9:1, D4:4, D4:6               |
    D12:3-D12:5                 | D12:3, D12:4, D12:5            |
    D12:3–5                     | D12:3, D12:4, D12:5            |
    D12:11-D12:12;D13:25-D13:26 | D12:11, D12:12, D13:25, D13:26 |
    D12:39-D12:44               | D12:39, D12:40                 |
    D1:1-D2:3                   | D1:1, D2:3                     |
    D2:99                       |                                | D2:99
    D2:98-D2:99                 |                                | D2:98-D2:99
    D58                         |                                | D58
    D                           |                                | D
    D1:1 see photo              | D1:1                           | see photo
"""


@pytest.mark.parametrize(("typed", "ids", "lost"), rows(PIECES))
def test_pieces(typed: str, ids: str, lost: str) -> None:
    resolved, unresolved = resolve([typed], IDS)
    assert (", ".join(resolved), ", ".join(unresolved)) == (ids, lost)


def test_odd_pieces() -> None:
    assert resolve(["", " D 2:18 "], IDS) == (("D2:18",), ())
    assert resolve(["D1:1-D1:99999999"], IDS)[0] == ("D1:1",)


def test_order_and_repeats() -> None:
    assert resolve(["D3:1", "D1:1", "D3:1", "D1:1;D2:2"], IDS) == (("D3:1", "D1:1", "D2:2"), ())


def test_an_id_of_another_shape_is_taken_as_it_is() -> None:
    assert resolve(["t1_abc"], {"t1_abc"}) == (("t1_abc",), ())


@given(st.lists(st.text(max_size=30), max_size=4))
@example(["\x1f"])
def test_any_text_is_answered(pieces: list[str]) -> None:
    resolved, unresolved = resolve(pieces, IDS)
    assert set(resolved) <= IDS
    assert len(set(resolved)) == len(resolved)
    assert all(piece.strip() for piece in unresolved)


@given(st.lists(st.sampled_from(sorted(IDS)), unique=True, max_size=5), st.sampled_from("; ,.\n"))
def test_joined_ids_come_apart(ids: list[str], separator: str) -> None:
    assert resolve([f"{separator} ".join(ids)], IDS) == (tuple(ids), ())
