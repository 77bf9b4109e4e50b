"""How many rows a query holds in state: the bound as people read it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StateBound:
    """The most rows that a query holds: a formula, its value where everything is declared, and what is not.

    `promises` are the hints of the catalog that the bound rests on: where data breaks them, more rows are held.
    """

    formula: str
    rows: int | None
    bounded: bool
    hints: tuple[str, ...]
    promises: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.bounded:
            return f"unbounded: {self.formula}"
        return self.formula if self.rows is None or self.formula == str(self.rows) else f"{self.formula} = {self.rows}"


def remarks(bound: StateBound) -> dict[str, str]:
    """What a tree of operators says about a bound."""
    promised = {"promised by the catalog": ", ".join(bound.promises)} if bound.promises else {}
    return {"remembers": f"{bound} rows", **promised}
