"""Operators that produce streams of tagged tuples."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.check import check_items, check_predicate
from transom.algebra.expressions.expression import Expression, NamedExpression
from transom.algebra.operator import Stream, Windows
from transom.algebra.sources import StreamAcquire, StreamReceive
from transom.errors import PlanError
from transom.model.geometry.space import Position, Speed
from transom.model.schema import Attribute, Schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class StreamSelect(Stream):
    """The tuples of a stream for which a predicate is true.

    Meaning  each tuple keeps its tick and its index (S2).
    Bounds   the indexes of the result have gaps, so a row window needs a `Renumber` above this operator (S15).
    Source   000 Fig. 1.
    State    none.
    """

    input: Stream
    predicate: Expression

    def __post_init__(self) -> None:
        """Raise PlanError unless the predicate is boolean and reads only columns, tick and index of the input."""
        check_predicate(self.predicate, self.input.schema, on_stream=True)

    @property
    def schema(self) -> Schema:
        """The columns of the input, unchanged."""
        return self.input.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class StreamProject(Stream):
    """A stream with new values: a list of expressions computes a new tuple from each tuple.

    Meaning  each new tuple keeps the tick and the index of its input tuple.
    Bounds   none.
    Source   000 Fig. 3 projectOnTaggedTuple.
    State    none.
    """

    input: Stream
    items: tuple[NamedExpression, ...]

    def __post_init__(self) -> None:
        """Raise PlanError unless the expressions read only the input and have distinct names."""
        check_items(self.items, self.input.schema, on_stream=True)

    @property
    def schema(self) -> Schema:
        """The columns that the expressions compute."""
        return Schema(tuple(item.attribute for item in self.items))


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class Renumber(Stream):
    """The same tuples, numbered from 1 without gaps.

    Meaning  the index of a tuple becomes its row number in this stream. Ticks and values do not change.
    Bounds   none.
    Source   decision S15.
    State    one number, which is the last index.
    """

    input: Stream

    @property
    def schema(self) -> Schema:
        """The columns of the input, unchanged."""
        return self.input.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class StreamUnion(Stream):
    """Several streams, merged into one in order of tick.

    Meaning  tuples of the same tick are in the order of the inputs. The index counts the tuples of the merged stream
             from 1.
    Bounds   all inputs must have the same columns.
    Source   002 Table 1 (several FROM STREAM), Def. 9; R10, R24.
    State    none, because the operator reads all inputs tick by tick.
    """

    parts: tuple[Stream, ...]

    def __post_init__(self) -> None:
        """Raise PlanError unless there are at least two streams, all with the same columns."""
        if len(self.parts) < 2:
            raise PlanError("a union has at least two parts")
        if any(part.schema != self.schema for part in self.parts):
            raise PlanError("the parts of a union have the same columns")

    @property
    def schema(self) -> Schema:
        """The columns that all merged streams share."""
        return self.parts[0].schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class SpeedLimit(Stream):
    """A stream without the rows that an object could reach only by breaking a speed limit.

    Meaning  a row is rejected if its object would have been faster than `speed` on the way from its last accepted
             position. Two positions with the same tick are compared as if one tick lay between them. Accepted rows keep
             their tick and index.
    Bounds   the first row of each key is accepted, and so is every row without a position. The operator counts the
             rejected rows. If a key has no accepted row for more than `forget_after` ticks, the next row of the key
             counts as its first row (E8).
    Source   only Transom. The operator exists because positions from satellites may jump.
    State    the last accepted position of every key, and its tick.
    """

    input: Stream
    position: Position
    speed: Speed
    key: tuple[Attribute, ...] = ()
    forget_after: int | None = None

    def __post_init__(self) -> None:
        """Raise PlanError unless speed, `forget_after`, position columns and key are valid."""
        if self.speed.length < 0 or self.speed.ticks < 1:
            raise PlanError("a speed is a distance of at least 0 over at least one tick")
        if self.forget_after is not None and (self.forget_after < 0 or not self.key):
            raise PlanError("only keys are forgotten, after at least 0 ticks")
        _ = self.position_columns
        for attribute in self.key:
            self.input.schema.position(attribute)

    @property
    def position_columns(self) -> tuple[Attribute, ...]:
        """The input columns that hold the position of a row."""
        return find_position_columns(self.input.schema, self.position)

    @property
    def schema(self) -> Schema:
        """The columns of the input, unchanged."""
        return self.input.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class RStream(Stream):
    """All tuples of every window, in the order of the windows.

    Meaning  each tuple gets the tick of its window, and a sequence number as its index. If windows have keys, the
             result at a tick contains only the tuples of windows that are created at this tick.
    Bounds   none.
    Source   000 Fig. 8 rStream; 001 Sec. 2 with C3, C14.
    State    one number, which is the last index.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        """The schema of the output stream: the columns of the input windows, unchanged."""
        return self.input.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class IStream(Stream):
    """For every window, the tuples that the previous window did not contain.

    Meaning  the operator treats both windows as bags of values, and subtracts the previous window from the current one.
             The tuples of the difference get the tick of the current window (S12).
    Bounds   the first window is compared with an empty window. If a tick has several windows, each of them is compared
             with the window before it. If windows have keys, each window is compared with the previous window of its
             key (C14).
    Source   000 Fig. 8 iStream; 001 Sec. 3.2.1.
    State    the previous window of every key.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        """The columns of the windows, unchanged."""
        return self.input.schema


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class DStream(Stream):
    """For every window, the tuples that only the previous window contained.

    Meaning  the operator treats both windows as bags of values, and subtracts the current window from the previous one.
             The tuples of the difference get the tick of the current window (S13).
    Bounds   the first window of each key gives no tuples, because there is no previous window. The end of the stream
             gives no tuples either.
    Source   000 Sec. 6.3; 001 Sec. 2.
    State    the previous window of every key.
    """

    input: Windows

    @property
    def schema(self) -> Schema:
        """The columns of the windows, unchanged."""
        return self.input.schema


def is_dense(stream: Stream) -> bool:
    """Whether a stream numbers its rows from 1 without gaps, so that a window may count rows by the index."""
    while isinstance(stream, StreamProject):
        stream = stream.input
    return isinstance(stream, StreamAcquire | StreamReceive | StreamUnion | Renumber | RStream | IStream | DStream)


def find_position_columns(schema: Schema, position: Position) -> tuple[Attribute, ...]:
    """Return the columns of a schema that `position` names; raise PlanError unless each is a single numeric column."""
    names = (position.x,) if position.y is None else (position.x, position.y)
    matches = [schema.find(None, name) for name in names]
    for name, candidates in zip(names, matches, strict=True):
        if len(candidates) != 1 or not candidates[0].type.is_number:
            raise PlanError(f"a position needs one column {name} of numbers in {schema}")
    return tuple(candidates[0] for candidates in matches)
