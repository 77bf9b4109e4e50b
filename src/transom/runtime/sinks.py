"""Where answers go: the console, or files that take each micro-batch exactly once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transom.errors import UsageError

SINKS = ("console", "parquet:DIR", "jsonl:DIR")
_FORMATS = {"parquet": "parquet", "jsonl": "json"}


@dataclass(frozen=True)
class Sink:
    """A kind of sink, and the folder it writes into."""

    kind: str
    folder: str | None = None

    @staticmethod
    def read(text: str) -> Sink:
        """A sink as one writes it: console, parquet:DIR or jsonl:DIR."""
        kind, _, folder = text.partition(":")
        if kind == "console" and not folder:
            return Sink("console")
        if kind in _FORMATS and folder:
            return Sink(kind, folder if "://" in folder else str(Path(folder).absolute()))
        raise UsageError(f"no sink is called {text}", hint=f"sinks are {', '.join(SINKS)}")

    def attach(self, writer: Any) -> Any:
        """A writer of Spark's, streaming or batch, that writes here."""
        if self.folder is None:
            return writer.format("console").option("truncate", "false").option("numRows", 50)
        return writer.format(_FORMATS[self.kind]).option("path", self.folder)

    def __str__(self) -> str:
        return self.kind if self.folder is None else f"{self.kind}:{self.folder}"
