"""Dead letters of a sink: refused rows, kept in the checkpoint as one file of JSON lines per micro-batch.

The file is written before the micro-batch counts as delivered, and a repeated micro-batch overwrites its own file. So
each refused row is in the dead letters exactly once.
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

from transom.connectors.private_files import make_folder, open_private

DEAD_LETTER_FOLDER = "dead_letters"


@dataclass(frozen=True, slots=True)
class RefusedRow:
    """A row that the sink refused, as values by column, and the sink's reason."""

    row: Mapping[str, Any]
    reason: str


class SinkDeadLetters:
    """The dead letters of a run's sink."""

    def __init__(self, checkpoint: Path, kind: str) -> None:
        """Prepare dead letters in a checkpoint folder, for rows that a sink of this kind, such as `kafka`, refuses."""
        self.folder = checkpoint / DEAD_LETTER_FOLDER
        self.kind = kind
        self._batch, self._batch_count, self._earlier_count = -1, 0, 0

    def write(self, batch: int, refused: Iterable[RefusedRow]) -> None:
        """Write the rows of a micro-batch that the sink refused to its dead-letter file; delete the file if none."""
        file = self.folder / f"batch-{batch:09}.jsonl"
        if batch != self._batch:
            self._earlier_count += self._batch_count
        self._batch, self._batch_count = batch, 0
        rows = iter(refused)
        first = next(rows, None)
        if first is None:
            file.unlink(missing_ok=True)
            return
        make_folder(self.folder)
        temporary = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            self._batch_count = self._write(temporary, batch, chain([first], rows))
            os.replace(temporary, file)
        finally:
            temporary.unlink(missing_ok=True)

    def _write(self, file: Path, batch: int, refused: Iterable[RefusedRow]) -> int:
        """Write the refused rows of a micro-batch to a file and return their number."""
        count = 0
        with open_private(file) as stream:
            for count, row in enumerate(refused, 1):  # noqa: B007
                letter = {"sink": self.kind, "batch": batch, "reason": row.reason, "row": row.row}
                stream.write(json.dumps(_json_value(letter), ensure_ascii=True).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        return count

    def counts(self) -> dict[str, int]:
        """Return {'KIND sink: refused': number of rows refused since the start}, with KIND as `kafka`; {} if none."""
        count = self._earlier_count + self._batch_count
        return {f"{self.kind} sink: refused": count} if count else {}


def _json_value(value: Any) -> Any:
    """Convert a value to JSON types; values that JSON lacks become text."""
    match value:
        case Mapping():
            return {str(name): _json_value(item) for name, item in value.items()}
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
