"""The syntax tree of SPARQL: expressions, windows, patterns and the forms of a query."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias

from transom.errors import Span
from transom.languages.sparql.terms import IriName, LiteralTerm, TriplesSameSubject, Variable
from transom.languages.sql.syntax import NOWHERE


@dataclass(frozen=True, slots=True)
class Logic:
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
class InList:
    """operand IN (options)."""

    operand: Expression
    options: tuple[Expression, ...]
    negated: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class BuiltinCall:
    """A built-in function by its name in capitals; URI and ISURI are stored as IRI and ISIRI."""

    name: str
    arguments: tuple[Expression, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class IriCall:
    """A function called by its IRI: a cast or an extension function."""

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

    group: GroupPattern
    negated: bool = False
    span: Span = field(default=NOWHERE, compare=False)


Expression: TypeAlias = (
    Variable | IriName | LiteralTerm | Logic | Binary | Unary | InList | BuiltinCall | IriCall | Aggregate | Exists
)


class TimeUnit(Enum):
    """The unit of a window's range and slide; MS if none is written (R2)."""

    MS = "MS"
    S = "S"
    MINUTE = "MINUTE"
    HOUR = "HOUR"
    DAY = "DAY"
    WEEK = "WEEK"

    @property
    def milliseconds(self) -> int:
        """The length of the unit in milliseconds."""
        seconds = {"S": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86_400, "WEEK": 604_800}
        return 1 if self is TimeUnit.MS else 1000 * seconds[self.value]


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time: a count and its unit."""

    count: int
    unit: TimeUnit | None = None
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def milliseconds(self) -> int:
        """The length of the duration in milliseconds; a missing unit means milliseconds."""
        return self.count * (self.unit or TimeUnit.MS).milliseconds


@dataclass(frozen=True, slots=True)
class RangeWindow:
    """WINDOW RANGE width SLIDE slide; the default slide is one unit of the width (R2)."""

    width: Duration
    slide: Duration | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class FixedWindow:
    """WINDOW RANGE width FIXED: the slide is the width."""

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
    """A block of consecutive triples, by subject."""

    statements: tuple[TriplesSameSubject, ...]
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

    group: GroupPattern
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Minus:
    """MINUS group."""

    group: GroupPattern
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Union:
    """group UNION group ..."""

    groups: tuple[GroupPattern, ...]
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class GraphPattern:
    """GRAPH name group."""

    name: Variable | IriName
    group: GroupPattern
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Service:
    """SERVICE name group."""

    name: Variable | IriName
    group: GroupPattern
    silent: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class GroupPattern:
    """{ elements WINDOW .. }; a subquery is the only element of its group."""

    elements: tuple[Element, ...]
    window: Window | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class AliasedExpression:
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

    group_by: tuple[Expression | AliasedExpression, ...] = ()
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
    """SELECT; no items means `*`. The sources of a subquery are empty."""

    kind: Literal["DISTINCT", "REDUCED"] | None
    items: tuple[Variable | AliasedExpression, ...]
    sources: tuple[Source, ...]
    where: GroupPattern
    modifiers: Modifiers = Modifiers()
    span: Span = field(default=NOWHERE, compare=False)


Element: TypeAlias = (
    TriplesBlock | Filter | Bind | Values | Optional | Minus | Union | GraphPattern | Service | GroupPattern | Select
)
"""An element of a group pattern."""


@dataclass(frozen=True, slots=True)
class Construct:
    """CONSTRUCT; if the template is None, the triples of the pattern are the template."""

    template: tuple[TriplesSameSubject, ...] | None
    sources: tuple[Source, ...]
    where: GroupPattern
    modifiers: Modifiers = Modifiers()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Describe:
    """DESCRIBE; no items means `*`."""

    items: tuple[Variable | IriName, ...]
    sources: tuple[Source, ...]
    where: GroupPattern | None
    modifiers: Modifiers = Modifiers()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Ask:
    """ASK."""

    sources: tuple[Source, ...]
    where: GroupPattern
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
class SparqlQuery:
    """Any SPARQL query."""

    prologue: tuple[Base | Prefix, ...]
    form: Form
    span: Span = field(default=NOWHERE, compare=False)
