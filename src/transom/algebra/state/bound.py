"""The state bound of a query as users see it."""

from __future__ import annotations

from dataclasses import dataclass

MANY_ROWS = 1_000_000_000
"""A state bound beyond this number of rows is a warning: at 100 bytes per row, the state would need 100 GB."""


@dataclass(frozen=True)
class StateBound:
    """The most rows in the state of a query: a formula, and its value if the catalog declares all that it reads.

    `hints` say what to declare in the catalog. `promises` are the catalog hints that the bound relies on: data that
    breaks them needs more state. `largest` is the part of the formula that makes a bound of many rows so large.
    """

    formula: str
    rows: int | None
    bounded: bool
    hints: tuple[str, ...]
    promises: tuple[str, ...] = ()
    largest: str | None = None

    @property
    def is_excessive(self) -> bool:
        """Whether the bound is above MANY_ROWS, a billion rows, which is too much for almost any run."""
        return self.rows is not None and self.rows > MANY_ROWS

    def __str__(self) -> str:
        """The bound as text: the formula, with its value if it is known, or the reason why there is no bound."""
        if not self.bounded:
            return f"unbounded: {self.formula}"
        return self.formula if self.rows is None or self.formula == str(self.rows) else f"{self.formula} = {self.rows}"


def bound_remarks(bound: StateBound) -> dict[str, str]:
    """Return what `explain` prints about a state bound: the bound, and the catalog hints that it relies on."""
    promises = {"promised by the catalog": ", ".join(bound.promises)} if bound.promises else {}
    return {"state": f"{bound} rows", **promises}
