"""Records print, compare and hash like frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from transom.record import Record


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Pair(Record):
    left: object
    right: object = 0
    note: str = field(default="", compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Other(Record):
    left: object
    right: object = 0


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class One(Record):
    value: object


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Empty(Record):
    pass


def test_equal_fields_are_equal_records() -> None:
    assert Pair(1, 2) == Pair(1, 2)
    assert Pair(1, 2) != Pair(1, 3)
    assert Pair(1, 2) != Other(1, 2)
    assert Pair(1, 2, "a") == Pair(1, 2, "b"), "a field that is not compared"
    assert hash(Pair(1, 2, "a")) == hash(Pair(1, 2, "b")) != hash(Pair(2, 1))
    assert Empty() == Empty() != One(1)
    assert hash(Empty()) == hash(Empty())


def test_one_field_is_compared_as_in_a_tuple() -> None:
    nan = float("nan")
    assert One(nan) == One(nan), "the same object, as a dataclass compares it"
    assert One(nan) != One(float("nan"))
    assert One(1) == One(1.0)
    assert One((1,)) != One(1)


def test_records_print_their_fields() -> None:
    assert repr(Pair("a", One(2))) == "Pair(left='a', right=One(value=2), note='')"


def test_a_record_with_a_list_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(One([]))
