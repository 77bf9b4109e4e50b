"""What a query says of itself beside its answers: how much it remembers, and drawings."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from transom.errors import UsageError


@dataclass(frozen=True)
class State:
    """How many rows a query must remember: a formula, its value where everything is declared, and what is not."""

    formula: str
    rows: int | None
    bounded: bool
    hints: tuple[str, ...]

    def __str__(self) -> str:
        if not self.bounded:
            return f"unbounded: {self.formula}"
        return self.formula if self.rows is None or self.formula == str(self.rows) else f"{self.formula} = {self.rows}"


@dataclass(frozen=True)
class Picture:
    """A drawing; `svg` is its text."""

    svg: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing into a file."""
        try:
            Path(path).write_text(self.svg, "utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}", detail=str(error)) from error

    def __repr__(self) -> str:
        return f"<Picture: SVG of {len(self.svg):,} characters>"

    def _repr_svg_(self) -> str:
        return self.svg
