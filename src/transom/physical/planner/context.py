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
        """The event time, in ticks, that the watermark may leave open: the lateness plus the span of a micro-batch.

        Every state bound covers these ticks.
        """

    @property
    def kernel(self) -> bool:
        """Whether stateful machines run in the Java kernel instead of in Python."""

    @property
    def growing(self) -> frozenset[str]:
        """Names of the tables that change while the query runs; the query reads their changelogs."""

    @property
    def local(self) -> frozenset[str]:
        """Names of the RDF streams in which one message holds all statements about each of its subjects."""

    @property
    def streams(self) -> bool:
        """Whether the query reads streams, so that its answer changes with time."""

    def plan_windows(self, op: Windows, ordered: bool = False, stateless_above: bool = False) -> PhysicalNode:
        """Plan an operator that returns windows; `ordered`: rows get a sort key; `stateless_above`: no state above it.

        With `ordered`, rows have a sort-key column. With `stateless_above`, no operator above keeps state.
        """

    def expand(self, op: Windows, rows: PhysicalNode) -> PhysicalNode:
        """Plan to repeat each row of `rows`, the plan of the relation `op`, in every window that holds it."""

    def with_markers(self, op: Windows, rows: PhysicalNode) -> PhysicalNode:
        """Plan a copy of each row of `op` (planned as `rows`) in each of its windows, plus a marker row per window.

        `rows` is the plan of the relation.
        """

    def clock(self, op: Windows, why: str) -> ReadClock:
        """Plan a clock that emits the ticks at which the relation `op` has windows; `explain` prints `why`."""

    def unordered(self, op: Stream) -> PhysicalNode:
        """Plan a stream whose rows have their tick, but no column that sorts the rows of one tick."""

    def in_order(self, op: Stream, *, index: bool) -> PhysicalNode:
        """Plan a stream with a sort key for the rows of a tick and, with `index`, the rows' numbers from 1 on."""

    def schedule(self, op: Windows) -> Schedule | None:
        """Return the Schedule of the ticks at which `op` has windows; None if these ticks depend on the data."""
