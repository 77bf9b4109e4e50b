"""Rows that speed limits rejected during an evaluation, counted by extent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transom.algebra.composition.composed_source import ComposedSource
from transom.algebra.sources import StreamAcquire, StreamReceive
from transom.algebra.streams import SpeedLimit
from transom.algebra.tree import walk
from transom.model.bag import Element, Row, row_identity
from transom.model.balance import Balance
from transom.model.reject_reason import RejectReason

FEW = 2
"""The fewest rows, rejected after the first row of their object and before any other one, that suggest it is wrong."""


class Rejections:
    """Row counts of the extents with a speed limit, and the objects whose first position seems to be wrong."""

    def __init__(self) -> None:
        """Create an empty record of the rows that speed limits accept and reject, by source."""
        self._balances: dict[str, Balance] = {}
        self._after_first: dict[str, dict[Row, int]] = {}

    def add(self, op: SpeedLimit, accepted: Sequence[Element], rejected: Sequence[Element]) -> None:
        """Record which rows of a source a speed limit accepted and rejected, in place of earlier counts."""
        extent = next(
            (leaf.extent for leaf in walk(op) if isinstance(leaf, StreamAcquire | StreamReceive | ComposedSource)),
            "a subquery",
        )
        counts = {RejectReason.SPEED.value: len(rejected)} if rejected else {}
        self._balances[extent] = Balance(len(accepted) + len(rejected), len(accepted), rejected=counts)
        self._after_first[extent] = _rejected_after_first(op, accepted, rejected)

    def lines(self) -> Iterator[str]:
        """Yield row counts per source with rejected rows, and a warning if an object's first position seems wrong."""
        for extent, balance in self._balances.items():
            if not balance.rejected:
                continue
            yield f"{extent}: {balance}"
            count, key = max(
                ((count, key) for key, count in self._after_first[extent].items()),
                key=lambda entry: entry[0],
                default=(0, ()),
            )
            if count >= FEW:
                whose = f" of {', '.join(map(str, key))}" if key else ""
                yield (
                    f"{extent}: {count:,} rows were rejected right after the first row{whose}, which no max_speed "
                    "checks: if its position is wrong, remove that row"
                )


def _rejected_after_first(op: SpeedLimit, accepted: Sequence[Element], rejected: Sequence[Element]) -> dict[Row, int]:
    """Count per key the rows that a speed limit rejected after its first accepted row and before the second one.

    Rows without a position are left out, because a speed limit always accepts them.
    """
    columns = [op.input.schema.position(attribute) for attribute in op.key]
    coordinates = [op.input.schema.position(attribute) for attribute in op.position_columns]
    accepted_rows: dict[tuple[object, ...], int] = {}
    keys: dict[tuple[object, ...], Row] = {}
    counts: dict[tuple[object, ...], int] = {}
    tagged = [(e.index, True, e.row) for e in accepted] + [(e.index, False, e.row) for e in rejected]
    for _, is_accepted, row in sorted(tagged, key=lambda entry: entry[0]):
        key = tuple(row[column] for column in columns)
        same = row_identity(key)
        keys.setdefault(same, key)
        if op.position.point(*(row[column] for column in coordinates)) is None:
            continue
        if is_accepted:
            accepted_rows[same] = accepted_rows.get(same, 0) + 1
        elif accepted_rows.get(same) == 1:
            counts[same] = counts.get(same, 0) + 1
    return {keys[same]: count for same, count in counts.items()}
