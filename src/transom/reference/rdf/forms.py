"""Construct, describe and ask at one instant."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

from transom.algebra.expressions import Column
from transom.algebra.rdf.forms import Construct, Describe
from transom.algebra.rdf.patterns import Place
from transom.algebra.terms import variable
from transom.model.bag import Row
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import IRI, BlankNode, Literal, Term
from transom.model.types import Value
from transom.reference.relations import Rows


def construct(op: Construct, rows: Rows) -> Rows:
    """The statements of the template for each solution; what is unbound or no statement is left out (R18)."""
    found: list[Row] = []
    copies: Counter[Row] = Counter()
    names = op.input.schema.names
    for row in rows:
        solution = Solution.row(names, row)
        for line in op.template:
            places = (line.subject, line.predicate, line.object)
            subject, predicate, object = (made(place, solution, copies[row]) for place in places)
            if isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI) and object is not None:
                found.append((subject, predicate, object))
        copies[row] += 1
    return tuple(found)


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


def describe(op: Describe, rows: Rows, statements: Rows) -> Rows:
    """The statements about the resources that are valid (R19)."""
    about: set[Value] = {one for one in op.resources if isinstance(one, IRI)}
    for place, name in enumerate(op.input.schema.names):
        if variable(name) in op.resources:
            about |= {row[place] for row in rows}
    return tuple(s for s in statements if s[0] in about and not isinstance(s[0], Literal))


def ask(rows: Rows) -> bool:
    """Whether there is a solution (R17)."""
    return bool(rows)
