"""Translates SPARQL expressions to algebra."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

from transom.algebra.expressions.expression import Aggregate, AggregateFunction, Column, Exists, Expression
from transom.algebra.expressions.term_functions import TERM_FUNCTIONS
from transom.algebra.expressions.terms import as_type, term_call, term_literal, variable
from transom.algebra.operator import Windows
from transom.catalog.reading.wording import did_you_mean
from transom.errors import NameProblem
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.translation.names import NameResolver
from transom.languages.sparql.translation.triples import translate_term
from transom.model.rdf.terms import IRI, XSD
from transom.model.types import Type

_BY_CAPITALS = {name.upper(): name for name in TERM_FUNCTIONS}
CASTS = tuple(name for name in TERM_FUNCTIONS if name.startswith("xsd:"))
AggregateColumns = MutableMapping[syntax.Aggregate, Column]
"""The aggregates of a query, and the variables that replace them in expressions."""


@dataclass(frozen=True, slots=True)
class ExpressionTranslator:
    """Translates expressions; `pattern` translates the group of EXISTS, `collected` receives the aggregates."""

    names: NameResolver
    pattern: Callable[[syntax.GroupPattern], Windows]
    collected: AggregateColumns

    def translate_all(self, nodes: Iterable[syntax.Expression]) -> tuple[Expression, ...]:
        """Translate SPARQL expressions to results of any type; `term` and `condition` convert to TERM or BOOLEAN."""
        return tuple(map(self._translate, nodes))

    def term(self, node: syntax.Expression) -> Expression:
        """Translate a SPARQL expression and convert its result to an RDF term (type TERM)."""
        return as_type(self._translate(node), Type.TERM)

    def condition(self, node: syntax.Expression) -> Expression:
        """Translate a SPARQL expression and convert its result to BOOLEAN, its effective boolean value."""
        return as_type(self._translate(node), Type.BOOLEAN)

    def _translate(self, node: syntax.Expression) -> Expression:
        """Translate a SPARQL expression; each aggregate is added to `collected` and replaced by a variable."""
        match node:
            case terms.Variable(name=name):
                return variable(name)
            case (
                terms.Iri()
                | terms.PrefixedName()
                | terms.StringLiteral()
                | terms.NumericLiteral()
                | terms.BooleanLiteral()
            ):
                return term_literal(translate_term(node, self.names))
            case syntax.Logic(operator=operator, operands=operands):
                return reduce(lambda left, right: term_call(operator, left, right), self.translate_all(operands))
            case syntax.Binary(operator=operator, left=left, right=right):
                return term_call(operator, *self.translate_all((left, right)))
            case syntax.Unary(operator=operator, operand=operand):
                return term_call(operator if operator == "!" else f"unary {operator}", self._translate(operand))
            case syntax.InList(operand=operand, options=options, negated=negated):
                return term_call("NOT IN" if negated else "IN", *self.translate_all((operand, *options)))
            case syntax.BuiltinCall(name=name, arguments=arguments):
                base = () if name != "IRI" or self.names.base is None else (term_literal(IRI(self.names.base)),)
                return term_call(_BY_CAPITALS[name], *self.translate_all(arguments), *base)
            case syntax.IriCall():
                return self._translate_iri_call(node)
            case syntax.Aggregate():
                return self.collected.setdefault(node, variable(f".{len(self.collected) + 1}"))
            case syntax.Exists(group=group, negated=negated):
                exists = Exists(self.pattern(group))
                return term_call("!", exists) if negated else exists
            case _:
                assert_never(node)

    def _translate_iri_call(self, node: syntax.IriCall) -> Expression:
        """Translate a function called by its IRI; raises NameProblem unless it is a cast to an XSD datatype."""
        iri = self.names.iri(node.function).value
        name = "xsd:" + iri.removeprefix(XSD) if iri.startswith(XSD) else iri
        if name not in CASTS or node.distinct:
            raise NameProblem(f"no function is called <{iri}>", span=node.function.span, hint=did_you_mean(name, CASTS))
        if len(node.arguments) != 1:
            raise NameProblem(f"{name} takes 1 argument", span=node.span, hint=f"this one has {len(node.arguments)}")
        return term_call(name, *self.translate_all(node.arguments))

    def aggregate(self, node: syntax.Aggregate, column: Column) -> Aggregate:
        """Translate an aggregate of SPARQL to an aggregate of the algebra; `column` holds its result."""
        operand = None if node.operand is None else self.term(node.operand)
        separator = " " if node.separator is None else node.separator
        return Aggregate(AggregateFunction(node.name), operand, column.attribute, node.distinct, separator)
