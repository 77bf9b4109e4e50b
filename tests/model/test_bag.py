"""Bags: difference and order, as laws."""

from __future__ import annotations

import random
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from transom.model.bag import difference, row_identity, row_key

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.0, 0.5, 1.0, -1.5]),
    st.sampled_from(["", "a", "b", "é"]),
    st.sampled_from([Decimal("1"), Decimal("0.5")]),
    st.just(datetime(2009, 3, 2, tzinfo=UTC)),
)
ROWS = st.lists(st.tuples(VALUES, VALUES), max_size=8)
law = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""A busy machine is not a fault of the bags."""


@law
@given(ROWS, ROWS)
def test_difference_is_a_bag_difference(left: list, right: list) -> None:
    kept = Counter(map(row_identity, difference(left, right)))
    assert kept == Counter(map(row_identity, left)) - Counter(map(row_identity, right))


@law
@given(ROWS, ROWS)
def test_difference_keeps_order(left: list, right: list) -> None:
    rest = iter(map(row_identity, left))
    assert all(row_identity(row) in rest for row in difference(left, right))


@law
@given(ROWS, st.randoms())
def test_any_rows_can_be_put_in_one_order(rows: list, rng: random.Random) -> None:
    shuffled = rng.sample(rows, len(rows))
    assert list(map(row_key, sorted(shuffled, key=row_key))) == sorted(map(row_key, rows))


def test_one_and_true_are_two_values() -> None:
    assert difference([(1,), (True,)], [(True,)]) == ((1,),)
    assert difference([(1,)], [(1.0,)]) == ()


def test_null_comes_first() -> None:
    assert sorted([("a",), (2,), (None,), (True,)], key=row_key) == [(None,), (True,), (2,), ("a",)]
