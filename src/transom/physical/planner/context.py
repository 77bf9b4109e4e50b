"""The planner's interface for the modules that plan one family of operators each."""

from __future__ import annotations

from typing import Protocol

from transom.algebra.operator import Stream, Windows
from transom.physical.decisions import EventTimeSlack
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.schedule import Schedule


class Planning(Protocol):
    """The settings and methods of the planner that the modules for families of operators use."""

    @property
    def start(self) -> int:
        """The tick at which the query starts."""

    @property
    def slack(self) -> EventTimeSlack:
        """How many ticks may be open at once (lateness plus one micro-batch); every state bound covers these ticks."""

    @property
    def kernel(self) -> bool:
        """Whether machines run in the Java kernel instead of Python."""

    @property
    def growing(self) -> frozenset[str]:
        """Names of the tables that change while the query runs, which therefore follows their logs."""

    @property
    def local(self) -> frozenset[str]:
        """Names of the RDF streams in which one message holds all statements about each of its subjects."""

    @property
    def streams(self) -> bool:
        """Whether the query reads streams, so that its answer changes with time."""

    def plan_windows(self, op: Windows, ordered: bool = False, stateless_above: bool = False) -> PhysicalNode:
        """Plan a relation; `ordered`: rows carry their order; `stateless_above`: no operator above it keeps state."""

    def expand(self, op: Windows, rows: PhysicalNode) -> PhysicalNode:
        """Expand the planned `rows` of the relation `op` to one row per tuple and window that holds it."""

    def with_markers(self, op: Windows, rows: PhysicalNode) -> PhysicalNode:
        """Expand the planned `rows` of the relation `op` to its windows, each with a marker row, even when empty."""

    def clock(self, op: Windows, why: str) -> ReadClock:
        """A clock source with the ticks at which the relation `op` has windows; `explain` shows the reason `why`."""

    def unordered(self, op: Stream) -> PhysicalNode:
        """Plan a stream whose rows carry their tick, but not their order within it."""

    def in_order(self, op: Stream, *, index: bool) -> PhysicalNode:
        """Plan a stream whose rows carry their order and, if `index` is true, their number in the stream, from 1."""

    def schedule(self, op: Windows) -> Schedule | None:
        """The ticks at which a relation has windows; None if they depend on the data."""
