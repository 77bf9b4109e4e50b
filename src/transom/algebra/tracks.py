"""Aggregates that follow the places of a group of tuples in the order of time: speed, way, line (C7, C24)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from transom.algebra.expressions import Column, Expression, Literal, call
from transom.errors import PlanError
from transom.model.schema import Attribute
from transom.model.space import Position
from transom.model.types import Type


class TrackFunction(Enum):
    """What can be computed from the places of tuples and their ticks."""

    AVGSPD = "AVGSPD"
    PATHLENGTH = "PATHLENGTH"
    TRAJECTORY = "TRAJECTORY"
    PLACE = "PLACE"

    @property
    def result(self) -> Type:
        """The type of the result: km/h, metres, a line, the newest place."""
        match self:
            case TrackFunction.AVGSPD | TrackFunction.PATHLENGTH:
                return Type.FLOAT
            case TrackFunction.TRAJECTORY:
                return Type.LINE
            case TrackFunction.PLACE:
                return Type.POINT


def place_of(columns: Sequence[Attribute], position: Position) -> Expression:
    """The place that the coordinates of a row are; NULL on the globe where they are none."""
    measure = [Literal(0, Type.INTEGER)] if position.geodesic else []
    return call("POINT", *map(Column, columns), *measure)


@dataclass(frozen=True, slots=True)
class Track:
    """One aggregate column over places in the order of their ticks, ties by arrival.

    A tuple without a place moves nothing. AVGSPD is the way in km/h: divided by `span` ticks, or without it by the
    ticks from the first tuple to the last; NULL over nothing and over no time, where a query gives no tuple (C7, C30).
    PATHLENGTH is the way in metres, NULL over no rows. TRAJECTORY is the line of all places and PLACE the newest one;
    both are NULL without a place. `tick_length` is in microseconds; only the measure of `position` matters here.
    """

    function: TrackFunction
    place: Expression
    tick: Expression
    position: Position
    attribute: Attribute
    span: int | None = None
    tick_length: int = 1_000_000

    def __post_init__(self) -> None:
        if self.place.type is not Type.POINT or self.tick.type is not Type.INTEGER:
            raise PlanError(f"{self.function.value} needs a place and a tick")
        if self.attribute.type is not self.function.result:
            raise PlanError(f"{self.function.value} does not give {self.attribute.type}")
        if self.span is not None and (self.span < 1 or self.function is not TrackFunction.AVGSPD):
            raise PlanError("only a speed is divided by a span, of at least one tick")

    def __str__(self) -> str:
        over = "" if self.span is None else f" over {self.span} ticks"
        return f"{self.function.value}({self.place}, {self.tick}{over})"
