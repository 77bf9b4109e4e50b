"""Functions of SPARQL that Spark does not run, each with its declared gap; this module does not need PySpark."""

from __future__ import annotations

from collections.abc import Iterable

from transom.algebra.composed import Composed
from transom.algebra.composed_sources import ConstructedStream, SolutionStream
from transom.algebra.expressions import Call
from transom.algebra.tree import Question, calls
from transom.errors import Unsupported
from transom.physical import gaps
from transom.spark.java_patterns import refused


def refusal(call: Call) -> Unsupported | None:
    """Why a call has no native form, or None."""
    name = call.function.name
    if call.function.family != "terms":
        return None
    if name in ("REGEX", "REPLACE"):
        return refused(call)
    if name in ("IRI", "URI") and len(call.arguments) > 1:
        return gaps.BASED_IRI.refusal()
    return gaps.VOLATILE.refusal(name) if call.function.volatile else None


def refuse_inner(inner: Iterable[Composed]) -> None:
    """Refuse queries behind the sources of another that call a function without a native form."""
    for op in inner:
        if isinstance(op, SolutionStream | ConstructedStream):
            try:
                refuse_functions(op.question)
            except Unsupported as gap:
                gap.detail = f"{gap.detail} (in the query of {op.extent})"
                raise


def refuse_functions(question: Question) -> None:
    """Refuse a query that calls a function without a native form."""
    for call in calls(question):
        if (gap := refusal(call)) is not None:
            raise gap
