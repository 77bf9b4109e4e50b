"""The state bound of a query as users see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StateBound:
    """The most rows in the state of a query: a formula, and its value if the catalog declares all that it reads.

    `hints` say what to declare in the catalog. `promises` are the catalog hints that the bound relies on: data that
    breaks them needs more state.
    """

    formula: str
    rows: int | None
    bounded: bool
    hints: tuple[str, ...]
    promises: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The bound as text: the formula, with its value if it is known, or the reason why there is no bound."""
        if not self.bounded:
            return f"unbounded: {self.formula}"
        return self.formula if self.rows is None or self.formula == str(self.rows) else f"{self.formula} = {self.rows}"


def bound_remarks(bound: StateBound) -> dict[str, str]:
    """Return what `explain` prints about a state bound: the bound, and the catalog hints that it relies on."""
    promises = {"promised by the catalog": ", ".join(bound.promises)} if bound.promises else {}
    return {"state": f"{bound} rows", **promises}
