"""Expressions of the syntax to those of the algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

from transom.algebra.expressions import Aggregate, AggregateFunction, Column, Exists, Expression
from transom.algebra.operator import Windows
from transom.algebra.term_functions import TERM_FUNCTIONS
from transom.algebra.terms import as_type, term_call, term_literal, variable
from transom.catalog.wording import did_you_mean
from transom.errors import NameProblem
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.names import Names
from transom.languages.sparql.triples import term
from transom.model.rdf.terms import IRI, XSD
from transom.model.types import Type

_BY_CAPITALS = {name.upper(): name for name in TERM_FUNCTIONS}
CASTS = tuple(name for name in TERM_FUNCTIONS if name.startswith("xsd:"))
Collected = MutableMapping[syntax.Aggregate, Column]
"""The aggregates of a query, and the variables that stand for them."""


@dataclass(frozen=True, slots=True)
class Expressions:
    """Translates expressions; `pattern` translates the group of an EXISTS, `collected` takes aggregates out."""

    names: Names
    pattern: Callable[[syntax.Group], Windows]
    collected: Collected

    def all(self, nodes: Iterable[syntax.Expression]) -> tuple[Expression, ...]:
        """Several expressions."""
        return tuple(map(self._one, nodes))

    def term(self, node: syntax.Expression) -> Expression:
        """An expression that gives a term."""
        return as_type(self._one(node), Type.TERM)

    def condition(self, node: syntax.Expression) -> Expression:
        """An expression that gives a truth value."""
        return as_type(self._one(node), Type.BOOLEAN)

    def _one(self, node: syntax.Expression) -> Expression:
        """An expression; an aggregate becomes the variable that stands for it."""
        match node:
            case terms.Variable(name=name):
                return variable(name)
            case terms.Iri() | terms.PrefixedName() | terms.Text() | terms.Number() | terms.Boolean():
                return term_literal(term(node, self.names))
            case syntax.Junction(operator=operator, operands=operands):
                return reduce(lambda left, right: term_call(operator, left, right), self.all(operands))
            case syntax.Binary(operator=operator, left=left, right=right):
                return term_call(operator, *self.all((left, right)))
            case syntax.Unary(operator=operator, operand=operand):
                return term_call(operator if operator == "!" else f"unary {operator}", self._one(operand))
            case syntax.Member(operand=operand, options=options, negated=negated):
                return term_call("NOT IN" if negated else "IN", *self.all((operand, *options)))
            case syntax.Builtin(name=name, arguments=arguments):
                base = () if name != "IRI" or self.names.base is None else (term_literal(IRI(self.names.base)),)
                return term_call(_BY_CAPITALS[name], *self.all(arguments), *base)
            case syntax.NamedCall():
                return self._named(node)
            case syntax.Aggregate():
                return self.collected.setdefault(node, variable(f".{len(self.collected) + 1}"))
            case syntax.Exists(group=group, negated=negated):
                found = Exists(self.pattern(group))
                return term_call("!", found) if negated else found
            case _:
                assert_never(node)

    def _named(self, node: syntax.NamedCall) -> Expression:
        """A function by its IRI; those that there are make a value of one datatype from another."""
        iri = self.names.iri(node.function).value
        name = "xsd:" + iri.removeprefix(XSD) if iri.startswith(XSD) else iri
        if name not in CASTS or node.distinct:
            raise NameProblem(f"no function is called <{iri}>", span=node.function.span, hint=did_you_mean(name, CASTS))
        if len(node.arguments) != 1:
            raise NameProblem(f"{name} takes 1 argument", span=node.span, hint=f"this one has {len(node.arguments)}")
        return term_call(name, *self.all(node.arguments))

    def aggregate(self, node: syntax.Aggregate, column: Column) -> Aggregate:
        """An aggregate of the syntax as one of the algebra."""
        operand = None if node.operand is None else self.term(node.operand)
        separator = " " if node.separator is None else node.separator
        return Aggregate(AggregateFunction(node.name), operand, column.attribute, node.distinct, separator)
