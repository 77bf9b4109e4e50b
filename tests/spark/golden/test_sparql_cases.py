"""Small questions of SPARQL 1.1 on Spark against the reference engine: as replays, and cut into single statements."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.spark.faults.test_faults_rdf import asked
from tests.spark.golden.sparql_cases import EXISTS, FORMS, NODES, PATHS
from tests.spark.kills.shapes_rdf import difference
from tests.spark.together import OverRdf, differences
from tests.spark.trying import SPLITS
from transom.physical.nodes.windows import KernelMode


def wrong(spark: Any, names: list[str], way: str, kernel: KernelMode) -> dict[str, str]:
    """How the answers to some questions differ from those of the reference engine."""
    cases = [OverRdf(name, *asked(name)[:2], asked(name).until) for name in names]
    assert all(len(asked(name).expected) > 0 for name in names), "a question without an answer shows nothing"
    split = None if way == "replay" else SPLITS[way]
    return differences(spark, cases, split, kernel, lambda name, answer: difference(asked(name).expected, answer))


def test_exists_and_new_nodes(spark: Any) -> None:
    assert not wrong(spark, ["exists-as-value", "exists-with-bind", *NODES], "replay", "on")


def test_paths(spark: Any) -> None:
    assert not wrong(spark, ["zero-or-more", "from-a-term", "path-in-path", "path-in-exists"], "replay", "on")


@pytest.mark.nightly
def test_paths_and_forms_as_a_stream(spark: Any) -> None:
    every = [*PATHS, *FORMS]
    assert not wrong(spark, every[::2], "one-row", "on")
    assert not wrong(spark, every[1::2], "uneven-3", "off")


@pytest.mark.nightly
def test_paths_and_forms(spark: Any) -> None:
    assert not wrong(spark, [*PATHS, *FORMS], "replay", "off")


@pytest.mark.nightly
def test_exists_everywhere(spark: Any) -> None:
    assert not wrong(spark, list(EXISTS), "replay", "on")


@pytest.mark.nightly
def test_exists_as_a_stream(spark: Any) -> None:
    assert not wrong(spark, list(EXISTS)[::2], "one-row", "on")
    assert not wrong(spark, list(EXISTS)[1::2], "uneven-3", "off")


@pytest.mark.nightly
def test_new_nodes_as_a_stream(spark: Any) -> None:
    assert not wrong(spark, list(NODES), "one-row", "on")
    assert not wrong(spark, list(NODES), "uneven-3", "off")
