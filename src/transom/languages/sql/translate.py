"""Scalar syntax to typed expressions: names resolved, types checked, arguments widened."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Protocol, assert_never

from transom.algebra.expressions import (
    AggregateFunction,
    Case,
    Cast,
    Expression,
    Literal,
    call,
    case,
    castable,
    size,
)
from transom.algebra.functions import FUNCTIONS, Signature
from transom.errors import LanguageRule, NameProblem, QueryError, Span, TypeProblem
from transom.languages.sql.parse import TOO_LARGE
from transom.languages.sql.syntax import (
    Between,
    Binary,
    CaseWhen,
    CastTo,
    Constant,
    Exists,
    Function,
    InList,
    InQuery,
    IsNull,
    Like,
    Logic,
    Name,
    Node,
    TypedConstant,
    Unary,
)
from transom.languages.sql.wording import OPERANDS, a, argument_counts, brief, incomparable, takes, these, way_around
from transom.model.time import Calendar
from transom.model.types import DECLARABLE, INTEGER_MAX, INTEGER_MIN, TYPE_SYNONYMS, Type, common_type

AGGREGATES = frozenset(f.value for f in AggregateFunction if f.result(Type.INTEGER))
SYNONYMS = {"CEILING": "CEIL", "MOD": "%", "SUBSTR": "SUBSTRING", "POW": "POWER"}
CALLABLE = sorted(name for name in FUNCTIONS if name.replace("_", "").isalnum() and name not in {
    "AND", "OR", "NOT", "IN", "LIKE", "NEG"
})  # fmt: skip
"""The functions that a query may call by name."""

ELSEWHERE = {
    **dict.fromkeys(
        ("STDDEV", "STDEV", "VARIANCE", "VAR", "MEDIAN", "MODE", "FIRST", "LAST", "FIRST_VALUE", "LAST_VALUE"),
        "aggregates are COUNT, SUM, AVG, MIN and MAX",
    ),
    **dict.fromkeys(("MEAN", "AVERAGE"), "did you mean AVG?"),
    **dict.fromkeys(("NVL", "IFNULL", "ISNULL"), "did you mean COALESCE?"),
    "NOW": "tick is the time of a tuple",
}
"""What other dialects have as functions, and what to write instead."""

SUBQUERIES = "IN (SELECT ..) and EXISTS (SELECT ..) stand in WHERE, alone or joined by AND"

LARGEST = 10_000
"""Parts of an expression, once BETWEEN and CASE are spelled out."""

_FIELDS = {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"}
_WITH_CALENDAR = {"TICK", "INSTANT"}
COMPARISONS = {"=", "<>", "<", "<=", ">", ">=", "IN"}


class Scope(Protocol):
    """What surrounds an expression: the names it may use, and what is taken as it stands."""

    @property
    def calendar(self) -> Calendar:
        """How ticks lie in real time."""
        ...

    def known(self, node: Node) -> Expression | None:
        """What a whole node means here, where the surroundings decide that (groups and aggregates)."""
        ...

    def resolve(self, name: Name) -> Expression:
        """What a name means."""
        ...


def translate(node: Node, scope: Scope) -> Expression:
    """The typed expression that a node means; errors point at the node that is wrong."""
    known = scope.known(node)
    if known is not None:
        return known
    try:
        expression = _translate(node, scope)
        if size(expression) > LARGEST:
            raise LanguageRule(
                f"an expression of more than {LARGEST:,} parts", hint="compute parts of it in a subquery"
            )
        return expression
    except QueryError as error:
        if error.span is None:
            error.span = node.span
        raise


def condition(node: Node, scope: Scope, clause: str) -> Expression:
    """A translated expression that must be boolean, such as that of WHERE."""
    expression = translate(node, scope)
    if expression.type is Type.NULL:
        return Literal(None, Type.BOOLEAN)
    if expression.type is not Type.BOOLEAN:
        raise TypeProblem(
            f"{clause} needs a condition, not {a(expression.type)}",
            span=node.span,
            hint="compare it with something, for example x > 0",
        )
    return expression


def _translate(node: Node, scope: Scope) -> Expression:
    match node:
        case Constant(value=constant):
            if type(constant) is int and constant > INTEGER_MAX:
                raise TypeProblem(TOO_LARGE, hint=f"the largest is {INTEGER_MAX}")
            return Literal(constant, constant_type(constant))
        case TypedConstant():
            return typed_constant(node, scope.calendar)
        case Name():
            return scope.resolve(node)
        case Unary(operator="NOT", operand=operand):
            return call("NOT", condition(operand, scope, "NOT"))
        case Unary(operator="-", operand=Constant(value=int() as size)) if size == -INTEGER_MIN:
            return Literal(-size, Type.INTEGER)
        case Unary(operator=operator, operand=operand):
            return signed(operator, translate(operand, scope))
        case Binary(operator=operator, left=left, right=right):
            if operator == "-" or operator in COMPARISONS:
                return operate(operator, *together([left, right], scope))
            return operate(operator, translate(left, scope), translate(right, scope))
        case Logic(operator=operator, operands=operands):
            return call(operator, *(condition(operand, scope, operator) for operand in operands))
        case IsNull(operand=operand, negated=negated):
            return negate(call("IS NULL", translate(operand, scope)), negated)
        case InList(operand=operand, options=options, negated=negated):
            return negate(one_of(operand, options, scope), negated)
        case Between(operand=operand, low=low, high=high, negated=negated):
            middle, least, most = together([operand, low, high], scope)
            inside = call("AND", compare(low, ">=", middle, least), compare(high, "<=", middle, most))
            return negate(inside, negated)
        case Like(operand=operand, pattern=pattern, negated=negated):
            return negate(operate("LIKE", translate(operand, scope), translate(pattern, scope)), negated)
        case Function():
            return function(node, scope)
        case CaseWhen():
            return case_when(node, scope)
        case CastTo():
            return cast_to(node, scope)
        case InQuery() | Exists():
            raise LanguageRule("a subquery in the middle of an expression", hint=SUBQUERIES)
        case _:
            assert_never(node)


def constant_type(value: int | float | str | bool | None) -> Type:
    """The type of a constant as it was written."""
    if isinstance(value, bool):
        return Type.BOOLEAN
    if isinstance(value, int):
        return Type.INTEGER
    if isinstance(value, float):
        return Type.FLOAT
    return Type.NULL if value is None else Type.STRING


def negate(expression: Expression, negated: bool) -> Expression:
    """NOT of an expression where the text says so."""
    return call("NOT", expression) if negated else expression


def operate(operator: str, *operands: Expression) -> Expression:
    """An operator applied to operands; where it does not take them, an error in its own words."""
    try:
        return call(operator, *operands)
    except TypeProblem:
        if operator in COMPARISONS:
            raise incomparable(operands) from None
        kinds = [operand.type for operand in operands]
        raise TypeProblem(
            f"{operator} does not take {these(kinds)}", hint=OPERANDS.get(operator, "it takes numbers")
        ) from None


def compare(node: Node, operator: str, *operands: Expression) -> Expression:
    """A comparison that is written with one word for several; an error points at the node that does not fit."""
    try:
        return operate(operator, *operands)
    except TypeProblem as error:
        error.span = node.span
        raise


def one_of(operand: Node, options: Sequence[Node], scope: Scope) -> Expression:
    """A value among others; an error points at the one that does not fit."""
    values = together([operand, *options], scope)
    try:
        return operate("IN", *values)
    except TypeProblem:
        for option, value in zip(options, values[1:], strict=True):
            compare(option, "=", values[0], value)
        raise


def signed(operator: str, operand: Expression) -> Expression:
    """+x or -x; a negative constant is a constant."""
    try:
        negative = call("NEG", operand)  # + takes what - takes
    except TypeProblem:
        raise TypeProblem(f"{operator} does not take {a(operand.type)}", hint="it takes numbers") from None
    if operator == "+":
        return operand
    if isinstance(operand, Literal) and isinstance(operand.value, int | float):
        return Literal(0 - operand.value, operand.type)  # 0.0, where -0.0 would be another
    return negative


def read_instant(text: str, span: Span | None) -> datetime:
    """An ISO 8601 instant; without a zone it is UTC."""
    try:
        moment = datetime.fromisoformat(text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise TypeProblem(
            f"{brief(text)!r} is not an ISO 8601 instant", span=span, hint="write it like '2009-03-01T12:00:00Z'"
        ) from None


def typed_constant(node: TypedConstant, calendar: Calendar) -> Expression:
    """TIME '...' is a tick, TIMESTAMP '...' an instant (S36)."""
    if node.kind == "TIME":
        return Literal(calendar.tick_of(read_instant(node.text, node.span)), Type.TIME)
    if node.kind == "TIMESTAMP":
        return Literal(read_instant(node.text, node.span), Type.TIMESTAMP)
    raise TypeProblem(
        f"no constants are written as {brief(node.kind)} '...'", hint="write TIME '...' or TIMESTAMP '...'"
    )


def together(nodes: Sequence[Node], scope: Scope) -> list[Expression]:
    """Operands that are compared; strings beside a time or a timestamp are read as ISO 8601 (S36)."""
    return as_instants([translate(node, scope) for node in nodes], nodes, scope)


def as_instants(operands: list[Expression], nodes: Sequence[Node], scope: Scope) -> list[Expression]:
    """Translated operands that are compared, strings beside an instant read as one."""
    kinds = {operand.type for operand in operands}
    if not kinds & {Type.TIME, Type.TIMESTAMP}:
        return operands
    wanted = Type.TIME if Type.TIME in kinds else Type.TIMESTAMP

    def read(operand: Expression, node: Node) -> Expression:
        if not (isinstance(operand, Literal) and isinstance(operand.value, str)):
            return operand
        moment = read_instant(operand.value, node.span)
        return Literal(scope.calendar.tick_of(moment) if wanted is Type.TIME else moment, wanted)

    return [read(operand, node) for operand, node in zip(operands, nodes, strict=True)]


def function(node: Function, scope: Scope) -> Expression:
    """A call of a scalar function by name."""
    if node.name in AGGREGATES:
        raise LanguageRule(f"{node.name} cannot stand here", hint="aggregates stand in the select list and in HAVING")
    if node.star:
        raise LanguageRule(f"{node.name}(*) means nothing", hint="only COUNT takes *")
    name = SYNONYMS.get(node.name, node.name)
    if name not in CALLABLE and name != "%":
        raise NameProblem(
            f"no function is called {brief(node.name)}",
            span=Span(node.span.start, node.span.start + len(node.name)),
            hint=instead_of(node.name),
        )
    arguments = [translate(argument, scope) for argument in node.arguments]
    kinds = [argument.type for argument in arguments]
    signatures = offered(name)
    if not any(signature.expand(len(kinds)) for signature in signatures):
        raise TypeProblem(f"{node.name} {argument_counts(signatures)}, not {len(kinds)}", hint=takes(signatures))
    calendar = [Literal(scope.calendar.length, Type.INTEGER), Literal(scope.calendar.epoch, Type.TIMESTAMP)]
    try:
        if name in _WITH_CALENDAR:
            return call(name, arguments[0], *calendar)
        if name in _FIELDS and kinds[0] is Type.TIME:
            return call(name, call("INSTANT", arguments[0], *calendar))
        return call(name, *arguments)
    except TypeProblem:
        raise TypeProblem(f"{node.name} does not take {these(kinds)}", hint=takes(signatures)) from None


def instead_of(name: str) -> str:
    """What to write instead of a function that there is not."""
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    near = difflib.get_close_matches(name, [*CALLABLE, *AGGREGATES], 1, 0.6)
    return f"did you mean {near[0]}?" if near else "functions are ABS, COALESCE, ROUND, UPPER and others"


def offered(name: str) -> list[Signature]:
    """The signatures of a function as a query sees them; the calendar is not written."""
    signatures = FUNCTIONS[name].signatures
    if name in _WITH_CALENDAR:
        return [Signature(s.arguments[:1], s.result) for s in signatures]
    return list(signatures)


def case_when(node: CaseWhen, scope: Scope) -> Case:
    """Both forms of CASE; the one with a subject compares it with each WHEN."""
    branches: list[tuple[Expression, Expression]] = []
    kind = Type.NULL
    subject = None if node.subject is None else translate(node.subject, scope)
    for when, then in node.branches:
        if subject is None or node.subject is None:
            test = condition(when, scope, "WHEN")
        else:
            test = compare(when, "=", *as_instants([subject, translate(when, scope)], [node.subject, when], scope))
        branches.append((test, translate(then, scope)))
        kind = common_branch(kind, branches[-1][1].type, then)
    if node.otherwise is None:
        return case(branches, Literal(None, Type.NULL))
    otherwise = translate(node.otherwise, scope)
    common_branch(kind, otherwise.type, node.otherwise)
    return case(branches, otherwise)


def common_branch(before: Type, own: Type, node: Node) -> Type:
    """The type of the branches of CASE so far, with one more."""
    kind = common_type(before, own)
    if kind is None:
        raise TypeProblem(
            f"the branches of CASE give {a(before)} and {a(own)}",
            span=node.span,
            hint="make all of one type with CAST",
        )
    return kind


def cast_to(node: CastTo, scope: Scope) -> Expression:
    """CAST to a type by its name."""
    operand = translate(node.operand, scope)
    names = {t.value: t for t in DECLARABLE}
    if node.kind not in names:
        synonym = TYPE_SYNONYMS.get(node.kind)
        near = [synonym] if synonym else difflib.get_close_matches(node.kind, names, 1, 0.5)
        raise NameProblem(
            f"no type is called {brief(node.kind)}",
            span=node.kind_span,
            hint=f"did you mean {near[0]}?" if near else f"types are {', '.join(names)}",
        )
    wanted = names[node.kind]
    if not castable(operand.type, wanted):
        raise TypeProblem(f"{a(operand.type)} cannot be made {a(wanted)}", hint=way_around(operand.type, wanted))
    return Literal(None, wanted) if operand.type is Type.NULL else Cast(operand, wanted)
