"""No name that a user can write meets a column of ours."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

import transom
from transom import Catalog
from transom.catalog.sources import LOG_COLUMNS
from transom.connectors.log.columns import log_schema
from transom.errors import CatalogError
from transom.model.schema import unique_names
from transom.spark.columns import quoted, reserved
from transom.spark.result import column_names

CATALOG = """
extents:
  s: {declare: "pushed (Tick:integer, SEQ:integer, a:integer)"}
"""
COLLECTED = """
extents:
  s: {declare: "pushed (NAME:integer)", source: {mqtt: {broker: "mqtt://localhost", topic: t, log: log}}}
"""


def test_names_of_answers_differ_by_more_than_case() -> None:
    catalog = Catalog.read(CATALOG)
    query = transom.compile("SELECT Tick, SEQ, a, a AS A, a AS Index FROM s", catalog)
    names = column_names(query.optimized.schema)
    assert names == ["Tick_", "SEQ_", "a", "A_", "Index_"]
    own = {"tick", "seq", "empty", "index"}
    assert len({name.lower() for name in names} | own) == len(names) + len(own)


def test_names_are_told_apart_from_those_that_are_taken() -> None:
    assert unique_names(["n", "N", "n_", "m"], ["N"]) == ["n_", "N__", "n___", "m"]


def test_reserved_names_are_no_names_of_users() -> None:
    with pytest.raises(CatalogError):
        Catalog.read(CATALOG.replace("Tick", reserved("tick")))
    assert quoted("a`b") == "`a``b`"


def test_attributes_beside_the_columns_of_a_log() -> None:
    catalog = Catalog.read(COLLECTED.replace("NAME", "site"))
    assert log_schema(catalog.extent("s")).names == [*LOG_COLUMNS, "site"]
    with pytest.raises(CatalogError, match="the log of s has a column _tick already"):
        Catalog.read(COLLECTED.replace("NAME", "_Tick"))
