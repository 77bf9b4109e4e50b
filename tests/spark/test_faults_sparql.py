"""Faults sown into EXISTS, new blank nodes and paths on Spark: the small cases must notice each, without the kernel."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.spark import test_faults_rdf
from tests.spark.test_faults import Sown, sow
from tests.spark.test_faults_rdf import is_noticed, nothing_is_noticed, tries
from transom.machines import delta_join, match_counter, paths
from transom.physical import rdf_arrange, rdf_closure, rdf_join
from transom.spark import rdf_solutions

SOWN = [
    sow(
        "a mark stays as it was",
        delta_join,
        "changes = [*self._before(coming, matched), *self._after(now)]",
        "changes = ((row, count, now) for row, count in coming.items())",
        ("exists-as-value", "replay"),
        falls=True,
    ),
    sow(
        "a mark with a condition is never true",
        match_counter,
        "copies = [0, self.copies] if self.matches else [self.copies, 0]",
        "copies = [self.copies, 0]",
        ("exists-in-aggregate", "replay"),
    ),
    sow(
        "keys of EXISTS are variables in common",
        rdf_join,
        "own = [name for name in equal if not is_outer(name)]",
        "own = list(equal)",
        ("exists-with-minus", "replay"),
    ),
    sow(
        "LIMIT inside EXISTS counts for all solutions together",
        rdf_arrange,
        "per = tuple(name for name in op.schema.names if is_outer(name))",
        "per: tuple[str, ...] = ()",
        ("exists-with-limit", "replay"),
    ),
    sow(
        "copies share their blank nodes",
        rdf_solutions,
        'return F.concat(spoken(there), F.lit(" "), F.col(COPY).cast("string"))',
        'return F.concat(spoken(there), F.lit(" 0"))',
        ("construct-nodes", "replay"),
    ),
    sow(
        "a copy that goes is not the last",
        match_counter,
        "for copy in range(self.copies, before))",
        "for copy in range(before - self.copies))",
        ("construct-nodes", "replay"),
        falls=True,
    ),
    sow(
        "all blank nodes of a template are one",
        rdf_solutions,
        "return new_node(whose, F.lit(label))",
        'return new_node(whose, F.lit(""))',
        ("construct-nodes", "replay"),
    ),
    sow(
        "edges are not followed back",
        paths,
        "found |= _reached(found, backward)",
        "pass",
        ("one-or-more", "replay"),
        falls=True,
    ),
    sow(
        "no step leads to no term that is given",
        rdf_closure,
        "if start is not None and leads_nowhere(",
        "if False and leads_nowhere(",
        ("from-a-term", "replay"),
    ),
]


def test_every_fault_has_its_place() -> None:
    for one in SOWN:
        assert inspect.getsource(one.fault.module).count(one.fault.right) == 1, one.fault.name
    assert paths in test_faults_rdf.IN_WORKERS


@pytest.mark.nightly
def test_without_a_fault_nothing_is_noticed(spark: Any) -> None:
    nothing_is_noticed(spark, tries(SOWN))


@pytest.mark.nightly
@pytest.mark.parametrize("one", SOWN, ids=lambda one: one.fault.name)
def test_fault_is_noticed(spark: Any, one: Sown) -> None:
    if one.falls:  # it retracts what it never added
        with pytest.raises(ValueError, match="and never came"):
            is_noticed(spark, one)
    else:
        is_noticed(spark, one)
