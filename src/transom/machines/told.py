"""What machines that tell of several ticks at once say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from transom.model.bag import Row


class Told(NamedTuple):
    """What is told at a tick: a row of a window, or with `present` false that the window exists.

    `place` is the position in the content, the sign of a change, or 0 for aggregates; of a row with its distance it is
    the distance. With `seq` 0 it is no window, and `place` is how many rows of the tick were rejected.
    """

    tick: int
    seq: int
    present: bool
    place: int
    row: Row | None


class Timed(Protocol):
    """A machine of one key that also acts when nothing comes: a bucket holds many of them."""

    @property
    def held(self) -> int:
        """Rows that are remembered."""

    @property
    def blank(self) -> bool:
        """Whether it is as good as new."""

    @property
    def wake(self) -> int | None:
        """The next tick at which there is something to do if nothing more comes in."""

    def take(self, tick: int, rows: Sequence[Row]) -> list[Told]:
        """All rows of a tick, in order; what is told up to that tick."""

    def advance(self, closed: int) -> list[Told]:
        """What is told of all ticks up to one that is closed now."""

    def save(self) -> bytes:
        """The state as bytes."""
