"""What a command imports: a small query does not pay for brokers, other languages or engines."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli.test_app import ROOT

PROGRAM = """
import json, sys
from transom.cli.app import main
try:
    main()
except SystemExit:
    pass
print(json.dumps(sorted(sys.modules)))
"""
LIBRARIES = {"pyspark", "confluent_kafka", "paho", "psycopg", "pyarrow", "pyoxigraph", "shapely", "pyproj", "rich"}
DECLARED = {
    "transom.algebra.rdf",
    "transom.algebra.rdf.forms",
    "transom.algebra.rdf.patterns",
    "transom.algebra.rdf.statements",
    "transom.catalog.rdf",
    "transom.catalog.resolve.rdf",
    "transom.languages.rdf_extents",
    "transom.model.rdf",
    "transom.model.rdf.terms",
}
"""Classes over RDF that every operator tree and catalog may hold: declarations, which cost little."""


def imported(*words: str) -> set[str]:
    """The modules that are loaded after a command has run in a process of its own."""
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.fixture(scope="module")
def checked() -> set[str]:
    """The modules that `check` of a small query in SNEEql loads."""
    return imported("check", "examples/roads/q1.sneeql")


def test_check_imports_no_other_language_no_connector_and_no_engine(checked: set[str]) -> None:
    assert "transom.languages.sneeql.parse" in checked
    ours = {name for name in checked if name.startswith("transom.")}
    rooms = ("connectors", "collector", "spark", "runtime", "picture", "languages.sparql", "languages.cql")
    assert not {name for name in ours if name.startswith(tuple(f"transom.{room}" for room in rooms))}
    assert {name for name in ours if "rdf" in name} == DECLARED
    assert not {name for name in ours if "kafka" in name or "mqtt" in name}


def test_check_imports_no_library_that_it_does_not_need(checked: set[str]) -> None:
    assert not {name.partition(".")[0] for name in checked} & LIBRARIES


def test_help_imports_no_compiler() -> None:
    loaded = imported("check", "--help")
    assert not {"transom.compiler", "transom.query", "transom.catalog.catalog", "pydantic", "lark"} & loaded
