"""The syntax tree of SPARQL: expressions, windows, patterns and the forms of a query."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias

from transom.errors import Span
from transom.languages.sparql.terms import IriName, LiteralTerm, Statement, Variable
from transom.languages.sql.syntax import NOWHERE


@dataclass(frozen=True, slots=True)
class Junction:
    """Operands joined by || or &&."""

    operator: Literal["||", "&&"]
    operands: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """A comparison or arithmetic."""

    operator: str
    left: Expression
    right: Expression
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """!, + or - before an operand."""

    operator: Literal["!", "+", "-"]
    operand: Expression
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Member:
    """operand IN (options)."""

    operand: Expression
    options: tuple[Expression, ...]
    negated: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Builtin:
    """A function of SPARQL itself, by its name in capitals; URI, ISURI are IRI, ISIRI."""

    name: str
    arguments: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class NamedCall:
    """A function by its IRI: a cast, or one that somebody defined."""

    function: IriName
    arguments: tuple[Expression, ...]
    distinct: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT, SUM, ... over the solutions of a group; without an operand it is COUNT(*)."""

    name: str
    operand: Expression | None
    distinct: bool = False
    separator: str | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Exists:
    """EXISTS or NOT EXISTS."""

    group: Group
    negated: bool = False
    span: Span = field(default=NOWHERE, compare=False)


Expression: TypeAlias = (
    Variable | IriName | LiteralTerm | Junction | Binary | Unary | Member | Builtin | NamedCall | Aggregate | Exists
)


class Unit(Enum):
    """The unit of a window's range and slide; where none is written it is MS (R2)."""

    MS = "MS"
    S = "S"
    MINUTE = "MINUTE"
    HOUR = "HOUR"
    DAY = "DAY"
    WEEK = "WEEK"

    @property
    def milliseconds(self) -> int:
        """Its length."""
        seconds = {"S": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86_400, "WEEK": 604_800}
        return 1 if self is Unit.MS else 1000 * seconds[self.value]


@dataclass(frozen=True, slots=True)
class Duration:
    """So many units."""

    count: int
    unit: Unit | None = None
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def milliseconds(self) -> int:
        """Its length."""
        return self.count * (self.unit or Unit.MS).milliseconds


@dataclass(frozen=True, slots=True)
class RangeWindow:
    """WINDOW RANGE width SLIDE slide; without a slide it is one unit of the width (R2)."""

    width: Duration
    slide: Duration | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class FixedWindow:
    """WINDOW RANGE width FIXED: it slides by its width."""

    width: Duration
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ElementWindow:
    """WINDOW ELEMS count."""

    count: int
    span: Span = field(default=NOWHERE, compare=False)
    count_span: Span = field(default=NOWHERE, compare=False)


Window: TypeAlias = RangeWindow | FixedWindow | ElementWindow


@dataclass(frozen=True, slots=True)
class TriplesBlock:
    """Statements one after the other."""

    statements: tuple[Statement, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """FILTER condition."""

    condition: Expression
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Bind:
    """BIND (expression AS variable)."""

    expression: Expression
    variable: Variable
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Values:
    """VALUES (variables) { rows }; None is UNDEF."""

    variables: tuple[Variable, ...]
    rows: tuple[tuple[IriName | LiteralTerm | None, ...], ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Optional:
    """OPTIONAL group."""

    group: Group
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Minus:
    """MINUS group."""

    group: Group
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Union:
    """group UNION group ..."""

    groups: tuple[Group, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Graph:
    """GRAPH name group."""

    name: Variable | IriName
    group: Group
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Service:
    """SERVICE name group."""

    name: Variable | IriName
    group: Group
    silent: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Group:
    """{ elements WINDOW .. }; a subquery is alone in its group."""

    elements: tuple[Element, ...]
    window: Window | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Named:
    """(expression AS variable)."""

    expression: Expression
    variable: Variable
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of ORDER BY."""

    expression: Expression
    descending: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Modifiers:
    """GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET, and the VALUES after them."""

    group_by: tuple[Expression | Named, ...] = ()
    having: tuple[Expression, ...] = ()
    order_by: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int | None = None
    values: Values | None = None


@dataclass(frozen=True, slots=True)
class GraphSource:
    """FROM iri or FROM NAMED iri: a stored graph."""

    name: IriName
    named: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class StreamSource:
    """FROM STREAM iri window or FROM NAMED STREAM iri window."""

    name: IriName
    window: Window
    named: bool = False
    span: Span = field(default=NOWHERE, compare=False)


Source: TypeAlias = GraphSource | StreamSource


@dataclass(frozen=True, slots=True)
class Select:
    """SELECT; no items means `*`. A subquery has no sources of its own."""

    kind: Literal["DISTINCT", "REDUCED"] | None
    items: tuple[Variable | Named, ...]
    sources: tuple[Source, ...]
    where: Group
    modifiers: Modifiers = Modifiers()
    span: Span = field(default=NOWHERE, compare=False)


Element: TypeAlias = TriplesBlock | Filter | Bind | Values | Optional | Minus | Union | Graph | Service | Group | Select
"""What a group holds."""


@dataclass(frozen=True, slots=True)
class Construct:
    """CONSTRUCT; without a template the triples of the pattern are it."""

    template: tuple[Statement, ...] | None
    sources: tuple[Source, ...]
    where: Group
    modifiers: Modifiers = Modifiers()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Describe:
    """DESCRIBE; no items means `*`."""

    items: tuple[Variable | IriName, ...]
    sources: tuple[Source, ...]
    where: Group | None
    modifiers: Modifiers = Modifiers()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Ask:
    """ASK."""

    sources: tuple[Source, ...]
    where: Group
    modifiers: Modifiers = Modifiers()
    span: Span = field(default=NOWHERE, compare=False)


Form: TypeAlias = Select | Construct | Describe | Ask


@dataclass(frozen=True, slots=True)
class Base:
    """BASE <iri>."""

    iri: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Prefix:
    """PREFIX name: <iri>."""

    name: str
    iri: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Query:
    """Any SPARQL query."""

    prologue: tuple[Base | Prefix, ...]
    form: Form
    span: Span = field(default=NOWHERE, compare=False)
