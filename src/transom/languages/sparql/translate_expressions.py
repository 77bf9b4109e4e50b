"""Expressions of the syntax to those of the algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

from transom.algebra.rdf.expressions import Aggregate, Call, Constant, Exists, Expression
from transom.algebra.rdf.functions import FUNCTIONS
from transom.algebra.rdf.operator import Solutions
from transom.algebra.rdf.variable import Variable
from transom.catalog.wording import did_you_mean
from transom.errors import NameProblem
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.names import Names
from transom.languages.sparql.triples import term
from transom.model.rdf.terms import IRI, XSD

_BY_CAPITALS = {name.upper(): name for name in FUNCTIONS}
CASTS = tuple(name for name in FUNCTIONS if name.startswith("xsd:"))
Collected = MutableMapping[syntax.Aggregate, Variable]
"""The aggregates of a query, and the variables that stand for them."""


@dataclass(frozen=True, slots=True)
class Expressions:
    """Translates expressions; `pattern` translates the group of an EXISTS, `collected` takes aggregates out."""

    names: Names
    pattern: Callable[[syntax.Group], Solutions]
    collected: Collected

    def all(self, nodes: Iterable[syntax.Expression]) -> tuple[Expression, ...]:
        """Several expressions."""
        return tuple(map(self.one, nodes))

    def one(self, node: syntax.Expression) -> Expression:
        """An expression; an aggregate becomes the variable that stands for it."""
        match node:
            case terms.Variable(name=name):
                return Variable(name)
            case terms.Iri() | terms.PrefixedName() | terms.Text() | terms.Number() | terms.Boolean():
                return Constant(term(node, self.names))
            case syntax.Junction(operator=operator, operands=operands):
                return reduce(lambda left, right: Call(operator, (left, right)), self.all(operands))
            case syntax.Binary(operator=operator, left=left, right=right):
                return Call(operator, self.all((left, right)))
            case syntax.Unary(operator=operator, operand=operand):
                return Call(operator if operator == "!" else f"unary {operator}", (self.one(operand),))
            case syntax.Member(operand=operand, options=options, negated=negated):
                return Call("NOT IN" if negated else "IN", self.all((operand, *options)))
            case syntax.Builtin(name=name, arguments=arguments):
                base = () if name != "IRI" or self.names.base is None else (Constant(IRI(self.names.base)),)
                return Call(_BY_CAPITALS[name], (*self.all(arguments), *base))
            case syntax.NamedCall():
                return self._named(node)
            case syntax.Aggregate():
                return self.collected.setdefault(node, Variable(f".{len(self.collected) + 1}"))
            case syntax.Exists(group=group, negated=negated):
                found = Exists(self.pattern(group))
                return Call("!", (found,)) if negated else found
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
        return Call(name, self.all(node.arguments))

    def aggregate(self, node: syntax.Aggregate, variable: Variable) -> Aggregate:
        """An aggregate of the syntax as one of the algebra."""
        operand = None if node.operand is None else self.one(node.operand)
        separator = " " if node.separator is None else node.separator
        return Aggregate(variable, node.name, operand, node.distinct, separator)
