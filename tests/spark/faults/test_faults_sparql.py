"""Faults sown into EXISTS, new blank nodes and paths on Spark: the small cases must notice each, without the kernel."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.faults import faulty_tree
from tests.spark.faults import test_faults_rdf
from tests.spark.faults.test_faults import Sown, sow
from tests.spark.faults.test_faults_rdf import is_noticed, nothing_is_noticed, tries
from transom.machines import path_closure
from transom.machines.joins import delta_join, match_counter
from transom.physical.rdf import closure, joins, relations
from transom.spark.rdf import solutions

SOWN = [
    sow(
        "a mark stays as it was",
        delta_join.DeltaJoin._left,
        "[*self._before(A_, matched_before), *self._after(B_)]",
        "((row, count, B_) for row, count in A_.items())",
        ("exists-as-value", "replay"),
        falls=True,
    ),
    sow(
        "a mark with a condition is never true",
        match_counter.MatchCounter._target_counts,
        "[0, self.copies] if self.matches else A_",
        "A_",
        ("exists-in-aggregate", "replay"),
    ),
    sow(
        "keys of EXISTS are variables in common",
        joins.plan_minus,
        "[name for name in A_ if not is_outer_key(name)]",
        "list(A_)",
        ("exists-with-minus", "replay"),
    ),
    sow(
        "LIMIT inside EXISTS counts for all solutions together",
        relations.plan_sort,
        "per = A_((name for name in op.schema.names if is_outer_key(name)))",
        "per: A_[str, ...] = ()",
        ("exists-with-limit", "replay"),
    ),
    sow(
        "copies share their blank nodes",
        solutions._blank_node_owner,
        "B_(A_, C_(' '), F.col(COPY_NUMBER).cast('string'))",
        "B_(A_, C_(' 0'))",
        ("construct-nodes", "replay"),
    ),
    sow(
        "a copy that goes is not the last",
        match_counter.MatchCounter.take,
        "B_(A_, before)",
        "B_(before - A_)",
        ("construct-nodes", "replay"),
        falls=True,
    ),
    sow(
        "all blank nodes of a template are one",
        solutions._template_term,
        "label",
        "''",
        ("construct-nodes", "replay"),
    ),
    sow(
        "edges are not followed back",
        path_closure.PathClosureMachine._affected_starts,
        "A_ |= _reachable(A_, B_)",
        "pass",
        ("one-or-more", "replay"),
        falls=True,
    ),
    sow(
        "no step leads to no term that is given",
        closure.plan_closure,
        "start is not None",
        "False",
        ("from-a-term", "replay"),
    ),
]


def test_every_fault_has_its_place() -> None:
    for one in SOWN:
        assert faulty_tree(one.fault), one.fault.name
    assert path_closure in test_faults_rdf.IN_WORKERS


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
