"""Row counts since the first start of a checkpoint, kept by micro-batch.

The counts of a micro-batch are written before Spark commits it, and a repeated micro-batch replaces its own counts. So
each row counts once, however often the run is killed. Sinks of Spark's own are the exception: their counts come from
progress reports, after the commit, so a kill may leave a committed micro-batch without counts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from transom.errors import CheckpointError, LostRows
from transom.model.balance import Balance

BALANCE_FILE = "balance.json"
LAST_BATCHES = 16
"""Micro-batches whose counts are kept apart; a repair by hand takes back two at most."""

WriteText = Callable[[Path, str], None]


@dataclass(frozen=True)
class RowTotals:
    """Row counts of some micro-batches: rows read, used, late and rejected by source, and rows out.

    `offsets` counts, by extent, the offsets of its topic that the micro-batches passed: one per message, transaction
    marker, aborted message and message that the broker deleted.
    """

    batches: int = 0
    sources: Mapping[str, Balance] = field(default_factory=dict)
    rows_out: int = 0
    offsets: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: RowTotals) -> RowTotals:
        """Add the counts of other micro-batches."""
        names = {**self.sources, **other.sources}
        return RowTotals(
            self.batches + other.batches,
            {name: self.sources.get(name, Balance()) + other.sources.get(name, Balance()) for name in names},
            self.rows_out + other.rows_out,
            dict(Counter(self.offsets) + Counter(other.offsets)),
        )

    def unread(self, source: str) -> int:
        """The number of offsets of a source's Kafka topic that gave no row; 0 for other sources."""
        return (
            self.offsets.get(source, self.sources.get(source, Balance()).read)
            - self.sources.get(source, Balance()).read
        )

    def lost_rows(self, period: str) -> LostRows | None:
        """Return LostRows if a source's row counts do not add up, else None; its text names the `period`."""
        for name, balance in self.sources.items():
            if balance.missing:
                return LostRows(
                    f"the rows of {name} {period} do not add up: {balance}",
                    detail=f"rows missing: {balance.missing:,}",
                    hint=LOST_ROWS_HINT,
                )
            if self.unread(name) < 0:
                return LostRows(
                    f"the rows of {name} {period} do not add up: {balance.read:,} read from "
                    f"{self.offsets[name]:,} offsets",
                    detail=f"rows read twice: {-self.unread(name):,}",
                    hint=LOST_ROWS_HINT,
                )
        return None

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return asdict(self)

    @staticmethod
    def from_json(entries: Mapping[str, Any]) -> RowTotals:
        """Read counts from their JSON values."""
        sources = {name: Balance(**balance) for name, balance in entries["sources"].items()}
        return RowTotals(entries["batches"], sources, entries["rows_out"], dict(entries["offsets"]))


LOST_ROWS_HINT = "this is a fault of Transom: report it, and start with a new checkpoint"


class BalanceRecord:
    """The counts of a checkpoint's micro-batches: each of the last ones, and the sum of those before."""

    def __init__(self, folder: Path, write: WriteText, committed: int) -> None:
        """Load a checkpoint's counts up to micro-batch `committed` (-1: none); later ones are written with `write`.

        LostRows if they do not add up. A micro-batch after `committed` is repeated, so its counts are dropped.
        """
        self.file = folder / BALANCE_FILE
        self._write = write
        self.first = committed + 1
        """The first micro-batch that is counted; later than 0 if an earlier version began the checkpoint."""
        self._before = RowTotals()
        self._batches: dict[int, RowTotals] = {}
        self._load()
        self._batches = {batch: counts for batch, counts in self._batches.items() if batch <= committed}
        self.earlier = sum(self._batches.values(), self._before)
        """The counts of the micro-batches before this start."""
        self.uncounted = max(0, committed + 1 - self.first - self.earlier.batches)
        """The number of committed micro-batches without counts."""
        lost = self.earlier.lost_rows("since the first start")
        if lost is not None:
            raise lost

    def _load(self) -> None:
        """Load the counts from the record file, which a checkpoint of an earlier version lacks."""
        try:
            content = json.loads(self.file.read_bytes())
            self.first = content["first"]
            self._before = RowTotals.from_json(content["before"])
            self._batches = {int(batch): RowTotals.from_json(counts) for batch, counts in content["batches"].items()}
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise CheckpointError(
                f"the checkpoint is damaged: {self.file} is not what Transom wrote",
                detail=str(error),
                hint="put it back from a copy; without the file, the rows are counted from now on",
            ) from error

    def record(self, batch: int, counts: RowTotals) -> None:
        """Write the row counts of a micro-batch; they replace those of an earlier attempt at it."""
        self._batches = {number: kept for number, kept in self._batches.items() if number < batch} | {batch: counts}
        while len(self._batches) > LAST_BATCHES:
            self._before += self._batches.pop(min(self._batches))
        content = {
            "first": self.first,
            "before": self._before.to_json(),
            "batches": {str(number): kept.to_json() for number, kept in self._batches.items()},
        }
        self._write(self.file, json.dumps(content))
