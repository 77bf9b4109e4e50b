"""The syntax tree of scalar expressions. Spans say where in the text a node stands; they do not count for equality."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from transom.errors import Span

NOWHERE = Span(0, 0)


@dataclass(frozen=True, slots=True)
class Constant:
    """A number without sign, a string, TRUE, FALSE or NULL."""

    value: int | float | str | bool | None
    span: Span = field(default=NOWHERE, compare=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class TypedConstant:
    """A constant of a named type, such as TIME '2009-03-01T12:00:00Z'."""

    kind: str
    text: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Name:
    """The name of an attribute, qualified or not."""

    qualifier: str | None
    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """-x, +x or NOT x."""

    operator: str
    operand: Node
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """Arithmetic, concatenation or a comparison."""

    operator: str
    left: Node
    right: Node
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Logic:
    """Conditions joined by AND, or by OR."""

    operator: str
    operands: tuple[Node, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class IsNull:
    """x IS [NOT] NULL."""

    operand: Node
    negated: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class InList:
    """x [NOT] IN (a, b, ...)."""

    operand: Node
    options: tuple[Node, ...]
    negated: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Between:
    """x [NOT] BETWEEN low AND high."""

    operand: Node
    low: Node
    high: Node
    negated: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Like:
    """x [NOT] LIKE pattern."""

    operand: Node
    pattern: Node
    negated: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Function:
    """A function or an aggregate; with `star` it is written f(*)."""

    name: str
    arguments: tuple[Node, ...]
    star: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CaseWhen:
    """CASE [subject] WHEN a THEN b ... [ELSE c] END."""

    subject: Node | None
    branches: tuple[tuple[Node, Node], ...]
    otherwise: Node | None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class CastTo:
    """CAST(x AS type)."""

    operand: Node
    kind: str
    span: Span = field(default=NOWHERE, compare=False)
    kind_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class InQuery:
    """x [NOT] IN (SELECT ...); the query is of the language that the expression stands in."""

    operand: Node
    query: object
    negated: bool
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Exists:
    """EXISTS (SELECT ...)."""

    query: object
    span: Span = field(default=NOWHERE, compare=False)


Node: TypeAlias = (
    Constant
    | TypedConstant
    | Name
    | Unary
    | Binary
    | Logic
    | IsNull
    | InList
    | Between
    | Like
    | Function
    | CaseWhen
    | CastTo
    | InQuery
    | Exists
)
"""Any scalar expression as it was written."""


@dataclass(frozen=True, slots=True)
class SelectItem:
    """One item of the select list."""

    expression: Node
    alias: str | None = None
    span: Span = field(default=NOWHERE, compare=False)
