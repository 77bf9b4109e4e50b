"""Construct, describe and ask at one instant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

from transom.algebra.expressions import Column
from transom.algebra.rdf.forms import Construct, Describe
from transom.algebra.rdf.patterns import Place
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import IRI, BlankNode, Literal, Term, Triple


def construct(op: Construct, solutions: Sequence[Solution]) -> list[Triple]:
    """The statements of the template for each solution; what is unbound or no statement is left out (R18)."""
    found: list[Triple] = []
    for solution, copy in numbered(solutions):
        for line in op.template:
            places = (line.subject, line.predicate, line.object)
            subject, predicate, object = (made(place, solution, copy) for place in places)
            if isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI) and object is not None:
                found.append(Triple(subject, predicate, object))
    return found


def numbered(solutions: Sequence[Solution]) -> list[tuple[Solution, int]]:
    """Every solution with its number among those that equal it, from 0."""
    seen: Counter[Solution] = Counter()
    found: list[tuple[Solution, int]] = []
    for solution in solutions:
        found.append((solution, seen[solution]))
        seen[solution] += 1
    return found


def made(place: Place, solution: Solution, copy: int) -> Term | None:
    """What stands in a place of the template for a solution; its blank nodes are the solution's own."""
    match place:
        case Column(name=name):
            return solution.get(name)
        case BlankNode(label=label):
            return new_node(solution, copy, label)
        case _:
            return place


def new_node(solution: Solution, copy: int, label: str) -> BlankNode:
    """A blank node that belongs to one solution: the same at every instant, another for every other solution."""
    digest = sha256(f"{solution} {copy} {label}".encode()).hexdigest()
    return BlankNode(f"n{digest[:20]}")


def describe(op: Describe, solutions: Sequence[Solution], statements: Sequence[Triple]) -> list[Triple]:
    """The statements about the resources that are valid (R19)."""
    about: set[Term | None] = {one for one in op.resources if isinstance(one, IRI)}
    for one in op.resources:
        if isinstance(one, Column):
            about |= {solution.get(one.name) for solution in solutions}
    return [s for s in statements if s.subject in about and not isinstance(s.subject, Literal)]


def ask(solutions: Sequence[Solution]) -> bool:
    """Whether there is a solution (R17)."""
    return bool(solutions)
