"""What the functions that arrange one family of operators ask of the planner, which calls them."""

from __future__ import annotations

from typing import Protocol

from transom.algebra.operator import Stream, Windows
from transom.physical.choices import Span
from transom.physical.node import Clock, Physical
from transom.physical.schedule import Schedule


class Planning(Protocol):
    """The planner of queries."""

    @property
    def start(self) -> int:
        """The tick at which the query starts."""

    @property
    def span(self) -> Span:
        """The event time that may be open at once."""

    @property
    def kernel(self) -> bool:
        """Whether machines run in the JVM."""

    @property
    def growing(self) -> frozenset[str]:
        """The tables whose logs are followed."""

    @property
    def local(self) -> frozenset[str]:
        """The streams whose messages hold all statements about their subjects."""

    @property
    def streams(self) -> bool:
        """Whether an answer can change with time."""

    def windows(self, op: Windows, ordered: bool = False, last: bool = False) -> Physical:
        """A relation, in the form that it takes by itself."""

    def spread(self, op: Windows, rows: Physical) -> Physical:
        """One row per window."""

    def exist(self, op: Windows, rows: Physical) -> Physical:
        """Windows with a row each that says they exist."""

    def clock(self, op: Windows, why: str) -> Clock:
        """The ticks at which a relation has windows."""

    def unordered(self, op: Stream) -> Physical:
        """A stream of rows with their ticks."""

    def in_order(self, op: Stream, *, index: bool) -> Physical:
        """A stream of which rows say what puts them in order, and perhaps their index."""

    def schedule(self, op: Windows) -> Schedule | None:
        """When the windows of a relation come, where that follows from the query alone."""
