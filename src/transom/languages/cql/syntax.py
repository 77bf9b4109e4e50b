"""The syntax tree of CQL with spatial windows."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import TypeAlias

from transom.errors import Span
from transom.languages.sql.syntax import NOWHERE, Name, Node, SelectItem, TimeZone


class Converter(Enum):
    """A relation-to-stream operator."""

    RSTREAM = "RStream"
    ISTREAM = "IStream"
    DSTREAM = "DStream"


class Domain(Enum):
    """What a range or a slide is measured in."""

    SPACE = "SPACE"
    TIME = "TIME"


class SetOperator(Enum):
    """A set operation on two relations with the same columns."""

    UNION = "UNION"
    EXCEPT = "EXCEPT"
    INTERSECT = "INTERSECT"


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and its unit, such as '60 minutes' or '50 km'; the unit is in lower case."""

    amount: Decimal
    unit: str
    span: Span = field(default=NOWHERE, compare=False)
    unit_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class RowQuantity:
    """A number of rows."""

    count: int
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class RegionName:
    """The name of a region."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class RangeClause:
    """RANGE value, RANGE BY value RATTR domain, or ROWS n; without a domain the unit decides."""

    value: Quantity | RegionName | RowQuantity
    domain: Domain | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class SlideClause:
    """SLIDE value, SLIDE BY value SATTR domain, or SLIDE n ROWS."""

    value: Quantity | RowQuantity
    domain: Domain | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class WindowClause:
    """[PARTITION BY keys ranges, slide AT zone]; no ranges means NOW if `now` is set, otherwise UNBOUNDED."""

    partition: tuple[Name, ...] = ()
    ranges: tuple[RangeClause, ...] = ()
    slide: SlideClause | None = None
    now: bool = False
    span: Span = field(default=NOWHERE, compare=False)
    zone: TimeZone | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A FROM source: an extent or a subquery, with an optional alias and window."""

    input: str | Query
    alias: str | None = None
    window: WindowClause | None = None
    span: Span = field(default=NOWHERE, compare=False)
    input_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Join:
    """left [LEFT] JOIN right ON condition."""

    left: Table
    right: Source
    on: Node
    outer: bool = False
    span: Span = field(default=NOWHERE, compare=False)


Table: TypeAlias = Source | Join
"""One item of FROM."""


@dataclass(frozen=True, slots=True)
class FirstClause:
    """FIRST n [PER expressions] BY expression: the n rows with the smallest values, in each group."""

    count: int
    by: Node
    per: tuple[Node, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. FIRST; no items means `*`.

    `converter` is written around the select list; `starts` are the offsets at which the clauses begin.
    """

    items: tuple[SelectItem, ...]
    tables: tuple[Table, ...]
    where: Node | None = None
    group_by: tuple[Node, ...] = ()
    having: Node | None = None
    first: FirstClause | None = None
    distinct: bool = False
    converter: Converter | None = None
    span: Span = field(default=NOWHERE, compare=False)
    starts: tuple[int, ...] = field(default=(), compare=False)
    star_span: Span = field(default=NOWHERE, compare=False)
    head_span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Convert:
    """RStream(q), IStream(q) or DStream(q)."""

    converter: Converter
    query: Query
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class SetOperation:
    """left UNION, EXCEPT or INTERSECT [ALL] right."""

    combination: SetOperator
    every: bool
    left: Query
    right: Query
    span: Span = field(default=NOWHERE, compare=False)
    word_span: Span = field(default=NOWHERE, compare=False)


Query: TypeAlias = Select | Convert | SetOperation
"""Any CQL query."""
