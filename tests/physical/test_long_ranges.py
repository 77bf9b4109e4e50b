"""Ranges that hold a row in very many windows: which plans make a row for each, and which are refused."""

from __future__ import annotations

from unittest.mock import MagicMock

import pytest

import transom
from transom import Catalog
from transom.errors import UsageError
from transom.physical.lifetimes import max_copies

CATALOG = Catalog.read("extents:\n  s: {declare: 'pushed (a:integer)'}\n")
LONG = "s [FROM NOW-100000000 TO NOW SLIDE 1 SEC]"
TEXTS = [f"SELECT COUNT(*) FROM {LONG}", f"RSTREAM(SELECT a FROM {LONG})", f"SELECT a, COUNT(*) FROM {LONG} GROUP BY a"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_live_run_without_an_end_is_refused(text: str) -> None:
    query = transom.compile(text, CATALOG, name="q.sneeql")
    plan = query.physical()
    assert max_copies(plan) == 100_000_001
    with pytest.raises(UsageError, match="a row is in 100,000,001 windows") as caught:
        query._check_copies(plan)
    assert caught.value.position == (1, text.index("s [") + 1)
    pytest.importorskip("pyspark")
    from transom.runtime.options import RunOptions

    with pytest.raises(UsageError, match="a row is in 100,000,001 windows"):
        query.job(MagicMock(), RunOptions(kernel="off"))
    query.job(MagicMock(), RunOptions(kernel="off", until=5))
    query.job(MagicMock(), RunOptions(kernel="off"), live=False)


@pytest.mark.parametrize(
    "text",
    [
        f"ISTREAM(SELECT a FROM {LONG})",
        "SELECT COUNT(*) FROM s [FROM NOW-100000000 TO NOW SLIDE 1000 SEC]",
        "SELECT a FROM s [FROM NOW-100000000 TO NOW SLIDE 1 ROWS]",
    ],
)
def test_what_makes_few_rows_is_not_refused(text: str) -> None:
    query = transom.compile(text, CATALOG)
    query._check_copies(query.physical())


def test_the_kernel_makes_no_copies() -> None:
    query = transom.compile(TEXTS[2], CATALOG)
    plan = query.physical(kernel=True)
    assert max_copies(plan) == 1
