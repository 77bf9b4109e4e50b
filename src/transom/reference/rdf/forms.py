"""CONSTRUCT, DESCRIBE and ASK at one instant."""

from __future__ import annotations

from collections import Counter
from hashlib import sha256

from transom.algebra.expressions.expression import Column
from transom.algebra.expressions.terms import variable
from transom.algebra.rdf.forms import Construct, Describe
from transom.algebra.rdf.patterns import TermPattern
from transom.model.bag import Row
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import IRI, BlankNode, Literal, Term
from transom.model.types import Value
from transom.reference.relations import Rows


def construct(op: Construct, rows: Rows) -> Rows:
    """CONSTRUCT: fill the template in for each solution, and drop statements with an unbound or invalid term."""
    statements: list[Row] = []
    copies: Counter[Row] = Counter()
    names = op.input.schema.names
    for row in rows:
        solution = Solution.from_row(names, row)
        for triple in op.template:
            items = (triple.subject, triple.predicate, triple.object)
            subject, predicate, object = (instantiate_term(item, solution, copies[row]) for item in items)
            if isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI) and object is not None:
                statements.append((subject, predicate, object))
        copies[row] += 1
    return tuple(statements)


def instantiate_term(item: TermPattern, solution: Solution, copy: int) -> Term | None:
    """Fill in an item of a CONSTRUCT template from copy number `copy` of a solution; None if it is unbound.

    `copy` numbers equal solutions, which get different blank nodes.
    """
    match item:
        case Column(name=name):
            return solution.get(name)
        case BlankNode(label=label):
            return solution_blank_node(solution, copy, label)
        case _:
            return item


def solution_blank_node(solution: Solution, copy: int, label: str) -> BlankNode:
    """Return the blank node of a CONSTRUCT label: the same at all ticks, another for each `copy` of a solution.

    `copy` numbers equal solutions, which get different nodes.
    """
    digest = sha256(f"{solution} {copy} {label}".encode()).hexdigest()
    return BlankNode(f"n{digest[:20]}")


def describe(op: Describe, rows: Rows, statements: Rows) -> Rows:
    """DESCRIBE: the statements whose subject is an IRI of the query or a variable's value in `rows` (R19)."""
    subjects: set[Value] = {resource for resource in op.resources if isinstance(resource, IRI)}
    for column, name in enumerate(op.input.schema.names):
        if variable(name) in op.resources:
            subjects |= {row[column] for row in rows}
    return tuple(s for s in statements if s[0] in subjects and not isinstance(s[0], Literal))


def ask(rows: Rows) -> bool:
    """SPARQL ASK: whether there is any solution (R17)."""
    return bool(rows)
