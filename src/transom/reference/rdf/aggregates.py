"""The aggregates of SPARQL 1.1 over one group (W3C 18.5.1); None is an error, as input and as result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from transom.algebra.expressions.expression import AggregateFunction
from transom.model.rdf.compare import sort_key
from transom.model.rdf.terms import BlankNode, Literal, Term, integer
from transom.reference.rdf.numbers import divide, sum_terms


def term_aggregate(function: AggregateFunction, members: Sequence[Any], separator: str) -> Term | None:
    """Aggregate RDF terms, or solutions for COUNT(*); None is an error; `separator` is that of GROUP_CONCAT.

    COUNT and SAMPLE skip terms that are errors. `members` of COUNT(*) are solutions; `separator` is that of
    GROUP_CONCAT.
    """
    terms = [member for member in members if member is not None]
    if function is AggregateFunction.COUNT:
        return integer(len(terms))
    in_fixed_order = sorted(terms, key=lambda term: (sort_key(term), str(term)))
    if function is AggregateFunction.SAMPLE:
        return in_fixed_order[0] if terms else None
    if len(terms) < len(members):
        return None
    match function:
        case AggregateFunction.MIN:
            return in_fixed_order[0] if terms else None
        case AggregateFunction.MAX:
            return in_fixed_order[-1] if terms else None
        case AggregateFunction.GROUP_CONCAT:
            return group_concat(in_fixed_order, separator)
        case AggregateFunction.SUM:
            return sum_terms(terms)
        case AggregateFunction.AVG:
            total = sum_terms(terms)
            return total if total is None or not terms else divide(total, integer(len(terms)))
        case _:
            assert_never(function)


def group_concat(terms: Sequence[Term], separator: str) -> Term | None:
    """GROUP_CONCAT: the texts of IRIs and literals, joined by `separator`; None, an error, if one is a blank node."""
    named = [term for term in terms if not isinstance(term, BlankNode)]
    if len(named) < len(terms):
        return None
    return Literal(separator.join(term.lexical if isinstance(term, Literal) else term.value for term in named))
