"""What the functions that arrange joins of solutions ask of the planner, which calls them."""

from __future__ import annotations

from typing import Protocol

from transom.algebra.operator import Windows
from transom.physical.node import Physical


class RdfPlanning(Protocol):
    """The planner of queries over RDF."""

    @property
    def slack(self) -> int:
        """The event time in ticks that may be open at once."""

    @property
    def local(self) -> frozenset[str]:
        """The streams whose messages hold all statements about their subjects."""

    @property
    def streams(self) -> bool:
        """Whether an answer can change with time."""

    def statements(self, op: Windows) -> Physical:
        """Statements as they come and go, or as they are stored."""

    def solutions(self, op: Windows) -> Physical:
        """Solutions as they come and go, or as they follow from what is stored."""

    def moving(self, node: Physical) -> Physical:
        """Something stored as changes."""

    def both(self, left: Physical, right: Physical) -> Physical:
        """The rows of two sides, both stored or both as changes."""
