"""The machine that runs several joins of one key in one operator: the result of a join is an input of the next."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from transom.machines import codec
from transom.machines.entries import StateEntry, rows_of_sides
from transom.machines.joins.delta_join import PAIR, DeltaJoin, JoinOutput
from transom.model.bag import Row


class JoinStep(NamedTuple):
    """One join of a tree.

    `inputs` are numbers: those of sides, and from the number of sides on those of earlier joins. `widths` are their
    column counts, and `columns` the columns of the joined rows that the result keeps, in this order.
    """

    emit: JoinOutput
    inputs: tuple[int, ...]
    widths: tuple[int, ...]
    columns: tuple[int, ...]

    @classmethod
    def from_entries(cls, entries: Mapping[str, Any]) -> JoinStep:
        """Parse one join of a join tree from its entry in the JSON specification."""
        inputs, widths, columns = (tuple(entries[name]) for name in ("inputs", "widths", "columns"))
        return cls(entries["emit"], inputs, widths, columns)


class JoinTree:
    """Changes of several relations of one key in; changes of the last join out.

    Each join gets the changes of a tick from all its inputs at once, as it does in an operator of its own. The state is
    that of all joins.
    """

    kind = "join tree"

    def __init__(self, sides: int, steps: Sequence[JoinStep]) -> None:
        """Create a tree of joins over `sides` inputs, without rows; each step joins inputs or earlier joins."""
        self.sides = sides
        self.steps = tuple(steps)
        self.joins = [DeltaJoin(step.widths, step.emit) for step in steps]

    @property
    def held(self) -> int:
        """Number of rows in state, over all joins of the tree."""
        return sum(join.held for join in self.joins)

    def take(self, changes: Iterable[tuple[int, int, Row]]) -> Iterator[tuple[int, int, Row]]:
        """Apply a tick's changes (input number, signed count, row); yield the last join's changes (1, count, row).

        A change of an input is (side, signed count, row), of the output (PAIR, signed count, row). Raises ValueError if
        a row is retracted that was never added.
        """
        outputs: list[list[tuple[int, Row]]] = [[] for _ in range(self.sides)]
        for side, count, row in changes:
            outputs[side].append((count, row))
        for step, join in zip(self.steps, self.joins, strict=True):
            arrivals = [(side, *change) for side, source in enumerate(step.inputs) for change in outputs[source]]
            joined = join.take(arrivals) if arrivals else ()
            outputs.append([(count, tuple(row[column] for column in step.columns)) for _, count, row in joined])
        yield from ((PAIR, count, row) for count, row in outputs[-1])

    def entries(self) -> Iterator[StateEntry]:
        """Yield each join's rows in state with counts, to inspect; the inputs of all joins are numbered in sequence."""
        yield from rows_of_sides(bag for join in self.joins for bag in join.present)

    def save(self) -> bytes:
        """Serialize the rows of all joins of the tree."""
        return codec.save(self.kind, [join.save().decode("latin-1") for join in self.joins])

    @classmethod
    def load(cls, state: bytes, sides: int, steps: Sequence[JoinStep]) -> JoinTree:
        """Restore a join tree from the bytes of `save`; `sides` and `steps` are those with which it was created."""
        tree = cls(sides, steps)
        saved = codec.load(cls.kind, state)
        tree.joins = [
            DeltaJoin.load(join.encode("latin-1"), step.widths, step.emit)
            for join, step in zip(saved, tree.steps, strict=True)
        ]
        return tree
