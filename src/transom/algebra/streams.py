"""Operators that produce streams of tagged tuples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from transom.algebra.check import check_items, check_predicate
from transom.algebra.expressions import Expression, Item
from transom.algebra.sources import StreamAcquire, StreamReceive
from transom.model.schema import Schema

if TYPE_CHECKING:
    from transom.algebra.tree import Stream, Windows


@dataclass(frozen=True, slots=True)
class StreamSelect:
    """The tuples of a stream for which a predicate is true.

    Meaning  filter; tick and index are kept (S2).
    Bounds   the index of the result has gaps, so no row window stands on it directly (S15).
    Source   000 Fig. 1.
    State    none.
    """

    input: Stream
    predicate: Expression

    def __post_init__(self) -> None:
        check_predicate(self.predicate, self.input.schema, on_stream=True)

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class StreamProject:
    """Each tuple of a stream made into another by a list of expressions.

    Meaning  map; tick and index are kept.
    Bounds   none.
    Source   000 Fig. 3 projectOnTaggedTuple.
    State    none.
    """

    input: Stream
    items: tuple[Item, ...]

    def __post_init__(self) -> None:
        check_items(self.items, self.input.schema, on_stream=True)

    @property
    def schema(self) -> Schema:
        return Schema(tuple(item.attribute for item in self.items))


@dataclass(frozen=True, slots=True)
class Renumber:
    """The same stream, numbered from 1 without gaps.

    Meaning  the index becomes the position in this stream; tick and values stay.
    Bounds   none.
    Source   decision S15.
    State    one number.
    """

    input: Stream

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class RStream:
    """All tuples of every window, in the order of the windows.

    Meaning  each tuple with the tick of its window and a running index.
    Bounds   none.
    Source   000 Fig. 8 rStream.
    State    one number.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class IStream:
    """The tuples of every window that were not in the window before it.

    Meaning  bag difference current \\\\ previous on values, stamped with the current window's tick (S12).
    Bounds   the first window is compared with the empty one; windows of one tick are compared in their order.
    Source   000 Fig. 8 iStream.
    State    the previous window.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class DStream:
    """The tuples of every window that are gone from the window after it.

    Meaning  bag difference previous \\\\ current on values, stamped with the current window's tick (S13).
    Bounds   nothing at the first window; no flush at the end.
    Source   000 Sec. 6.3.
    State    the previous window.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        return self.input.schema


def is_dense(stream: Stream) -> bool:
    """Whether the index of a stream runs from 1 without gaps."""
    while isinstance(stream, StreamProject):
        stream = stream.input
    return isinstance(stream, StreamAcquire | StreamReceive | Renumber | RStream | IStream | DStream)
