"""Which engines run a query over RDF, found by planning it and without running anything."""

from __future__ import annotations

from collections.abc import Callable

from transom.algebra.rdf.expressions import Call
from transom.algebra.rdf.tree import Question, walk_all
from transom.errors import Unsupported
from transom.shown import ENGINES, Engine, Engines
from transom.spark.java_patterns import read_by_reference


def of_rdf(
    question: Question, plan: Callable[[], object], locate: Callable[[Unsupported, str], Unsupported]
) -> Engines:
    """The engines that run a query over RDF; `locate` lets a refusal point at an operator or a function of the text."""
    refusals: dict[Engine, Unsupported] = {}
    if (unread := _unread_pattern(question, locate)) is not None:
        refusals["reference"] = unread
    try:
        plan()
    except Unsupported as gap:
        refusals["spark"] = gap
    return Engines(tuple(engine for engine in ENGINES if engine not in refusals), refusals)


def _unread_pattern(question: Question, locate: Callable[[Unsupported, str], Unsupported]) -> Unsupported | None:
    """The refusal of the first constant regular expression that the reference engine does not read."""
    for call in walk_all(question):
        if isinstance(call, Call) and call.function in ("REGEX", "REPLACE"):
            try:
                read_by_reference(call)
            except Unsupported as gap:
                return locate(gap, call.function)
    return None
