"""Trajectory aggregates over the positions of tuples in time order: speed, distance, line (C7, C24)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from transom.algebra.expressions.expression import Column, Constant, Expression, call
from transom.errors import PlanError
from transom.model.geometry.space import Position
from transom.model.schema import Attribute
from transom.model.types import Type


class TrackFunction(Enum):
    """Aggregate functions over the positions and ticks of tuples."""

    AVGSPD = "AVGSPD"
    PATHLENGTH = "PATHLENGTH"
    TRAJECTORY = "TRAJECTORY"
    PLACE = "PLACE"

    @property
    def result(self) -> Type:
        """The result type of a trajectory function: FLOAT (km/h or metres), LINE, or POINT for the last position."""
        match self:
            case TrackFunction.AVGSPD | TrackFunction.PATHLENGTH:
                return Type.FLOAT
            case TrackFunction.TRAJECTORY:
                return Type.LINE
            case TrackFunction.PLACE:
                return Type.POINT


def point_expression(columns: Sequence[Attribute], position: Position) -> Expression:
    """Build the call of POINT on the columns with a row's position; it is NULL for an invalid longitude or latitude."""
    measure = [Constant(0, Type.INTEGER)] if position.geodesic else []
    return call("POINT", *map(Column, columns), *measure)


@dataclass(frozen=True, slots=True)
class TrackAggregate:
    """One aggregate column over positions in tick order, ties by arrival.

    A tuple without a position adds no distance. AVGSPD is a speed in km/h: the distance divided by `span` ticks, or
    without `span` by the ticks from the first tuple to the last. It is NULL over no tuples and over no time, where a
    query emits no tuple (C7, C30). PATHLENGTH is the distance in metres, NULL over no rows. TRAJECTORY is the line
    through all positions and PLACE the newest position; both are NULL if no tuple has a position. `tick_length` is in
    microseconds; of `position` only the measure is used.
    """

    function: TrackFunction
    point: Expression
    tick: Expression
    position: Position
    attribute: Attribute
    span: int | None = None
    tick_length: int = 1_000_000

    def __post_init__(self) -> None:
        """Raise PlanError unless point, tick and result have the right types and only a speed has a `span`."""
        if self.point.type is not Type.POINT or self.tick.type is not Type.INTEGER:
            raise PlanError(f"{self.function.value} needs a point and a tick")
        if self.attribute.type is not self.function.result:
            raise PlanError(f"{self.function.value} does not give {self.attribute.type}")
        if self.span is not None and (self.span < 1 or self.function is not TrackFunction.AVGSPD):
            raise PlanError("only a speed is divided by a span, of at least one tick")

    def __str__(self) -> str:
        """The aggregate as text: `NAME(point, tick)`, with ` over n ticks` for a speed over a fixed time."""
        over = "" if self.span is None else f" over {self.span} ticks"
        return f"{self.function.value}({self.point}, {self.tick}{over})"
