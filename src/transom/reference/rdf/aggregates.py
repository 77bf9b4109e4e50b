"""The aggregates of SPARQL 1.1 over one group (W3C 18.5.1); None is an error, given and given back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, assert_never

from transom.algebra.expressions import AggregateFunction
from transom.model.rdf.compare import sort_key
from transom.model.rdf.terms import BlankNode, Literal, Term, integer
from transom.reference.rdf.numbers import divide, total


def term_aggregate(function: AggregateFunction, members: Sequence[Any], separator: str) -> Term | None:
    """An aggregate of the values of its argument, or the number of solutions."""
    found = [member for member in members if member is not None]
    if function is AggregateFunction.COUNT:
        return integer(len(found))
    in_fixed_order = sorted(found, key=lambda term: (sort_key(term), str(term)))
    if function is AggregateFunction.SAMPLE:
        return in_fixed_order[0] if found else None
    if len(found) < len(members):
        return None
    match function:
        case AggregateFunction.MIN:
            return in_fixed_order[0] if found else None
        case AggregateFunction.MAX:
            return in_fixed_order[-1] if found else None
        case AggregateFunction.GROUP_CONCAT:
            return concatenated(in_fixed_order, separator)
        case AggregateFunction.SUM:
            return total(found)
        case AggregateFunction.AVG:
            whole = total(found)
            return whole if whole is None or not found else divide(whole, integer(len(found)))
        case _:
            assert_never(function)


def concatenated(terms: Sequence[Term], separator: str) -> Term | None:
    """The characters of names and literals, one after the other."""
    named = [term for term in terms if not isinstance(term, BlankNode)]
    if len(named) < len(terms):
        return None
    return Literal(separator.join(term.lexical if isinstance(term, Literal) else term.value for term in named))
