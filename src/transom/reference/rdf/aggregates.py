"""The aggregates of SPARQL 1.1 over one group (W3C 18.5.1); None is an error, given and given back."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.rdf.expressions import Aggregate
from transom.model.rdf.compare import sort_key
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import BlankNode, Literal, Term, in_order, integer
from transom.reference.rdf.numbers import add, divide


def aggregate(op: Aggregate, given: Sequence[Solution] | Sequence[Term | None]) -> Term | None:
    """An aggregate of the solutions of a group, or of the values of its argument; errors are None."""
    members = list(dict.fromkeys(given)) if op.distinct else list(given)
    found: list[Term] = [m for m in members if m is not None and not isinstance(m, Solution)]
    if op.function == "COUNT":
        return integer(len([m for m in members if m is not None]))
    in_fixed_order = sorted(found, key=lambda term: (sort_key(term), in_order(term)))
    if op.function == "SAMPLE":
        return in_fixed_order[0] if found else None
    if len(found) < len(members):
        return None
    match op.function:
        case "MIN":
            return in_fixed_order[0] if found else None
        case "MAX":
            return in_fixed_order[-1] if found else None
        case "GROUP_CONCAT":
            return concatenated(in_fixed_order, op.separator)
        case "SUM":
            return total(found)
        case "AVG":
            whole = total(found)
            return whole if whole is None or not found else divide(whole, integer(len(found)))
        case _:
            raise NotImplementedError(op.function)


def total(terms: Sequence[Term]) -> Term | None:
    """The sum; 0 of nothing."""
    found: Term | None = integer(0)
    for term in terms:
        found = None if found is None else add(found, term)
    return found


def concatenated(terms: Sequence[Term], separator: str) -> Term | None:
    """The characters of names and literals, one after the other."""
    if any(isinstance(term, BlankNode) for term in terms):
        return None
    return Literal(separator.join(t.lexical if isinstance(t, Literal) else str(t)[1:-1] for t in terms))
