"""The aggregates of SPARQL 1.1 over one group (W3C 18.5.1); None is an error, given and given back."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.rdf.expressions import Aggregate
from transom.model.rdf.compare import sort_key
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import BlankNode, Literal, Term, integer
from transom.reference.rdf.numbers import divide, total


def aggregate(op: Aggregate, given: Sequence[Solution] | Sequence[Term | None]) -> Term | None:
    """An aggregate of the solutions of a group, or of the values of its argument; errors are None."""
    members = list(dict.fromkeys(given)) if op.distinct else list(given)
    found: list[Term] = [m for m in members if m is not None and not isinstance(m, Solution)]
    if op.function == "COUNT":
        return integer(len([m for m in members if m is not None]))
    in_fixed_order = sorted(found, key=lambda term: (sort_key(term), str(term)))
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


def concatenated(terms: Sequence[Term], separator: str) -> Term | None:
    """The characters of names and literals, one after the other."""
    named = [term for term in terms if not isinstance(term, BlankNode)]
    if len(named) < len(terms):
        return None
    return Literal(separator.join(term.lexical if isinstance(term, Literal) else term.value for term in named))
