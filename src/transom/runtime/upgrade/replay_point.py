"""How far back a new run must read so that it answers the ticks that the run of a checkpoint has not answered."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from transom.algebra.operator import Operator
from transom.algebra.state.reach import reach
from transom.model.time import Calendar
from transom.runtime.checkpoint.checkpoint import SPARK_FOLDER
from transom.runtime.checkpoint.logs.spark_files import LocalFolder
from transom.runtime.checkpoint.logs.spark_logs import answered_watermark
from transom.spark.event_time import TickTime

if TYPE_CHECKING:
    from transom.runtime.job import Job


@dataclass(frozen=True)
class ReplayPoint:
    """The tick from which a new run must read rows, and what determines it.

    `answered_until` is the last tick that the checkpoint's run has answered, None if it is unknown. `reach` is the
    number of earlier ticks whose rows matter for later answers, None if there is no bound; `why_unbounded` says why.
    """

    answered_until: int | None
    reach: int | None
    why_unbounded: str = ""
    calendar: Calendar | None = None

    @property
    def first_tick(self) -> int | None:
        """The first tick whose rows the new run needs; None if it is unknown."""
        if self.answered_until is None or self.reach is None:
            return None
        return max(0, self.answered_until + 1 - self.reach)

    def lines(self) -> list[str]:
        """Describe in sentences the last tick whose answers exist, and which rows the new query needs."""
        lines = []
        if self.answered_until is not None:
            lines.append(f"the checkpoint's run has answered up to {self._time(self.answered_until)}")
        if self.reach is None:
            lines.append(f"the new query needs all rows: {self.why_unbounded}")
        elif self.first_tick is None:
            lines.append(f"the new query needs the rows of {_ticks(self.reach)} before its first answer")
        else:
            lines.append(
                f"to answer the ticks after it, the new query needs the rows from {self._time(self.first_tick)} on "
                f"({_ticks(self.reach)} before)"
            )
        return lines

    def _time(self, tick: int) -> str:
        """Return a tick as text, with its instant if the catalog declares an epoch."""
        if self.calendar is None or not self.calendar.has_epoch:
            return f"tick {tick}"
        return f"tick {tick} ({self.calendar.instant_of(tick):%Y-%m-%d %H:%M:%S} UTC)"


def replay_point(plan: Operator, job: Job) -> ReplayPoint:
    """Return from which tick a new run of a plan must read, after the run of the checkpoint that `job` names."""
    needed = reach(plan, [extent.name for extent in job.sources if extent.grows])
    return ReplayPoint(answered_until(job), needed.ticks, needed.why, job.catalog.calendar)


def answered_until(job: Job) -> int | None:
    """Return the last tick whose answers a checkpoint's run has completed; None if there is none, or if unknown.

    It is unknown for a checkpoint on another file system, and for a query without a watermark.
    """
    folder: Path = job.options.folder / SPARK_FOLDER
    watermark = answered_watermark(LocalFolder(folder))
    if not watermark:
        return None
    tick = TickTime(job.catalog.calendar).last_closed_tick(watermark)
    return tick if job.options.until is None else min(tick, job.options.until)


def _ticks(count: int) -> str:
    """Format a number of ticks, such as `1 tick` or `2,000 ticks`."""
    return "1 tick" if count == 1 else f"{count:,} ticks"
