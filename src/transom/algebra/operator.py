"""Base classes of operators: `Operator`, and `Stream` and `Windows` by what they produce.

An operator accepts any stream, or any stream of windows, as its input. `tree` lists all operators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from transom.model.schema import Schema
from transom.record import Record


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Operator(Record):
    """An operator of a query."""

    @property
    def schema(self) -> Schema:
        """The columns of the rows that the operator produces."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Stream(Operator):
    """An operator that produces tagged tuples."""


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Windows(Operator):
    """An operator that produces windows."""


Plan: TypeAlias = Stream | Windows
"""The plan of a query: an operator that produces tagged tuples or windows."""
