"""Typed scalar expressions and aggregates: what predicates and projections compute from one tuple.

SPARQL's are the same: a variable is a column of terms, a function of terms is a function, and an error is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Literal as OneOf
from typing import TypeAlias

from transom.algebra.functions import Function, resolve
from transom.algebra.operator import Operator
from transom.errors import PlanError, TypeProblem
from transom.model.regions import Region
from transom.model.schema import Attribute
from transom.model.types import DECLARABLE, Type, Value, common_type, fits


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    value: Value
    type: Type

    def __post_init__(self) -> None:
        if not fits(self.value, self.type):
            raise PlanError(f"{self.value!r} is not of type {self.type}")

    def __str__(self) -> str:
        if self.value is None:
            return "NULL"
        if isinstance(self.value, str):
            return "'" + self.value.replace("'", "''") + "'"
        if isinstance(self.value, datetime):
            return f"TIMESTAMP '{self.value.isoformat()}'"
        return str(self.value).upper() if isinstance(self.value, bool) else str(self.value)


@dataclass(frozen=True, slots=True)
class Column:
    """The value of an attribute of the tuple."""

    attribute: Attribute

    @property
    def type(self) -> Type:
        return self.attribute.type

    @property
    def name(self) -> str:
        """The name of the attribute: of terms, the name of a variable."""
        return self.attribute.name

    def __str__(self) -> str:
        return f"?{self.name}" if self.type is Type.TERM else self.attribute.label


@dataclass(frozen=True, slots=True)
class Tag:
    """The implicit tick or index of a tagged tuple; it means something on streams only (S35)."""

    name: OneOf["tick", "index"]

    @property
    def type(self) -> Type:
        return Type.INTEGER

    def __str__(self) -> str:
        return f"<{self.name}>"


@dataclass(frozen=True, slots=True)
class Call:
    """A function applied to arguments whose types are exactly those of one of its signatures."""

    function: Function
    arguments: tuple[Expression, ...]
    type: Type = field(init=False, compare=False)
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        given = tuple(a.type for a in self.arguments)
        result = self.function.result(given)
        if result is None:
            raise PlanError(f"{self.function.name} does not take {tuple(map(str, given))}")
        object.__setattr__(self, "type", result)
        object.__setattr__(self, "size", 1 + sum(map(size, self.arguments)))

    def __str__(self) -> str:
        words = [str(a) for a in self.arguments]
        if self.function.infix:
            return "(" + f" {self.function.name} ".join(words) + ")"
        return f"{self.function.name.removeprefix('unary ')}({', '.join(words)})"


@dataclass(frozen=True, slots=True)
class Case:
    """The result of the first branch whose condition is true, else `otherwise`."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression
    type: Type = field(init=False, compare=False)
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        for condition, result in self.branches:
            if condition.type is not Type.BOOLEAN or result.type is not self.otherwise.type:
                raise PlanError("a branch of CASE has the wrong type")
        object.__setattr__(self, "type", self.otherwise.type)
        parts = (*(part for branch in self.branches for part in branch), self.otherwise)
        object.__setattr__(self, "size", 1 + sum(map(size, parts)))

    def __str__(self) -> str:
        branches = " ".join(f"WHEN {c} THEN {r}" for c, r in self.branches)
        return f"CASE {branches} ELSE {self.otherwise} END"


@dataclass(frozen=True, slots=True)
class Cast:
    """A value as a value of another type; NULL where there is none."""

    operand: Expression
    type: Type
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not castable(self.operand.type, self.type):
            raise TypeProblem(f"a {self.operand.type} cannot be made a {self.type}")
        object.__setattr__(self, "size", 1 + size(self.operand))

    def __str__(self) -> str:
        return f"CAST({self.operand} AS {self.type})"


@dataclass(frozen=True, slots=True)
class InRegion:
    """Whether a place lies in a region, border included (C9); NULL for no place."""

    place: Expression
    region: Region
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.place.type is not Type.POINT:
            raise TypeProblem(f"INSIDE needs a place, not a {self.place.type}")
        object.__setattr__(self, "size", 1 + size(self.place))

    @property
    def type(self) -> Type:
        return Type.BOOLEAN

    def __str__(self) -> str:
        return f"INSIDE({self.place}, {self.region.name})"


@dataclass(frozen=True, slots=True)
class Exists:
    """Whether a pattern has a solution at the same instant, once the variables of this solution stand for their terms.

    NOT EXISTS is NOT of it.
    """

    pattern: Operator

    @property
    def type(self) -> Type:
        return Type.BOOLEAN

    def __str__(self) -> str:
        return "EXISTS {...}"


Expression: TypeAlias = Literal | Column | Tag | Call | Case | Cast | InRegion | Exists
"""Any scalar expression."""

TRUE = Literal(True, Type.BOOLEAN)


def size(expression: Expression) -> int:
    """How many parts an expression has, shared ones counted as often as they are used."""
    return expression.size if isinstance(expression, Call | Case | Cast | InRegion) else 1


def castable(given: Type, wanted: Type) -> bool:
    """Whether CAST offers this; a float has no one spelling that all engines share, so it is not made a string."""
    if given is wanted or given is Type.NULL:
        return True
    if wanted is Type.STRING:
        return given in (Type.INTEGER, Type.DECIMAL, Type.BOOLEAN, Type.TIME)
    if given is Type.STRING:
        return wanted in DECLARABLE
    if given.is_number and wanted.is_number and wanted is not Type.NULL:
        return True
    return {given, wanted} in ({Type.INTEGER, Type.TIME}, {Type.INTEGER, Type.BOOLEAN}, {Type.TERM, Type.BOOLEAN})


def widen(expression: Expression, wanted: Type) -> Expression:
    """The expression as a value of a wider type."""
    if expression.type is wanted:
        return expression
    if isinstance(expression, Literal):
        if expression.value is None:
            return Literal(None, wanted)
        if isinstance(expression.value, int) and wanted is Type.FLOAT:
            return Literal(float(expression.value), wanted)
        if isinstance(expression.value, int) and wanted is Type.TIME:
            return Literal(expression.value, wanted)
    return Cast(expression, wanted)


def call(name: str, *arguments: Expression) -> Expression:
    """A function applied to arguments, widened as it needs them."""
    function, wanted, _ = resolve(name, [a.type for a in arguments])
    return Call(function, tuple(widen(a, w) for a, w in zip(arguments, wanted, strict=True)))


def case(branches: list[tuple[Expression, Expression]], otherwise: Expression) -> Case:
    """A CASE whose results are widened to their common type."""
    kind = otherwise.type
    for _, result in branches:
        wider = common_type(kind, result.type)
        if wider is None:
            raise TypeProblem(f"the branches of CASE give {kind} and {result.type}")
        kind = wider
    return Case(tuple((widen(c, Type.BOOLEAN), widen(r, kind)) for c, r in branches), widen(otherwise, kind))


def conjunction(parts: list[Expression]) -> Expression:
    """All parts joined by AND; TRUE if there are none."""
    if not parts:
        return TRUE
    return parts[0] if len(parts) == 1 else call("AND", *parts)


def conjuncts(expression: Expression) -> list[Expression]:
    """The parts that AND joins."""
    if isinstance(expression, Call) and expression.function.name == "AND":
        return [part for argument in expression.arguments for part in conjuncts(argument)]
    return [expression]


def operands(expression: Expression) -> tuple[Expression, ...]:
    """The expressions directly below one."""
    match expression:
        case Call(arguments=arguments):
            return arguments
        case Case(branches=branches, otherwise=otherwise):
            return (*(e for branch in branches for e in branch), otherwise)
        case Cast(operand=operand) | InRegion(place=operand):
            return (operand,)
        case _:
            return ()


def parts(expression: Expression) -> Iterator[Expression]:
    """The expression and all that is below it."""
    yield expression
    for operand in operands(expression):
        yield from parts(operand)


def columns(expression: Expression) -> set[Attribute]:
    """The attributes that an expression reads."""
    return {part.attribute for part in parts(expression) if isinstance(part, Column)}


def tags(expression: Expression) -> set[str]:
    """The implicit attributes that an expression reads."""
    return {part.name for part in parts(expression) if isinstance(part, Tag)}


def rewrite(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """The expression with `change` applied to every part, from the leaves up."""
    match expression:
        case Call(function=function, arguments=arguments):
            expression = Call(function, tuple(rewrite(a, change) for a in arguments))
        case Case(branches=branches, otherwise=otherwise):
            expression = Case(
                tuple((rewrite(c, change), rewrite(r, change)) for c, r in branches),
                rewrite(otherwise, change),
            )
        case Cast(operand=operand, type=kind):
            expression = Cast(rewrite(operand, change), kind)
        case InRegion(place=place, region=region):
            expression = InRegion(rewrite(place, change), region)
    return change(expression)


@dataclass(frozen=True, slots=True)
class Item:
    """One column of a projection or a group: an expression and the attribute it becomes."""

    expression: Expression
    attribute: Attribute

    def __post_init__(self) -> None:
        if self.expression.type is not self.attribute.type:
            raise PlanError(f"{self.expression} is {self.expression.type}, not {self.attribute.type}")

    def __str__(self) -> str:
        text, name = str(self.expression), str(Column(self.attribute))
        return text if text == name else f"{text} AS {name}"


def unchanged(attributes: Iterable[Attribute]) -> tuple[Item, ...]:
    """The columns of a projection that gives attributes as they are."""
    return tuple(Item(Column(attribute), attribute) for attribute in attributes)


def substitute(expression: Expression, items: Iterable[Item]) -> Expression:
    """The expression with the columns of a projection replaced by what they are computed from."""
    meaning = {item.attribute: item.expression for item in items}
    return rewrite(expression, lambda part: meaning[part.attribute] if isinstance(part, Column) else part)


class AggregateFunction(Enum):
    """What can be computed from all tuples of a window or a group."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    MIN = "MIN"
    MAX = "MAX"
    SAMPLE = "SAMPLE"
    GROUP_CONCAT = "GROUP_CONCAT"

    def result(self, argument: Type) -> Type | None:
        """The type of the result for an argument type, or None if it does not take that type."""
        if argument is Type.TERM:
            return argument
        match self:
            case AggregateFunction.COUNT:
                return Type.INTEGER
            case AggregateFunction.AVG:
                return Type.FLOAT if argument.is_number else None
            case AggregateFunction.SUM:
                return argument if argument.is_number else None
            case AggregateFunction.MIN | AggregateFunction.MAX:
                return argument
            case AggregateFunction.SAMPLE | AggregateFunction.GROUP_CONCAT:
                return None


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One aggregate column; without an argument it is COUNT(*), an integer or a term.

    `distinct` takes equal values once. Of terms, an error among the values is an error, except for COUNT and SAMPLE.
    """

    function: AggregateFunction
    argument: Expression | None
    attribute: Attribute
    distinct: bool = False
    separator: str = " "

    def __post_init__(self) -> None:
        if self.argument is None and self.function is not AggregateFunction.COUNT:
            raise PlanError(f"{self.function.value} needs an argument")
        if self.argument is None and self.attribute.type is Type.TERM:
            return
        if self.function.result(self.argument.type if self.argument else Type.INTEGER) is not self.attribute.type:
            raise PlanError(f"{self.function.value} does not give {self.attribute.type}")

    def __str__(self) -> str:
        argument = f"{'DISTINCT ' if self.distinct else ''}{'*' if self.argument is None else self.argument}"
        name = f" AS {Column(self.attribute)}" if self.attribute.type is Type.TERM else ""
        return f"{self.function.value}({argument}){name}"
