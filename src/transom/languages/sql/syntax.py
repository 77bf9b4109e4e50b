"""The syntax tree of scalar expressions. Spans are positions in the text; equality ignores them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from transom.errors import Span
from transom.record import Record

NOWHERE = Span(0, 0)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class SqlLiteral(Record):
    """A number without sign, a string, TRUE, FALSE or NULL."""

    value: int | float | str | bool | None
    span: Span = field(default=NOWHERE, compare=False)

    def __eq__(self, other: object) -> bool:
        """Whether two literals have the same type and value: 1, 1.0 and TRUE are all different."""
        return isinstance(other, SqlLiteral) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        """Return a hash of type and value, consistent with equality."""
        return hash((type(self.value), self.value))


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class TypedLiteral(Record):
    """A constant of a named type, such as TIME '2009-03-01T12:00:00Z'."""

    kind: str
    text: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Name(Record):
    """The name of an attribute, qualified or not."""

    qualifier: str | None
    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Unary(Record):
    """-x, +x or NOT x."""

    operator: str
    operand: Node
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Binary(Record):
    """Arithmetic, concatenation or a comparison."""

    operator: str
    left: Node
    right: Node
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Logic(Record):
    """Conditions joined by AND, or by OR."""

    operator: str
    operands: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class IsNull(Record):
    """x IS [NOT] NULL."""

    operand: Node
    negated: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class InList(Record):
    """x [NOT] IN (a, b, ...)."""

    operand: Node
    options: tuple[Node, ...]
    negated: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Between(Record):
    """x [NOT] BETWEEN low AND high."""

    operand: Node
    low: Node
    high: Node
    negated: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Like(Record):
    """x [NOT] LIKE pattern."""

    operand: Node
    pattern: Node
    negated: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class FunctionCall(Record):
    """A function or an aggregate; with `star` it is written f(*)."""

    name: str
    arguments: tuple[Node, ...]
    star: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class CaseWhen(Record):
    """CASE [subject] WHEN a THEN b ... [ELSE c] END."""

    subject: Node | None
    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class CastTo(Record):
    """CAST(x AS type); `written` is the name of the type as the query writes it."""

    operand: Node
    kind: str
    span: Span = field(default=NOWHERE, compare=False)
    kind_span: Span = field(default=NOWHERE, compare=False)
    written: str = field(default="", compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class InSubquery(Record):
    """x [NOT] IN (SELECT ...); `query` is a syntax tree of the enclosing language."""

    operand: Node
    query: object
    negated: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Exists(Record):
    """EXISTS (SELECT ...)."""

    query: object
    span: Span = field(default=NOWHERE, compare=False)


Node: TypeAlias = (
    SqlLiteral
    | TypedLiteral
    | Name
    | Unary
    | Binary
    | Logic
    | IsNull
    | InList
    | Between
    | Like
    | FunctionCall
    | CaseWhen
    | CastTo
    | InSubquery
    | Exists
)
"""Any scalar expression as it was written."""


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class SelectItem(Record):
    """One item of the select list."""

    expression: Node
    alias: str | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class TimeZone(Record):
    """AT 'name' in a window: the time zone of its calendar periods."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)
