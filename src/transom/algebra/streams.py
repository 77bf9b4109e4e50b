"""Operators that produce streams of tagged tuples."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.check import check_items, check_predicate
from transom.algebra.expressions import Expression, Item
from transom.algebra.operator import Stream, Windows
from transom.algebra.sources import StreamAcquire, StreamReceive
from transom.errors import PlanError
from transom.model.schema import Attribute, Schema
from transom.model.space import Position, Speed


@dataclass(frozen=True, slots=True)
class StreamSelect(Stream):
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
class StreamProject(Stream):
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
class Renumber(Stream):
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
class StreamUnion(Stream):
    """Several streams as one.

    Meaning  the tuples of all parts in order of their ticks, those of one tick in the order of the parts; the index is
             the position in this stream, from 1.
    Bounds   all parts have the columns of the first.
    Source   002 Table 1 (several FROM STREAM), Def. 9; R10, R24.
    State    none; the parts are read in step.
    """

    parts: tuple[Stream, ...]

    def __post_init__(self) -> None:
        if len(self.parts) < 2:
            raise PlanError("a union has at least two parts")
        if any(part.schema != self.schema for part in self.parts):
            raise PlanError("the parts of a union have the same columns")

    @property
    def schema(self) -> Schema:
        return self.parts[0].schema


@dataclass(frozen=True, slots=True)
class WithoutJumps(Stream):
    """A stream without the rows that no object can have reached in time.

    Meaning  a row is rejected if the way to its place from the last row of its key that was kept would need more
             than a speed; rows of one tick as if a tick had passed. Tick and index are kept.
    Bounds   the first row of a key and rows without a place are kept; what is rejected is counted, not lost in silence.
             A key of which no row was kept for more than `forget_after` ticks is new (E8).
    Source   ours: jumps of satellite positions.
    State    the last place and tick of every key.
    """

    input: Stream
    position: Position
    speed: Speed
    key: tuple[Attribute, ...] = ()
    forget_after: int | None = None

    def __post_init__(self) -> None:
        if self.speed.length < 0 or self.speed.ticks < 1:
            raise PlanError("a speed is a way of at least 0 in at least one tick")
        if self.forget_after is not None and (self.forget_after < 0 or not self.key):
            raise PlanError("only keys are forgotten, after at least 0 ticks")
        _ = self.place
        for attribute in self.key:
            self.input.schema.position(attribute)

    @property
    def place(self) -> tuple[Attribute, ...]:
        """The columns that hold the place of a row."""
        return place_columns(self.input.schema, self.position)

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class RStream(Stream):
    """All tuples of every window, in the order of the windows.

    Meaning  each tuple with the tick of its window and a running index; of several keys, those with a window then.
    Bounds   none.
    Source   000 Fig. 8 rStream; 001 Sec. 2 with C3, C14.
    State    one number.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class IStream(Stream):
    """The tuples of every window that were not in the window before it.

    Meaning  bag difference current \\\\ previous on values, stamped with the current window's tick (S12).
    Bounds   the first window is compared with the empty one; windows of one tick are compared in their order, with
             several keys each with the one of its key before it (C14).
    Source   000 Fig. 8 iStream; 001 Sec. 3.2.1.
    State    the previous window, of every key.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        return self.input.schema


@dataclass(frozen=True, slots=True)
class DStream(Stream):
    """The tuples of every window that are gone from the window after it.

    Meaning  bag difference previous \\\\ current on values, stamped with the current window's tick (S13).
    Bounds   nothing at the first window, of every key; no flush at the end.
    Source   000 Sec. 6.3; 001 Sec. 2.
    State    the previous window, of every key.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        return self.input.schema


def is_dense(stream: Stream) -> bool:
    """Whether the index of a stream runs from 1 without gaps."""
    while isinstance(stream, StreamProject):
        stream = stream.input
    return isinstance(stream, StreamAcquire | StreamReceive | StreamUnion | Renumber | RStream | IStream | DStream)


def place_columns(schema: Schema, position: Position) -> tuple[Attribute, ...]:
    """The columns that hold a position; PlanError unless each is there once and holds numbers."""
    names = (position.x,) if position.y is None else (position.x, position.y)
    found = [schema.find(None, name) for name in names]
    for name, candidates in zip(names, found, strict=True):
        if len(candidates) != 1 or not candidates[0].type.is_number:
            raise PlanError(f"a position needs one column {name} of numbers in {schema}")
    return tuple(candidates[0] for candidates in found)
