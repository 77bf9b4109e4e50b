"""Seeded faults change one subtree of one function, and survive renaming of what they are not about."""

from __future__ import annotations

import ast

import pytest

from tests.faults import Fault, faulty_tree, seeded
from transom.model import bag
from transom.model.time import Calendar


def test_a_wildcard_matches_any_expression() -> None:
    fault = Fault("nothing is left", bag.difference, "return A_", "return ()")
    assert "return ()" in ast.unparse(faulty_tree(fault))


@pytest.mark.parametrize(("right", "times"), [("no_such_name", 0), ("A_", "")])
def test_a_fault_matches_exactly_once(right: str, times: object) -> None:
    with pytest.raises(AssertionError, match=f"matches {times}"):
        faulty_tree(Fault("never or often", bag.difference, right, "None"))


def test_a_fault_is_in_force_only_inside() -> None:
    rows = ((1,), (2,))
    with seeded(Fault("nothing is left", bag.difference, "return A_", "return ()")):
        assert bag.difference(rows, ((1,),)) == ()
    assert bag.difference(rows, ((1,),)) == ((2,),)


def test_a_method_is_found_by_its_class() -> None:
    fault = Fault("ticks are not counted", Calendar.ticks, "return A_", "return 0")
    assert fault.module.__name__ == "transom.model.time"
