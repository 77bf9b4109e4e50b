"""Rows that a sink refuses, kept as dead letters in the checkpoint: one file of JSON lines per micro-batch.

The file is written before the micro-batch counts as delivered, and a repeated micro-batch writes the same file again.
So a refused row is in it once, as any other row is once in the sink.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

from transom.connectors.private import make_folder, open_private

FOLDER = "dead_letters"


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that the sink does not take, by column, and what the sink says."""

    row: Mapping[str, Any]
    reason: str


class SinkDeadLetters:
    """The dead letters of a run's sink."""

    def __init__(self, checkpoint: Path, kind: str) -> None:
        self.folder = checkpoint / FOLDER
        self.kind = kind
        self._batch, self._last, self._before = -1, 0, 0

    def write(self, batch: int, refused: Iterable[Refused]) -> None:
        """Keep what was refused of a micro-batch, one row after the other, in place of what was kept of it before."""
        file = self.folder / f"batch-{batch:09}.jsonl"
        if batch != self._batch:
            self._before += self._last
        self._batch, self._last = batch, 0
        rows = iter(refused)
        first = next(rows, None)
        if first is None:
            file.unlink(missing_ok=True)
            return
        make_folder(self.folder)
        half = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            self._last = self._write(half, batch, chain([first], rows))
            os.replace(half, file)
        finally:
            half.unlink(missing_ok=True)

    def _write(self, file: Path, batch: int, refused: Iterable[Refused]) -> int:
        """Write rows to a file; how many they are."""
        count = 0
        with open_private(file) as written:
            for count, one in enumerate(refused, 1):  # noqa: B007
                letter = {"sink": self.kind, "batch": batch, "reason": one.reason, "row": one.row}
                written.write(json.dumps(_plain(letter), ensure_ascii=True).encode() + b"\n")
            written.flush()
            os.fsync(written.fileno())
        return count

    def counts(self) -> dict[str, int]:
        """How many rows were refused since the start, in the words of a progress report."""
        count = self._before + self._last
        return {f"{self.kind} sink: refused": count} if count else {}


def _plain(value: Any) -> Any:
    """A value as JSON has it; what JSON has not is text."""
    match value:
        case Mapping():
            return {str(name): _plain(one) for name, one in value.items()}
        case datetime():
            return value.isoformat()
        case Decimal():
            return format(value, "f")
        case float() if not math.isfinite(value):
            return str(value)
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)
