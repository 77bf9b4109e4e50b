"""Operators over RDF that Spark does not run yet, each with what it waits for."""

from __future__ import annotations

from typing import NoReturn

from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.solutions import (
    Aggregation,
    Distinct,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    OrderBy,
    Project,
    Reduced,
    Slice,
    Union,
    Values,
)
from transom.algebra.rdf.statements import ElementWindow, Merge, RangeWindow, RdfStream, StoredGraph
from transom.algebra.rdf.tree import Operator, Question, walk
from transom.errors import Unsupported

_TERMS = "terms have no columns on Spark yet"
_CHANGES = "solutions that come and go have no form on Spark yet"

GAPS: dict[type[Operator], str] = {
    RdfStream: _TERMS,
    StoredGraph: _TERMS,
    Merge: _TERMS,
    RangeWindow: _TERMS,
    ElementWindow: "the last so many elements need an ordered machine that is not built",
    TriplePattern: _TERMS,
    PathPattern: "paths through statements that come and go need a machine that is not built",
    BasicGraphPattern: _CHANGES,
    Filter: "expressions over terms are not lowered yet",
    Union: _CHANGES,
    Join: _CHANGES,
    LeftJoin: _CHANGES,
    Minus: _CHANGES,
    Extend: "expressions over terms are not lowered yet",
    Values: _TERMS,
    Aggregation: "aggregates of solutions that come and go are not built",
    Project: _CHANGES,
    Distinct: _CHANGES,
    Reduced: _CHANGES,
    OrderBy: "an order per instant needs a machine that is not built",
    Slice: "an order per instant needs a machine that is not built",
    Construct: _CHANGES,
    Describe: _CHANGES,
    Ask: _CHANGES,
}
"""Every operator over RDF, and why Spark does not run it."""


def refuse(question: Question) -> NoReturn:
    """Say which operator of a question Spark does not run: the lowest one, which is the first that would be needed."""
    *_, lowest = walk(question)
    raise Unsupported(
        type(lowest).__name__, GAPS[type(lowest)], "not yet", hint="the reference engine answers it: `transom simulate`"
    )
