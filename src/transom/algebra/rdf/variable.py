"""Variables, which both expressions and operators have."""

from __future__ import annotations

from dataclasses import dataclass

from transom.errors import PlanError


@dataclass(frozen=True, slots=True)
class Variable:
    """The term that a solution gives to a variable; an error where it gives none."""

    name: str

    def __post_init__(self) -> None:
        if not self.name or self.name[0] in "?$":
            raise PlanError("a variable is named without its question mark")

    def __str__(self) -> str:
        return f"?{self.name}"
