"""The settings of one run of a query, as the command line or a project file has them: times are still texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from transom.errors import UsageError
from transom.model.run_time import TimeLike, parse_time

if TYPE_CHECKING:
    from transom.physical.nodes.windows import KernelMode
    from transom.query import Query
    from transom.runtime.beginning import Beginning
    from transom.runtime.options import OnDataLoss, RunOptions


@dataclass(frozen=True)
class RunSettings:
    """How a query runs: its sink, its times and its other options; `prefix` begins their names in messages.

    `start` and `since` may be `now`. A run that resumes then keeps the tick that its checkpoint records.
    """

    sink: str = "console"
    start: TimeLike | None = None
    until: TimeLike | None = None
    since: TimeLike | None = None
    after: Path | None = None
    on_change: Literal["refuse", "rebuild"] = "refuse"
    on_data_loss: OnDataLoss = "refuse"
    kernel: KernelMode = "auto"
    index: bool = False
    approximate_sums: bool = False
    allow_unbounded: bool = False
    once: bool = False
    prefix: str = ""

    def over(self, declared: RunSettings) -> RunSettings:
        """Return these settings, with those of a project file (`declared`) where these have their default."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        chosen = {
            field.name: getattr(declared, field.name) for field in fields(self) if values[field.name] == field.default
        }
        return replace(self, **chosen)

    def options(self, query: Query[Any], checkpoint: Path) -> RunOptions:
        """Return the RunOptions of a query with this checkpoint; raise UsageError if a setting does not fit it."""
        from transom.runtime.options import RunOptions

        refuse_options(query, {"--index": self.index, "--approximate-sums": self.approximate_sums})
        return RunOptions(
            start=self._start(query, checkpoint),
            until=self._tick("until", query),
            index=self.index,
            approximate_sums=self.approximate_sums,
            kernel=self.kernel,
            sink=self.sink,
            checkpoint=checkpoint.absolute(),
            once=self.once,
            allow_unbounded=self.allow_unbounded,
            on_data_loss=self.on_data_loss,
        )

    def beginning(self, query: Query[Any], checkpoint: Path) -> Beginning:
        """Return where the answers of a query with this checkpoint begin."""
        from transom.runtime.beginning import Beginning, recorded_beginning

        recorded = recorded_beginning(checkpoint) if self.since == "now" else None
        tick = self._tick("since", query) if recorded is None else recorded[1]
        return Beginning(tick, None if self.after is None else self.after.absolute(), self.on_change)

    def _start(self, query: Query[Any], checkpoint: Path) -> int:
        """Return the first tick of the rows: for `now` the one that the checkpoint records, by default 0."""
        from transom.runtime.checkpoint.remembered import recorded_start

        recorded = recorded_start(checkpoint) if self.start == "now" else None
        return recorded if recorded is not None else self._tick("start", query) or 0

    def _tick(self, name: Literal["start", "until", "since"], query: Query[Any]) -> int | None:
        """Convert the time called `name` to a tick; None if it is not set."""
        value: TimeLike | None = getattr(self, name)
        return None if value is None else parse_time(value, f"{self.prefix}{name}", query.catalog.calendar)


def refuse_options(query: Query[Any], options: Mapping[str, bool]) -> None:
    """Raise UsageError if an option that is requested (True) is not supported for the query's language."""
    for option, requested in options.items():
        reason = query.semantics.refused.get(option)
        if requested and reason is not None:
            raise UsageError(f"{option} is not for SPARQL", detail=reason, hint=f"leave out {option}")
