"""The machine that counts the copies of one left row and the pairs that match it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

from transom.machines import codec
from transom.machines.entries import StateEntry
from transom.machines.joins.delta_join import LEFT, PAIR
from transom.model.bag import Row, row_key

MatchOutput = Literal["left", "semi", "anti", "mark", "distinct", "numbered"]
"""What to emit: pairs, and the row while unmatched; the row while matched; while unmatched; always, with a match flag.

`distinct` emits the row once, regardless of its copies. `numbered` emits every copy with its number from 0.
"""


class MatchCounter:
    """Changes of the copies of one row, and of the pairs that match it, in; changes of the row out.

    All changes of a tick apply at once. The state holds both counts, the counts it has emitted, and the row. `padding`
    is the number of columns that a pair has in addition to the row.
    """

    kind = "matches"

    def __init__(self, emit: MatchOutput, padding: int = 0) -> None:
        """Count a left row's matches; `emit`: join type, distinct or numbered; `padding`: NULLs added if unmatched.

        `emit` chooses the output rows, and `padding` NULLs widen an unmatched left row to a pair.
        """
        self.emit = emit
        self.padding = padding
        self.copies = 0
        self.matches = 0
        self.emitted = [0, 0]
        self.row: Row | None = None

    @property
    def held(self) -> int:
        """Number of rows in state: 1 if the left row has copies or matches, otherwise 0."""
        return int(self.copies != 0 or self.matches != 0)

    def take(self, changes: Iterable[tuple[int, int, Row]]) -> Iterator[tuple[int, int, Row]]:
        """Apply a tick's changes (0 for left row or 1 for pair, count, row); yield output changes of the same form.

        A change is (0 for the left row or 1 for a pair, count, row), of the output (PAIR or LEFT, count, row). Raises
        ValueError if a row or a pair is retracted that was never added.
        """
        pairs: Counter[Row] = Counter()
        for side, count, row in changes:
            if side:
                self.matches += count
                pairs[row] += count
            else:
                self.copies += count
                self.row = row if self.row is None else self.row
        if self.copies < 0 or self.matches < 0:
            retracted = "row" if self.copies < 0 else "pair"
            raise ValueError(f"a {retracted} is retracted that was never added")
        if self.emit == "left":
            yield from ((PAIR, pairs[row], row) for row in sorted(pairs, key=row_key) if pairs[row])
        target = self._target_counts()
        if self.row is not None and self.emit == "numbered":
            before = self.emitted[0]
            yield from ((LEFT, 1, (*self.row, copy)) for copy in range(before, self.copies))
            yield from ((LEFT, -1, (*self.row, copy)) for copy in range(self.copies, before))
        elif self.row is not None:
            for flag in (False, True):
                count = target[flag] - self.emitted[flag]
                if count:
                    yield LEFT, count, self._output_row(self.row, flag)
        self.emitted = target
        if not self.held:
            self.row = None

    def _output_row(self, row: Row, flag: bool) -> Row:
        """Return a left row for output: if `emit` is mark with `flag` (has it a match?), else padded with NULLs."""
        return (*row, flag) if self.emit == "mark" else row + (None,) * self.padding

    def _target_counts(self) -> list[int]:
        """Return how often to emit the left row: [copies with match flag false, copies with match flag true].

        The list has the count for the flag false, then for true.
        """
        if self.emit == "distinct":
            return [min(self.copies, 1), 0]
        if self.emit == "numbered":
            return [self.copies, 0]
        copies = [0, self.copies] if self.matches else [self.copies, 0]
        if self.emit == "mark":
            return copies
        return [0, copies[1]] if self.emit == "semi" else [copies[0], 0]

    def entries(self) -> Iterator[StateEntry]:
        """Yield the state as entries to inspect: the left row with its copy count, then its match count."""
        yield StateEntry("row", 0, None, self.copies, self.row)
        yield StateEntry("matches", 0, None, self.matches, None)

    def save(self) -> bytes:
        """Serialize the left row, the counts of its copies and matches, and the emitted counts."""
        row = None if self.row is None else codec.pack(self.row)
        return codec.save(self.kind, [self.copies, self.matches, *self.emitted, row])

    @classmethod
    def load(cls, state: bytes, emit: MatchOutput, padding: int) -> MatchCounter:
        """Restore a counter from the bytes of `save`; `emit` and `padding` are those with which it was created."""
        machine = cls(emit, padding)
        machine.copies, machine.matches, *machine.emitted, row = codec.load(cls.kind, state)
        machine.row = None if row is None else codec.unpack(row)
        return machine
