"""Operators over RDF that Spark does not run yet, each with what it waits for."""

from __future__ import annotations

from transom.algebra.rdf.patterns import PathPattern
from transom.algebra.rdf.solutions import Aggregation
from transom.algebra.rdf.tree import Operator
from transom.errors import Unsupported

GAPS: dict[type[Operator], str] = {
    PathPattern: "a path that repeats needs a machine that is not built",
    Aggregation: "aggregates of solutions are not built",
}
"""The operators that Spark does not run, and why; all others are arranged."""

HINT = "the reference engine answers it: `transom simulate`"


def refusal(op: Operator) -> Unsupported:
    """Says of an operator why Spark does not run it."""
    why = GAPS.get(type(op), "it stands where Spark does not expect it")
    return Unsupported(type(op).__name__, why, "not yet", hint=HINT)
