"""The properties that operators require of the rows below them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from transom.algebra.expressions.expression import Expression, Tag, subexpressions
from transom.physical.forms import Form

UNEXPANDED_FORMS = (Form.INTERVALS, Form.TABLE, Form.SCANS)
"""Forms that do not have one row per tuple and window."""


@dataclass(frozen=True, slots=True)
class RequiredProperties:
    """What operators above require of a stream: sorted rows, or rows with their index.

    With `stateless_above`, no operator above keeps state.
    """

    order: bool = False
    index: bool = False
    stateless_above: bool = False

    @property
    def ordered(self) -> bool:
        """Whether rows need a sort-key column: because they must be sorted, or because they must be numbered."""
        return self.order or self.index

    def with_index_for(self, *expressions: Expression) -> RequiredProperties:
        """Return these properties, plus the index (row number in the stream) if an expression reads the index."""
        reads = any(isinstance(part, Tag) and part.name == "index" for e in expressions for part in subexpressions(e))
        return replace(self, index=self.index or reads)

    def without_index(self) -> RequiredProperties:
        """Require order instead of the index (row number), for the input of an operator that numbers its rows anew."""
        return RequiredProperties(self.ordered, stateless_above=self.stateless_above)
