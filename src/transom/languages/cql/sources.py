"""The sources of a CQL query: extents and subqueries, their windows and their joins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from transom.algebra.cql_windows import stored
from transom.algebra.expressions import TRUE, Expression
from transom.algebra.operator import Stream, Windows
from transom.algebra.relations import JoinType, RelationJoin
from transom.algebra.sources import StoredTable
from transom.algebra.tree import is_stream
from transom.algebra.windows import Arrival, Between, Coordinate, Every, Everything, Inside, Window
from transom.errors import LanguageRule
from transom.languages.cql.scope import Located
from transom.languages.cql.syntax import Source
from transom.languages.cql.windows import Frame
from transom.languages.sql.select import Remark
from transom.languages.sql.wording import overlapping
from transom.model.schema import Attribute

A_WINDOW = "write [NOW], [ROWS 10], [RANGE '5 minutes'] or [UNBOUNDED] behind it"


@dataclass(slots=True)
class Item:
    """One source of FROM on its way: what it is, how it is seen, and the keys of its window."""

    source: Source
    input: Stream | StoredTable | Windows
    visible: Located
    frame: Frame
    keys: tuple[Attribute, ...] = ()

    def check(self) -> None:
        """A stream has a window; a relation has none."""
        window = self.source.window
        if isinstance(self.input, StoredTable) or not is_stream(self.input):
            if window is not None:
                raise LanguageRule(
                    "a window on a relation", span=window.span, hint="windows are for streams; leave it out"
                )
            return
        if window is None:
            raise LanguageRule("a stream without a window", span=self.source.span, hint=A_WINDOW)
        self.keys = tuple(self.key(place) for place in range(len(window.partition)))
        if len(set(self.keys)) < len(self.keys):
            raise LanguageRule("a key that stands twice", span=window.span, hint="leave one of them out")
        self.visible.span = self.frame.span(window)
        _ = self.plan()

    def key(self, place: int) -> Attribute:
        """An attribute of PARTITION BY."""
        window = self.source.window
        assert window is not None  # noqa: S101 - check() asked
        name = window.partition[place]
        found = self.input.schema.find(name.qualifier, name.name)
        if len(found) != 1:
            labels = ", ".join(attribute.name for attribute in self.input.schema)
            raise LanguageRule(
                f"PARTITION BY needs one attribute {name.name}", span=name.span, hint=f"there is {labels}"
            )
        return found[0]

    def plan(self) -> Windows:
        """The relation that this source is."""
        if isinstance(self.input, StoredTable):
            return stored(self.input)
        window = self.source.window
        if window is None:
            relation: Windows = self.input  # type: ignore[assignment]
            return relation
        stream: Stream = self.input  # type: ignore[assignment]
        forget = self.frame.forget_after if self.keys else None
        return replace(self.frame.window(window, stream, self.keys), tags=tuple(self.visible.used), forget_after=forget)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The columns that its relation has."""
        return (*self.visible.schema, *self.visible.used)

    def remarks(self) -> Iterator[Remark]:
        """What is legal in a window and probably not meant."""
        plan, window = self.plan(), self.source.window
        if not isinstance(plan, Window) or window is None:
            return
        if isinstance(plan.range, Inside):
            message = "what came into the region stays in its window; a range of time beside it bounds it"
            yield Remark(message, window.span)  # C23
        if isinstance(plan.range, Between) and isinstance(plan.slide, Every):
            same = plan.range.coordinate is plan.slide.coordinate
            if same and plan.slide.step > 1 - plan.range.low.offset > 1:
                yield Remark("rows between two windows are in none of them", window.span)
            by_time = plan.slide.coordinate is Coordinate.TICK and window.slide is not None
            if same and by_time and plan.slide.step == -plan.range.low.offset:
                yield Remark(overlapping(self.frame.apart(plan.slide.step)), window.span)
        if plan.by_distance and not plan.key and self.frame.several:
            message = f"distances are measured from row to row of {self.frame.name}, across all objects"
            hint = "declare its `object` in the catalog and write PARTITION BY, or declare keys: 1"
            yield Remark(f"{message}; {hint}", window.span)  # C31

    @property
    def only_grows(self) -> bool:
        """Whether it is a window that rows never leave, so that RStream speaks only when one was added (C5)."""
        plan = self.plan()
        return (
            isinstance(plan, Window) and isinstance(plan.slide, Arrival) and isinstance(plan.range, Inside | Everything)
        )


@dataclass(slots=True)
class Joined:
    """Two items of FROM, joined on a condition."""

    left: From
    right: Item
    on: Expression
    outer: bool


From: TypeAlias = Item | Joined
"""One item of FROM, joins included."""


def items_of(table: From) -> Iterator[Item]:
    """The sources of an item of FROM, in their order."""
    match table:
        case Item():
            yield table
        case Joined(left=left, right=right):
            yield from items_of(left)
            yield right
        case _:
            assert_never(table)


def relation(table: From) -> Windows:
    """The relation that an item of FROM is."""
    match table:
        case Item():
            return table.plan()
        case Joined(left=left, right=right, on=on, outer=outer):
            join_type = JoinType.LEFT if outer else JoinType.INNER
            return RelationJoin(relation(left), right.plan(), on, join_type)
        case _:
            assert_never(table)


def product(tables: list[From]) -> Windows:
    """The relation of a whole FROM clause, folded to the left (C16)."""
    plan = relation(tables[0])
    for table in tables[1:]:
        plan = RelationJoin(plan, relation(table), TRUE)
    return plan
