"""Random syntax trees of CQL, the same ones for the same seed."""

from __future__ import annotations

from decimal import Decimal

from transom.languages.cql.syntax import (
    Convert,
    Converter,
    Domain,
    FirstClause,
    Join,
    Quantity,
    Query,
    RangeClause,
    RegionName,
    RowQuantity,
    Select,
    SetOperation,
    SetOperator,
    SlideClause,
    Source,
    Table,
    WindowClause,
)
from transom.languages.sql.syntax import Exists, InSubquery, Name, Node

from .syntax_trees import OFFSETS, Scalars

AMOUNTS = ("0", "1", "10", "60", "1.5", "0.001", "2.50", "999999999999999999")
UNITS = ("seconds", "minute", "h", "km", "kms", "m", "in", "space", "nonsense", "u_1", "select")
KEYWORDS = (
    "distinct",
    "exists",
    "Range",
    "rows",
    "row",
    "slide",
    "now",
    "unbounded",
    "partition",
    "union",
    "left",
    "first",
    "per",
)


class CqlTrees(Scalars):
    """A source of random queries of CQL."""

    def name(self) -> str:
        """A name, at times a keyword of windows."""
        return self.rng.choice(KEYWORDS) if self.chance(0.1) else super().name()

    def query(self, room: int = 4) -> Query:
        """Any query."""
        if room > 1 and self.chance(0.15):
            return Convert(self.rng.choice(list(Converter)), self.query(room - 1))
        if room > 1 and self.chance(0.2):
            kind = self.rng.choice(list(SetOperator))
            return SetOperation(kind, self.chance(0.5), self.query(room - 1), self.query(room - 1))
        return self.select(room)

    def select(self, room: int) -> Select:
        """SELECT with any of its clauses."""
        return Select(
            tuple(self.item(room) for _ in range(self.rng.choice((0, 1, 1, 2, 3)))),
            tuple(self.table(room) for _ in range(self.rng.choice((1, 1, 1, 2, 3)))),
            self.expression(room) if self.chance(0.5) else None,
            tuple(self.expression(room - 1) for _ in range(self.rng.choice((0, 0, 0, 1, 2)))),
            self.expression(room - 1) if self.chance(0.2) else None,
            self.first(room) if self.chance(0.2) else None,
            self.chance(0.2),
            self.rng.choice((None, None, *Converter)),
        )

    def first(self, room: int) -> FirstClause:
        """FIRST with or without groups."""
        per = tuple(self.expression(room - 1) for _ in range(self.rng.choice((0, 0, 1, 2))))
        return FirstClause(self.rng.choice(OFFSETS), self.expression(room - 1), per)

    def table(self, room: int) -> Table:
        """A source, or several that are joined."""
        if room > 1 and self.chance(0.25):
            return Join(self.table(room - 1), self.source(room - 1), self.expression(room - 1), self.chance(0.5))
        return self.source(room)

    def source(self, room: int) -> Source:
        """An extent or a subquery, with any window and alias."""
        nested = room > 1 and self.chance(0.3)
        window = None if self.chance(0.3) else self.window()
        return Source(
            self.query(room - 1) if nested else self.name(), self.name() if self.chance(0.3) else None, window
        )

    def window(self) -> WindowClause:
        """A window of any kind."""
        keys = tuple(self.leaf_name() for _ in range(self.rng.choice((0, 0, 1, 2))))
        reaches = tuple(self.reach() for _ in range(self.rng.choice((0, 1, 1, 1, 2))))
        if not reaches and self.chance(0.5):
            return WindowClause(keys, now=True)
        return WindowClause(keys, reaches, self.slide() if self.chance(0.5) else None)

    def leaf_name(self) -> Name:
        """The name of a key."""
        return Name(self.name() if self.chance(0.3) else None, self.name())

    def reach(self) -> RangeClause:
        """A range by time, by distance, by region or by rows."""
        if self.chance(0.25):
            return RangeClause(RowQuantity(self.rng.choice(OFFSETS)))
        return RangeClause(RegionName(self.name()) if self.chance(0.3) else self.quantity(), self.domain())

    def slide(self) -> SlideClause:
        """A slide by time, by distance or by rows."""
        if self.chance(0.3):
            return SlideClause(RowQuantity(self.rng.choice(OFFSETS)))
        return SlideClause(self.quantity(), self.domain())

    def quantity(self) -> Quantity:
        """A number and a unit."""
        return Quantity(Decimal(self.rng.choice(AMOUNTS)), self.rng.choice(UNITS))

    def domain(self) -> Domain | None:
        """SPACE, TIME or none."""
        return self.rng.choice((None, *Domain))

    def test(self, room: int) -> Node:
        """A test of SQL, or one that asks a subquery."""
        if room > 1 and self.chance(0.3):
            if self.chance(0.5):
                return Exists(self.query(room - 2))
            return InSubquery(self.expression(room - 1), self.query(room - 2), self.chance(0.5))
        return super().test(room)
