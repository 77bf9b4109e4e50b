"""Typed scalar expressions and aggregates, as predicates and projections use them.

SPARQL uses the same classes: a variable is a column of type TERM, its functions are functions over terms, and an error
is NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Literal as OneOf
from typing import TypeAlias

from transom.algebra.expressions.functions import Function, resolve
from transom.algebra.operator import Operator
from transom.errors import PlanError, TypeProblem
from transom.model.geometry.regions import Region
from transom.model.schema import Attribute
from transom.model.types import DECLARABLE, Type, Value, common_type, is_value_of
from transom.record import Record


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Constant(Record):
    """A constant value of a type."""

    value: Value
    type: Type

    def __post_init__(self) -> None:
        """Raise PlanError unless the value belongs to the type."""
        if not is_value_of(self.value, self.type):
            raise PlanError(f"{self.value!r} is not of type {self.type}")

    def __str__(self) -> str:
        """The constant as an SQL literal."""
        if self.value is None:
            return "NULL"
        if isinstance(self.value, str):
            return "'" + self.value.replace("'", "''") + "'"
        if isinstance(self.value, datetime):
            return f"TIMESTAMP '{self.value.isoformat()}'"
        return str(self.value).upper() if isinstance(self.value, bool) else str(self.value)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Column(Record):
    """The value of an attribute of the tuple."""

    attribute: Attribute

    @property
    def type(self) -> Type:
        """The type of the column that is read."""
        return self.attribute.type

    @property
    def name(self) -> str:
        """The name of the column that is read; for an RDF term, the name of the SPARQL variable."""
        return self.attribute.name

    def __str__(self) -> str:
        """The column as text: its name, qualified if it has a qualifier, or `?name` for a SPARQL variable."""
        return f"?{self.name}" if self.type is Type.TERM else self.attribute.label


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Tag(Record):
    """The implicit tick or index of a tagged tuple; valid on streams only (S35)."""

    name: OneOf["tick", "index"]

    @property
    def type(self) -> Type:
        """The type of a tuple's tick or index: always INTEGER."""
        return Type.INTEGER

    def __str__(self) -> str:
        """The tag, that is the tick (event time) or index (row number) of a tuple, as `<tick>` or `<index>`."""
        return f"<{self.name}>"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Call(Record):
    """A function applied to arguments whose types are exactly those of one of its signatures."""

    function: Function
    arguments: tuple[Expression, ...]
    type: Type = field(init=False, compare=False)
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Compute result type and node count; raise PlanError if no signature has exactly these argument types."""
        types = tuple(a.type for a in self.arguments)
        result = self.function.result(types)
        if result is None:
            raise PlanError(f"{self.function.name} does not take {tuple(map(str, types))}")
        object.__setattr__(self, "type", result)
        object.__setattr__(self, "size", 1 + sum(map(size, self.arguments)))

    def __str__(self) -> str:
        """The call as text: `(a + b)` for an infix operator, else `NAME(a, b)`."""
        arguments = [str(a) for a in self.arguments]
        if self.function.infix:
            return "(" + f" {self.function.name} ".join(arguments) + ")"
        return f"{self.function.name.removeprefix('unary ')}({', '.join(arguments)})"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Case(Record):
    """The result of the first branch whose condition is true, else `otherwise`."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression
    type: Type = field(init=False, compare=False)
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Compute type and node count; raise PlanError for non-boolean conditions or results of different types."""
        for condition, result in self.branches:
            if condition.type is not Type.BOOLEAN or result.type is not self.otherwise.type:
                raise PlanError("a branch of CASE has the wrong type")
        object.__setattr__(self, "type", self.otherwise.type)
        parts = (*(part for branch in self.branches for part in branch), self.otherwise)
        object.__setattr__(self, "size", 1 + sum(map(size, parts)))

    def __str__(self) -> str:
        """The expression as SQL text: `CASE WHEN c THEN r ... ELSE r END`."""
        branches = " ".join(f"WHEN {c} THEN {r}" for c, r in self.branches)
        return f"CASE {branches} ELSE {self.otherwise} END"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Cast(Record):
    """The conversion of a value to another type; NULL if the value cannot be converted."""

    operand: Expression
    type: Type
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Compute the number of nodes; raise TypeProblem if the conversion is not supported."""
        if not castable(self.operand.type, self.type):
            raise TypeProblem(f"a {self.operand.type} cannot be made a {self.type}")
        object.__setattr__(self, "size", 1 + size(self.operand))

    def __str__(self) -> str:
        """The expression as SQL text: `CAST(operand AS type)`."""
        return f"CAST({self.operand} AS {self.type})"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class InRegion(Record):
    """Whether a point lies in a region, border included (C9); NULL if the point is NULL."""

    point: Expression
    region: Region
    size: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Set `size`, the node count of the expression tree; raise TypeProblem if the operand is no point."""
        if self.point.type is not Type.POINT:
            raise TypeProblem(f"INSIDE needs a point, not a {self.point.type}")
        object.__setattr__(self, "size", 1 + size(self.point))

    @property
    def type(self) -> Type:
        """The type of the expression: always boolean."""
        return Type.BOOLEAN

    def __str__(self) -> str:
        """The expression as text: `INSIDE(point, region)`."""
        return f"INSIDE({self.point}, {self.region.name})"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Exists(Record):
    """Whether a pattern has a solution at the same instant, after substituting the current solution.

    NOT EXISTS is NOT applied to this.
    """

    pattern: Operator

    @property
    def type(self) -> Type:
        """The type of the expression: always boolean."""
        return Type.BOOLEAN

    def __str__(self) -> str:
        """The expression as the text `EXISTS {...}`, without its pattern."""
        return "EXISTS {...}"


Expression: TypeAlias = Constant | Column | Tag | Call | Case | Cast | InRegion | Exists
"""Any scalar expression."""

TRUE = Constant(True, Type.BOOLEAN)


def size(expression: Expression) -> int:
    """Count the nodes of an expression; a shared subexpression counts each time that it is used."""
    return expression.size if isinstance(expression, Call | Case | Cast | InRegion) else 1


def castable(source: Type, target: Type) -> bool:
    """Whether CAST can convert one type to another; not float to string, because engines format floats differently."""
    if source is target or source is Type.NULL:
        return True
    if target is Type.STRING:
        return source in (Type.INTEGER, Type.DECIMAL, Type.BOOLEAN, Type.TIME)
    if source is Type.STRING:
        return target in DECLARABLE
    if source.is_number and target.is_number and target is not Type.NULL:
        return True
    return {source, target} in ({Type.INTEGER, Type.TIME}, {Type.INTEGER, Type.BOOLEAN}, {Type.TERM, Type.BOOLEAN})


def widen(expression: Expression, target: Type) -> Expression:
    """Convert an expression to a wider type: by a cast, or directly for a constant; unchanged if it has the type."""
    if expression.type is target:
        return expression
    if isinstance(expression, Constant):
        if expression.value is None:
            return Constant(None, target)
        if isinstance(expression.value, int) and target is Type.FLOAT:
            return Constant(float(expression.value), target)
        if isinstance(expression.value, int) and target is Type.TIME:
            return Constant(expression.value, target)
    return Cast(expression, target)


def call(name: str, *arguments: Expression) -> Expression:
    """Build a call with arguments widened to the cheapest signature; raise TypeProblem if none takes them."""
    function, parameters, _ = resolve(name, [argument.type for argument in arguments])
    return Call(function, tuple(widen(argument, kind) for argument, kind in zip(arguments, parameters, strict=True)))


def case(branches: list[tuple[Expression, Expression]], otherwise: Expression) -> Case:
    """Build a CASE whose results are widened to their common type; raise TypeProblem if they have none."""
    kind = otherwise.type
    for _, result in branches:
        wider = common_type(kind, result.type)
        if wider is None:
            raise TypeProblem(f"the branches of CASE give {kind} and {result.type}")
        kind = wider
    return Case(tuple((widen(c, Type.BOOLEAN), widen(r, kind)) for c, r in branches), widen(otherwise, kind))


def conjunction(parts: list[Expression]) -> Expression:
    """Join predicates by AND; TRUE if there are none."""
    if not parts:
        return TRUE
    return parts[0] if len(parts) == 1 else call("AND", *parts)


def conjuncts(expression: Expression) -> list[Expression]:
    """Split a predicate into those that AND joins, through nested ANDs; any other predicate is the only part."""
    if isinstance(expression, Call) and expression.function.name == "AND":
        return [part for argument in expression.arguments for part in conjuncts(argument)]
    return [expression]


def operands(expression: Expression) -> tuple[Expression, ...]:
    """Return the direct operands of an expression; none for a constant, a column, a tick or index, or EXISTS."""
    match expression:
        case Call(arguments=arguments):
            return arguments
        case Case(branches=branches, otherwise=otherwise):
            return (*(e for branch in branches for e in branch), otherwise)
        case Cast(operand=operand) | InRegion(point=operand):
            return (operand,)
        case _:
            return ()


def subexpressions(expression: Expression) -> Iterator[Expression]:
    """Yield the expression and all its subexpressions in pre-order; the pattern of an EXISTS is not entered."""
    yield expression
    for operand in operands(expression):
        yield from subexpressions(operand)


def columns_read(expression: Expression) -> set[Attribute]:
    """Return the columns that an expression reads, except those read inside the pattern of an EXISTS."""
    return {part.attribute for part in subexpressions(expression) if isinstance(part, Column)}


def tags_read(expression: Expression) -> set[str]:
    """Return which of a tuple's tick and index an expression reads, as a set of the names `tick` and `index`."""
    return {part.name for part in subexpressions(expression) if isinstance(part, Tag)}


def rewrite(expression: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Apply `change` to every subexpression, operands first; the patterns of EXISTS are not entered."""
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
        case InRegion(point=point, region=region):
            expression = InRegion(rewrite(point, change), region)
    return change(expression)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class NamedExpression(Record):
    """One column of a projection or a group: an expression and the attribute it becomes."""

    expression: Expression
    attribute: Attribute

    def __post_init__(self) -> None:
        """Raise PlanError unless the expression has the type of the column that it computes."""
        if self.expression.type is not self.attribute.type:
            raise PlanError(f"{self.expression} is {self.expression.type}, not {self.attribute.type}")

    def __str__(self) -> str:
        """The item of the projection as text: `expression AS name`, or the name alone for an unchanged column."""
        text, name = str(self.expression), str(Column(self.attribute))
        return text if text == name else f"{text} AS {name}"


def identity_items(attributes: Iterable[Attribute]) -> tuple[NamedExpression, ...]:
    """Build the items of a projection that passes these columns through unchanged."""
    return tuple(NamedExpression(Column(attribute), attribute) for attribute in attributes)


def substitute(expression: Expression, items: Iterable[NamedExpression]) -> Expression:
    """Replace each column of a projection's output in an expression by the expression that computes it."""
    definitions = {item.attribute: item.expression for item in items}
    return rewrite(expression, lambda part: definitions[part.attribute] if isinstance(part, Column) else part)


class AggregateFunction(Enum):
    """Aggregate functions over the tuples of a window or a group."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    MIN = "MIN"
    MAX = "MAX"
    SAMPLE = "SAMPLE"
    GROUP_CONCAT = "GROUP_CONCAT"

    def result(self, argument: Type) -> Type | None:
        """The type of the result for an argument type; None if the function does not take that type."""
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


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Aggregate(Record):
    """One aggregate column; without an argument it is COUNT(*), an integer or a term.

    `distinct` uses equal values once. Over terms, one error among the values makes the result an error, except for
    COUNT and SAMPLE.
    """

    function: AggregateFunction
    argument: Expression | None
    attribute: Attribute
    distinct: bool = False
    separator: str = " "

    def __post_init__(self) -> None:
        """Raise PlanError unless the function takes the argument and gives the type of the output column."""
        if self.argument is None and self.function is not AggregateFunction.COUNT:
            raise PlanError(f"{self.function.value} needs an argument")
        if self.argument is None and self.attribute.type is Type.TERM:
            return
        if self.function.result(self.argument.type if self.argument else Type.INTEGER) is not self.attribute.type:
            raise PlanError(f"{self.function.value} does not give {self.attribute.type}")

    def __str__(self) -> str:
        """The aggregate as text, such as `COUNT(DISTINCT a)`."""
        argument = f"{'DISTINCT ' if self.distinct else ''}{'*' if self.argument is None else self.argument}"
        name = f" AS {Column(self.attribute)}" if self.attribute.type is Type.TERM else ""
        return f"{self.function.value}({argument}){name}"
