"""The syntax tree of CQL with spatial windows."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import TypeAlias

from transom.errors import Span
from transom.languages.sql.syntax import NOWHERE, Name, Node, SelectItem


class Converter(Enum):
    """What makes a stream from a relation."""

    RSTREAM = "RStream"
    ISTREAM = "IStream"
    DSTREAM = "DStream"


class Domain(Enum):
    """What a range or a slide is measured in."""

    SPACE = "SPACE"
    TIME = "TIME"


class Combination(Enum):
    """What makes one relation of two with the same columns."""

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
class Rows:
    """So many rows."""

    count: int
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Place:
    """A region by its name."""

    name: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Reach:
    """RANGE value, RANGE BY value RATTR domain, or ROWS n; without a domain the unit tells it."""

    value: Quantity | Place | Rows
    domain: Domain | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Slide:
    """SLIDE value, SLIDE BY value SATTR domain, or SLIDE n ROWS."""

    value: Quantity | Rows
    domain: Domain | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Window:
    """[PARTITION BY keys reaches, slide]; no reach means UNBOUNDED, and `now` stands for NOW."""

    partition: tuple[Name, ...] = ()
    reaches: tuple[Reach, ...] = ()
    slide: Slide | None = None
    now: bool = False
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Source:
    """An extent or a subquery, an alias and a window where there is one."""

    input: str | Query
    alias: str | None = None
    window: Window | None = None
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
class First:
    """FIRST n [PER expressions] BY expression: the rows with the smallest values, of each group."""

    count: int
    by: Node
    per: tuple[Node, ...] = ()
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """SELECT .. FROM .. WHERE .. GROUP BY .. HAVING .. FIRST; no items means `*`.

    `converter` stands around the select list; `starts` is where each clause begins.
    """

    items: tuple[SelectItem, ...]
    tables: tuple[Table, ...]
    where: Node | None = None
    group_by: tuple[Node, ...] = ()
    having: Node | None = None
    first: First | None = None
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
class Combine:
    """left UNION, EXCEPT or INTERSECT [ALL] right."""

    combination: Combination
    every: bool
    left: Query
    right: Query
    span: Span = field(default=NOWHERE, compare=False)
    word_span: Span = field(default=NOWHERE, compare=False)


Query: TypeAlias = Select | Convert | Combine
"""Any CQL query."""
