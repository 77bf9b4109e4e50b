"""SPARQL functions that are not supported on Spark, with their declared gaps; does not need PySpark."""

from __future__ import annotations

from collections.abc import Iterable

from transom.algebra.composition.composed_source import ComposedSource
from transom.algebra.composition.sources import ConstructedStream, SolutionStream
from transom.algebra.expressions.expression import Call
from transom.algebra.tree import RdfPlan, calls
from transom.errors import Unsupported
from transom.physical import gaps
from transom.spark.expressions.java_patterns import pattern_refusal


def function_refusal(call: Call) -> Unsupported | None:
    """Return the error for a SPARQL function call that Spark cannot run; None for all other calls."""
    name = call.function.name
    if call.function.family != "terms":
        return None
    if name in ("REGEX", "REPLACE"):
        return pattern_refusal(call)
    if name in ("IRI", "URI") and len(call.arguments) > 1:
        return gaps.RELATIVE_IRI.refusal()
    return gaps.VOLATILE_FUNCTION.refusal(name) if call.function.volatile else None


def refuse_inner_queries(inner: Iterable[ComposedSource]) -> None:
    """Raise Unsupported if an inner query that serves as a source calls a SPARQL function that Spark cannot run."""
    for op in inner:
        if isinstance(op, SolutionStream | ConstructedStream):
            try:
                refuse_functions(op.inner_query)
            except Unsupported as gap:
                gap.detail = f"{gap.detail} (in the query of {op.extent})"
                raise


def refuse_functions(inner_query: RdfPlan) -> None:
    """Raise Unsupported if a SPARQL query calls a function that Spark cannot run."""
    for call in calls(inner_query):
        if (gap := function_refusal(call)) is not None:
            raise gap
