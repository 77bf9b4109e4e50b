"""Functions on places as Spark columns, with the values that the reference engine gives.

A place is a struct of `x` and `y`, a line an array of places. All is native but ways on the ellipsoid, which the one
written-out formula gives in Python, through Arrow. A limit comes from Java: the digits of a coordinate in well-known
text are the fewest where its size is 0 or from 1e-21 to 1e15 and no power of two below 1e-6; elsewhere there may be a
digit more or an exponent, and the number is the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions import Call, Literal
from transom.errors import PlanError
from transom.model.geodesy import azimuth
from transom.model.space import LONGEST_STEP, Position, step
from transom.model.types import Line, Point, Type, wkb
from transom.spark.functions import Lowering, bound
from transom.spark.types import let, nothing

WAY = "decimal(38,0)"
"""The type of sums of micrometres."""

_GLOBE = Position("x", "y", geodesic=True)
_PLAIN = (1e-3, 1e7)
"""From here to there, Java writes numbers without an exponent."""
_TINY = 1e-21
"""From here on, the 38 digits of a decimal hold all that a number prints."""


def make(x: Column, y: Column) -> Column:
    """The place with two coordinates; NULL without one of them."""
    return F.when(x.isNotNull() & y.isNotNull(), F.struct(x.alias("x"), y.alias("y")))


def constant(place: Point) -> Column:
    """A place that is known."""
    return F.struct(F.lit(place.x + 0.0).alias("x"), F.lit(place.y + 0.0).alias("y"))


def constant_line(line: Line) -> Column:
    """A line that is known."""
    return F.array(*map(constant, line))


def on_globe(place: Column) -> Column:
    """Whether a place is a longitude of at most a full turn and a latitude, as `Position.place` asks."""
    return (F.abs(place["x"]) <= 360.0) & (F.abs(place["y"]) <= 90.0)


def planar_step(unit: int, before: Column, now: Column) -> Column:
    """The micrometres between two places of the plane as a whole float, as `space.step` has them; 0 if one is NULL."""
    dx, dy = now["x"] - before["x"], now["y"] - before["y"]
    length = F.sqrt(dx * dx + dy * dy) * F.lit(float(unit))
    return F.least(F.coalesce(F.rint(length), F.lit(0.0)), F.lit(float(LONGEST_STEP)))


def _ends(here: Column, there: Column) -> Column:
    """The ends of a way on the ellipsoid; NULL where one of them is no place."""
    ends = [here["x"].alias("x1"), here["y"].alias("y1"), there["x"].alias("x2"), there["y"].alias("y2")]
    return F.when(on_globe(here) & on_globe(there), F.struct(*ends))


def _steps(ways: pa.Array) -> pa.Array:
    """The micrometres between places on the ellipsoid; NULL for NULL."""
    return pa.array(
        [None if ends is None else step(_GLOBE, ends[:2], ends[2:]) for ends in _coordinates(ways)], pa.int64()
    )


def _azimuths(ways: pa.Array) -> pa.Array:
    """The directions of ways on the ellipsoid; NULL for NULL and for a way without length."""
    return pa.array([None if ends is None else azimuth(*ends) for ends in _coordinates(ways)], pa.float64())


def _coordinates(ways: pa.Array) -> Iterator[tuple[float, float, float, float] | None]:
    ends = [ways.field(place).to_pylist() for place in range(4)]
    for known, *coordinates in zip(ways.is_valid().to_pylist(), *ends):
        yield tuple(coordinates) if known else None


def _setting(call: Call, place: int) -> int | None:
    """A measure or the length of a tick, which are the same for all rows."""
    argument = call.arguments[place]
    if not isinstance(argument, Literal):
        raise PlanError(f"the measure of {call.function.name} is no constant")
    return argument.value if isinstance(argument.value, int) else None


def _apart(call: Call, arguments: list[Column], one: int, other: int, measure: int) -> Column:
    """The micrometres between two arguments of a call; NULL where one of them is no place."""

    def planar(here: Column, there: Column) -> Column:
        known = here.isNotNull() & there.isNotNull()
        return F.when(known, planar_step(measure, here, there).cast("bigint"))

    expressions, columns = (call.arguments[one], call.arguments[other]), [arguments[one], arguments[other]]
    if measure:
        return bound(expressions, columns, planar)
    return F.arrow_udf(_steps, "bigint")(bound(expressions, columns, _ends))


def _point(call: Call, arguments: list[Column]) -> Column:
    if len(arguments) == 1:
        return bound(call.arguments, arguments, lambda x: make(x, F.lit(0.0)))
    if len(arguments) == 3 and _setting(call, 2) == 0:
        return bound(call.arguments[:2], arguments[:2], _make_on_globe)
    return bound(call.arguments[:2], arguments[:2], make)


def _make_on_globe(x: Column, y: Column) -> Column:
    return F.when((F.abs(x) <= 360.0) & (F.abs(y) <= 90.0), F.struct(x.alias("x"), y.alias("y")))


def _distance(call: Call, arguments: list[Column]) -> Column:
    measure = _setting(call, 2)
    if measure is None:
        return nothing(Type.FLOAT)
    return _apart(call, arguments, 0, 1, measure).cast("double") / F.lit(1e6)


def _within(call: Call, arguments: list[Column]) -> Column:
    measure = _setting(call, 3)
    return nothing(Type.BOOLEAN) if measure is None else _apart(call, arguments, 0, 1, measure) <= arguments[2]


def _speed(call: Call, arguments: list[Column]) -> Column:
    measure, length = _setting(call, 4), _setting(call, 5)
    if measure is None or length is None:
        return nothing(Type.FLOAT)
    way = _apart(call, arguments, 0, 2, measure)
    ticks = bound([call.arguments[1], call.arguments[3]], [arguments[1], arguments[3]], ticks_between)
    return kilometres_per_hour(way, ticks, length)


def ticks_between(since: Column, until: Column) -> Column:
    """The ticks from one to another, which more than 64 bits may take."""
    return F.abs(until.cast("decimal(19,0)") - since.cast("decimal(19,0)"))


def kilometres_per_hour(way: Column, ticks: Column, tick_length: int) -> Column:
    """Micrometres in some ticks as a speed: both numbers as floats, divided once; NULL in no time."""
    scale = str(5 * tick_length)
    time = ticks * F.lit(scale).cast(f"decimal({len(scale)},0)")
    return F.try_divide((way.cast(WAY) * F.lit(18).cast("decimal(2,0)")).cast("double"), time.cast("double"))


def _heading(call: Call, arguments: list[Column]) -> Column:
    measure = _setting(call, 2)
    if measure is None:
        return nothing(Type.FLOAT)

    if measure == 0:
        return F.arrow_udf(_azimuths, "double")(bound(call.arguments[:2], arguments[:2], _ends))

    def heading(one: Column, other: Column) -> Column:
        east, north = other["x"] - one["x"], other["y"] - one["y"]
        different = (one["x"] != other["x"]) | (one["y"] != other["y"])
        return F.when(different, F.degrees(F.atan2(east, north)))

    found = bound(call.arguments[:2], arguments[:2], heading)
    return let([found], lambda angle: F.when(angle < 0, angle + 360.0).otherwise(angle + 0.0))


def _wkt(call: Call, arguments: list[Column]) -> Column:
    return wkt(arguments[0], call.arguments[0].type)


def _wkb(call: Call, arguments: list[Column]) -> Column:
    return F.arrow_udf(_binaries, "string")(arguments[0])


def _binaries(shapes: pa.Array) -> pa.Array:
    """The well-known binary of places or lines; NULL for NULL."""
    found: list[str | None] = []
    for shape in shapes.to_pylist():
        places = [shape] if isinstance(shape, dict) else shape
        found.append(None if places is None else wkb([(place["x"], place["y"]) for place in places]))
    return pa.array(found, pa.string())


def wkt(geometry: Column, kind: Type) -> Column:
    """The well-known text of a place or a line; a line of one place is written as a place."""
    if kind is Type.POINT:
        return F.concat(F.lit("POINT ("), _pair(geometry), F.lit(")"))
    pairs = F.transform(geometry, _pair)
    word = F.when(F.size(geometry) == 1, F.lit("POINT (")).otherwise(F.lit("LINESTRING ("))
    return F.concat(word, F.array_join(pairs, ", "), F.lit(")"))


def _pair(place: Column) -> Column:
    return F.concat(_number(place["x"]), F.lit(" "), _number(place["y"]))


def _number(number: Column) -> Column:
    """A coordinate without an exponent, and without a point where it is a whole number."""
    size, text = F.abs(number), (number + 0.0).cast("string")

    def written_out(digits: int, behind: int) -> Column:
        return text.try_cast(f"decimal({digits},{behind})").try_cast("string")

    plain = (
        F.when((size == 0.0) | ((size >= _PLAIN[0]) & (size < _PLAIN[1])), text)
        .when(size >= _PLAIN[1], F.coalesce(written_out(38, 18), written_out(38, 0), text))
        .when(size >= _TINY, written_out(38, 38))
        .otherwise(text)
    )
    return F.regexp_replace(plain, r"\A(-?[0-9]+)(?:\.0*|(\.[0-9]*[1-9])0*)\z", "$1$2")


SPACE_LOWERINGS: dict[str, Lowering] = {
    "POINT": _point,
    "X": lambda call, arguments: arguments[0]["x"],
    "Y": lambda call, arguments: arguments[0]["y"],
    "DISTANCE": _distance,
    "WITHIN": _within,
    "SPEED": _speed,
    "HEADING": _heading,
    "WKT": _wkt,
    "WKB": _wkb,
}
"""By the name of the function; a test checks that every function on places has one."""
