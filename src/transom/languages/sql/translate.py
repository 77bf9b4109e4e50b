"""Translates scalar syntax to typed expressions: resolves names, checks types, widens arguments."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol, assert_never

from transom.algebra.expressions.expression import (
    AggregateFunction,
    Case,
    Cast,
    Constant,
    Expression,
    call,
    case,
    castable,
    size,
)
from transom.algebra.expressions.functions import FUNCTIONS, Signature
from transom.errors import LanguageRule, NameProblem, QueryError, Span, TypeProblem
from transom.languages.sql.dialects import function_hint, name_span
from transom.languages.sql.parse import TOO_LARGE
from transom.languages.sql.syntax import (
    Between,
    Binary,
    CaseWhen,
    CastTo,
    Exists,
    FunctionCall,
    InList,
    InSubquery,
    IsNull,
    Like,
    Logic,
    Name,
    Node,
    SqlLiteral,
    TypedLiteral,
    Unary,
)
from transom.languages.sql.type_messages import (
    ONE_TYPE,
    accepted_types,
    argument_counts,
    condition_hint,
    conversion_hint,
    incomparable_message,
    operand_hint,
    same_type_hint,
    shorten,
    type_list,
    unknown_constant,
    with_article,
)
from transom.languages.sql.unparse import quote_string, unparse
from transom.model.time import Calendar
from transom.model.types import DECLARABLE, INTEGER_MAX, INTEGER_MIN, TYPE_SYNONYMS, Type, common_type

AGGREGATES = frozenset(f.value for f in AggregateFunction if f.result(Type.INTEGER))
SYNONYMS = {"CEILING": "CEIL", "MOD": "%", "SUBSTR": "SUBSTRING", "POW": "POWER"}
CALLABLE = sorted(name for name in FUNCTIONS if name.replace("_", "").isalnum() and name not in {
    "AND", "OR", "NOT", "IN", "LIKE", "NEG"
})  # fmt: skip
"""The functions that a query may call by name."""

SUBQUERIES = "IN (SELECT ..) and EXISTS (SELECT ..) are allowed in WHERE only on their own or joined by AND"

MAX_SIZE = 10_000
"""Most nodes of an expression after BETWEEN and CASE are expanded."""

_FIELDS = {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}
_WITH_CALENDAR = {"TICK", "INSTANT"}
COMPARISONS = {"=", "<>", "<", "<=", ">", ">=", "IN"}


class Scope(Protocol):
    """The context in which an expression is translated: visible names, groups and aggregates."""

    @property
    def calendar(self) -> Calendar:
        """The catalog's mapping between ticks and real time."""
        ...

    def translate_in_scope(self, node: Node) -> Expression | None:
        """Translate a node that is a column of this scope, such as an aggregate; returns None for other nodes."""
        ...

    def resolve(self, name: Name) -> Expression:
        """Resolve the name of a column or parameter to a typed expression; raises NameProblem if it is unknown."""
        ...


def translate(node: Node, scope: Scope) -> Expression:
    """Translate a scalar expression of the syntax to a typed expression; errors point at the node that causes them."""
    translated = scope.translate_in_scope(node)
    if translated is not None:
        return translated
    try:
        expression = _translate(node, scope)
        if size(expression) > MAX_SIZE:
            raise LanguageRule(
                f"an expression of more than {MAX_SIZE:,} parts", hint="compute parts of it in a subquery"
            )
        return expression
    except QueryError as error:
        if error.span is None:
            error.span = node.span
        raise


def condition(node: Node, scope: Scope, clause: str) -> Expression:
    """Translate the condition of a clause such as WHERE; raises TypeProblem unless it is boolean or NULL."""
    expression = translate(node, scope)
    if expression.type is Type.NULL:
        return Constant(None, Type.BOOLEAN)
    if expression.type is not Type.BOOLEAN:
        raise TypeProblem(
            f"{clause} needs a condition, not {with_article(expression.type)}",
            span=node.span,
            hint=condition_hint(shorten(unparse(node)), expression.type),
        )
    return expression


def _translate(node: Node, scope: Scope) -> Expression:
    """Translate a scalar syntax node by its class; `translate` calls it for nodes that are not columns of the scope."""
    match node:
        case SqlLiteral(value=constant):
            if type(constant) is int and constant > INTEGER_MAX:
                raise TypeProblem(TOO_LARGE, hint=f"the largest is {INTEGER_MAX}")
            return Constant(constant, constant_type(constant))
        case TypedLiteral():
            return typed_constant(node, scope.calendar)
        case Name():
            return scope.resolve(node)
        case Unary(operator="NOT", operand=operand):
            return call("NOT", condition(operand, scope, "NOT"))
        case Unary(operator="-", operand=SqlLiteral(value=int() as size)) if size == -INTEGER_MIN:
            return Constant(-size, Type.INTEGER)
        case Unary(operator=operator, operand=operand):
            return apply_sign(operator, translate(operand, scope))
        case Binary(operator=operator, left=left, right=right):
            if operator == "-" or operator in COMPARISONS:
                operands = translate_comparable([left, right], scope)
            else:
                operands = [translate(left, scope), translate(right, scope)]
            return apply_operator(operator, *operands, nodes=(left, right))
        case Logic(operator=operator, operands=operands):
            return call(operator, *(condition(operand, scope, operator) for operand in operands))
        case IsNull(operand=operand, negated=negated):
            return negate(call("IS NULL", translate(operand, scope)), negated)
        case InList(operand=operand, options=options, negated=negated):
            return negate(translate_in_list(operand, options, scope), negated)
        case Between(operand=operand, low=low, high=high, negated=negated):
            middle, least, most = translate_comparable([operand, low, high], scope)
            inside = call("AND", apply_comparison(low, ">=", middle, least), apply_comparison(high, "<=", middle, most))
            return negate(inside, negated)
        case Like(operand=operand, pattern=pattern, negated=negated):
            sides = [translate(operand, scope), translate(pattern, scope)]
            return negate(apply_operator("LIKE", *sides, nodes=(operand, pattern)), negated)
        case FunctionCall():
            return translate_call(node, scope)
        case CaseWhen():
            return translate_case(node, scope)
        case CastTo():
            return translate_cast(node, scope)
        case InSubquery() | Exists():
            raise LanguageRule("a subquery is not allowed inside this expression", hint=SUBQUERIES)
        case _:
            assert_never(node)


def constant_type(value: int | float | str | bool | None) -> Type:
    """Return the SQL type of a literal's Python value."""
    if isinstance(value, bool):
        return Type.BOOLEAN
    if isinstance(value, int):
        return Type.INTEGER
    if isinstance(value, float):
        return Type.FLOAT
    return Type.NULL if value is None else Type.STRING


def negate(expression: Expression, negated: bool) -> Expression:
    """Wrap an expression in NOT if `negated`, as for NOT IN and IS NOT NULL; otherwise return it unchanged."""
    return call("NOT", expression) if negated else expression


def apply_operator(operator: str, *operands: Expression, nodes: Sequence[Node] = ()) -> Expression:
    """Apply an operator to typed operands; raises TypeProblem, with a hint that quotes `nodes`, if types do not fit."""
    try:
        return call(operator, *operands)
    except TypeProblem:
        if operator in COMPARISONS:
            raise incomparable_message(operands) from None
        kinds = [operand.type for operand in operands]
        texts = [shorten(unparse(node)) for node in nodes]
        raise TypeProblem(
            f"{operator} does not take {type_list(kinds)}", hint=operand_hint(operator, list(zip(texts, kinds)))
        ) from None


def apply_comparison(node: Node, operator: str, *operands: Expression) -> Expression:
    """Apply a comparison operator that BETWEEN, IN or CASE expands to; a TypeProblem points at `node`."""
    try:
        return apply_operator(operator, *operands)
    except TypeProblem as error:
        error.span = node.span
        raise


def translate_in_list(operand: Node, options: Sequence[Node], scope: Scope) -> Expression:
    """Translate `x IN (a, b, ...)`; a TypeProblem points at the first option that is not comparable."""
    values = translate_comparable([operand, *options], scope)
    try:
        return apply_operator("IN", *values)
    except TypeProblem:
        for option, value in zip(options, values[1:], strict=True):
            apply_comparison(option, "=", values[0], value)
        raise


def apply_sign(operator: str, operand: Expression) -> Expression:
    """Apply unary + or - to an operand, at once if it is a constant; raises TypeProblem unless it is a number."""
    try:
        negative = call("NEG", operand)  # unary + takes the same types
    except TypeProblem:
        raise TypeProblem(f"{operator} does not take {with_article(operand.type)}", hint="it takes numbers") from None
    if operator == "+":
        return operand
    if isinstance(operand, Constant) and isinstance(operand.value, int | float):
        return Constant(0 - operand.value, operand.type)  # 0 - 0.0 is 0.0, not -0.0
    return negative


def read_instant(text: str, span: Span | None) -> datetime:
    """Parse an ISO 8601 instant; without a time zone it is UTC; raises TypeProblem at `span` if it is malformed."""
    try:
        instant = datetime.fromisoformat(text)
        return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant.astimezone(UTC)
    except (ValueError, OverflowError):
        raise TypeProblem(
            f"{shorten(text)!r} is not an ISO 8601 instant", span=span, hint="write it like '2009-03-01T12:00:00Z'"
        ) from None


def typed_constant(node: TypedLiteral, calendar: Calendar) -> Expression:
    """Translate a typed literal: TIME '...' to a tick (a whole number), TIMESTAMP '...' to an instant (S36)."""
    if node.kind == "TIME":
        return Constant(calendar.tick_of(read_instant(node.text, node.span)), Type.TIME)
    if node.kind == "TIMESTAMP":
        return Constant(read_instant(node.text, node.span), Type.TIMESTAMP)
    raise unknown_constant(node.kind, quote_string(node.text))


def translate_comparable(nodes: Sequence[Node], scope: Scope) -> list[Expression]:
    """Translate the operands of a comparison; strings compared with a time or timestamp are read as ISO 8601 (S36)."""
    return read_strings_as_instants([translate(node, scope) for node in nodes], nodes, scope)


def read_strings_as_instants(operands: list[Expression], nodes: Sequence[Node], scope: Scope) -> list[Expression]:
    """Convert constant strings to ticks if an operand is a TIME, to instants if one is a TIMESTAMP, else not at all.

    `nodes` locate errors.
    """
    kinds = {operand.type for operand in operands}
    if not kinds & {Type.TIME, Type.TIMESTAMP}:
        return operands
    target = Type.TIME if Type.TIME in kinds else Type.TIMESTAMP

    def read_if_string(operand: Expression, node: Node) -> Expression:
        """Convert a constant string to a tick (target TIME) or instant (TIMESTAMP); other operands are unchanged."""
        if not (isinstance(operand, Constant) and isinstance(operand.value, str)):
            return operand
        instant = read_instant(operand.value, node.span)
        return Constant(scope.calendar.tick_of(instant) if target is Type.TIME else instant, target)

    return [read_if_string(operand, node) for operand, node in zip(operands, nodes, strict=True)]


def translate_call(node: FunctionCall, scope: Scope) -> Expression:
    """Translate a call of a scalar function; raises NameProblem if it is unknown, TypeProblem if types do not fit."""
    if node.name in AGGREGATES:
        raise LanguageRule(
            f"{node.name} cannot be used here", hint="aggregates are allowed in the select list and in HAVING"
        )
    if node.star:
        raise LanguageRule(
            f"{shorten(node.name)} does not take *",
            hint=f"only COUNT takes *; write {shorten(node.name)}(x) for an attribute x",
        )
    name = SYNONYMS.get(node.name, node.name)
    if name not in CALLABLE and name != "%":
        raise NameProblem(
            f"no function is called {shorten(node.name)}",
            span=name_span(node),
            hint=function_hint(node.name, CALLABLE, AGGREGATES),
        )
    arguments = [translate(argument, scope) for argument in node.arguments]
    kinds = [argument.type for argument in arguments]
    signatures = query_signatures(name)
    if not any(signature.expand(len(kinds)) for signature in signatures):
        raise TypeProblem(
            f"{node.name} {argument_counts(signatures)}, not {len(kinds)}", hint=accepted_types(signatures)
        )
    calendar = [Constant(scope.calendar.length, Type.INTEGER), Constant(scope.calendar.epoch, Type.TIMESTAMP)]
    try:
        if name in _WITH_CALENDAR:
            return call(name, arguments[0], *calendar)
        if name in _FIELDS and kinds[0] is Type.TIME:
            return call(name, call("INSTANT", arguments[0], *calendar))
        return call(name, *arguments)
    except TypeProblem:
        hint = accepted_types(signatures)
        if hint == ONE_TYPE:
            texts = [shorten(unparse(argument)) for argument in node.arguments]
            hint = f"{hint}; {same_type_hint(list(zip(texts, kinds)))}"
        raise TypeProblem(f"{node.name} does not take {type_list(kinds)}", hint=hint) from None


def query_signatures(name: str) -> list[Signature]:
    """Return a function's signatures as queries call it, without the implicit arguments tick length and epoch."""
    signatures = FUNCTIONS[name].signatures
    if name in _WITH_CALENDAR:
        return [Signature(s.arguments[:1], s.result) for s in signatures]
    return list(signatures)


def translate_case(node: CaseWhen, scope: Scope) -> Case:
    """Translate CASE to conditions and results; in `CASE x WHEN y THEN z`, the condition is the equality `x = y`."""
    branches: list[tuple[Expression, Expression]] = []
    kind = Type.NULL
    subject = None if node.subject is None else translate(node.subject, scope)
    for when, then in node.branches:
        if subject is None or node.subject is None:
            test = condition(when, scope, "WHEN")
        else:
            test = apply_comparison(
                when, "=", *read_strings_as_instants([subject, translate(when, scope)], [node.subject, when], scope)
            )
        branches.append((test, translate(then, scope)))
        kind = common_branch_type(kind, branches[-1][1].type, then, node.branches[0][1])
    if node.otherwise is None:
        return case(branches, Constant(None, Type.NULL))
    otherwise = translate(node.otherwise, scope)
    common_branch_type(kind, otherwise.type, node.otherwise, node.branches[0][1])
    return case(branches, otherwise)


def common_branch_type(common: Type, branch_type: Type, node: Node, first: Node) -> Type:
    """Return the common type of CASE branches so far (`common`) and of `node`; TypeProblem, quoting `first`, if none.

    `first` is the result of the first branch.
    """
    kind = common_type(common, branch_type)
    if kind is None:
        raise TypeProblem(
            f"the branches of CASE have different types: {with_article(common)} and {with_article(branch_type)}",
            span=node.span,
            hint=same_type_hint([(shorten(unparse(first)), common), (shorten(unparse(node)), branch_type)]),
        )
    return kind


def translate_cast(node: CastTo, scope: Scope) -> Expression:
    """Translate CAST; raises NameProblem for an unknown type, TypeProblem for a conversion that does not exist."""
    operand = translate(node.operand, scope)
    names = {t.value: t for t in DECLARABLE}
    if node.kind not in names:
        synonym = TYPE_SYNONYMS.get(node.kind)
        matches = [synonym] if synonym else difflib.get_close_matches(node.kind, names, 1, 0.5)
        raise NameProblem(
            f"no type is called {shorten(node.written or node.kind)}",
            span=node.kind_span,
            hint=f"did you mean {matches[0]}?" if matches else f"types are {', '.join(names)}",
        )
    target = names[node.kind]
    if not castable(operand.type, target):
        raise TypeProblem(
            f"{with_article(operand.type)} cannot be cast to {with_article(target)}",
            hint=conversion_hint(shorten(unparse(node.operand)), operand.type, target),
        )
    return Constant(None, target) if operand.type is Type.NULL else Cast(operand, target)
