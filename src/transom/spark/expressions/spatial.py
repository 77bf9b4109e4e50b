"""Spatial functions as Spark columns, with the same values as in the reference engine.

A point is a struct of `x` and `y`, a line an array of points. All functions are native, except that distances and
headings on the ellipsoid and well-known binary are computed in Python, through Arrow. Java sets one limit: the digits
of a coordinate in well-known text are the shortest if its size is 0 or from 1e-21 to 1e15 and not a power of two below
1e-6. Otherwise the text may have one more digit or an exponent; the number is the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import Call, Constant
from transom.errors import PlanError
from transom.model.geometry.geodesy import azimuth
from transom.model.geometry.space import LONGEST_STEP, Position, step_length
from transom.model.types import Line, Point, Type, wkb
from transom.spark.expressions.functions import Lowering, bind_once
from transom.spark.expressions.types import let, null_of

DISTANCE_TYPE = "decimal(38,0)"
"""The Spark type of distances in micrometres, and of their sums."""

_GLOBE = Position("x", "y", geodesic=True)
_PLAIN = (1e-3, 1e7)
"""The range in which Java prints numbers without an exponent."""
_TINY = 1e-21
"""From this size on, a decimal of 38 digits holds all printed digits of a number."""


def make_point(x: Column, y: Column) -> Column:
    """Build a point, a struct of `x` and `y`, from two coordinates; NULL if one of them is NULL."""
    return F.when(x.isNotNull() & y.isNotNull(), F.struct(x.alias("x"), y.alias("y")))


def constant_point(point: Point) -> Column:
    """Convert a constant point of a query to a column."""
    return F.struct(F.lit(point.x + 0.0).alias("x"), F.lit(point.y + 0.0).alias("y"))


def constant_line(line: Line) -> Column:
    """Convert a constant line of a query to a column."""
    return F.array(*map(constant_point, line))


def on_globe(point: Column) -> Column:
    """Whether a point has a valid longitude (-360 to 360 degrees) and latitude (-90 to 90); NULL stays NULL."""
    return (F.abs(point["x"]) <= 360.0) & (F.abs(point["y"]) <= 90.0)


def planar_distance(unit: int, start: Column, end: Column) -> Column:
    """Planar distance in micrometres; `unit` is the micrometres in a coordinate unit; 0 if a point is NULL.

    `unit` is the number of micrometres in one unit of the coordinates.
    """
    dx, dy = end["x"] - start["x"], end["y"] - start["y"]
    length = F.sqrt(dx * dx + dy * dy) * F.lit(float(unit))
    return F.least(F.coalesce(F.rint(length), F.lit(0.0)), F.lit(float(LONGEST_STEP)))


def _segment(start: Column, end: Column) -> Column:
    """Build a struct of both ends of a segment on the ellipsoid, for Arrow functions; NULL if an end is not valid."""
    ends = [start["x"].alias("x1"), start["y"].alias("y1"), end["x"].alias("x2"), end["y"].alias("y2")]
    return F.when(on_globe(start) & on_globe(end), F.struct(*ends))


def _geodesic_lengths(segments: pa.Array) -> pa.Array:
    """Compute the lengths of segments on the ellipsoid in micrometres, on Arrow arrays; NULL stays NULL."""
    return pa.array(
        [None if ends is None else step_length(_GLOBE, ends[:2], ends[2:]) for ends in _coordinates(segments)],
        pa.int64(),
    )


def _azimuths(segments: pa.Array) -> pa.Array:
    """Compute the directions of segments on the ellipsoid, in degrees from north; NULL for segments of length 0.

    Input and output are Arrow arrays.
    """
    return pa.array([None if ends is None else azimuth(*ends) for ends in _coordinates(segments)], pa.float64())


def _coordinates(segments: pa.Array) -> Iterator[tuple[float, float, float, float] | None]:
    """Yield the four coordinates of each segment in an Arrow array of structs; None for NULL."""
    ends = [segments.field(n).to_pylist() for n in range(4)]
    for is_valid, *coordinates in zip(segments.is_valid().to_pylist(), *ends):
        yield tuple(coordinates) if is_valid else None


def _constant_argument(call: Call, position: int) -> int | None:
    """The value of the constant integer argument at index `position`; None for NULL, PlanError if not constant."""
    argument = call.arguments[position]
    if not isinstance(argument, Constant):
        raise PlanError(f"the measure of {call.function.name} is no constant")
    return argument.value if isinstance(argument.value, int) else None


def _micrometres_between(call: Call, arguments: list[Column], first: int, second: int, unit: int) -> Column:
    """The distance in micrometres of arguments `first` and `second` (points); `unit`: micrometres per unit, 0: globe.

    `first` and `second` are the numbers of the arguments.
    """

    def planar(start: Column, end: Column) -> Column:
        """The distance of two points on the plane in micrometres; NULL if one of them is NULL."""
        present = start.isNotNull() & end.isNotNull()
        return F.when(present, planar_distance(unit, start, end).cast("bigint"))

    expressions, columns = (call.arguments[first], call.arguments[second]), [arguments[first], arguments[second]]
    if unit:
        return bind_once(expressions, columns, planar)
    return F.arrow_udf(_geodesic_lengths, "bigint")(bind_once(expressions, columns, _segment))


def _point(call: Call, arguments: list[Column]) -> Column:
    """Compute POINT(x), POINT(x, y) or POINT(x, y, unit); NULL if a part is NULL or, with the unit 0, off the globe."""
    if len(arguments) == 1:
        return bind_once(call.arguments, arguments, lambda x: make_point(x, F.lit(0.0)))
    if len(arguments) == 3 and _constant_argument(call, 2) == 0:
        return bind_once(call.arguments[:2], arguments[:2], _make_point_on_globe)
    return bind_once(call.arguments[:2], arguments[:2], make_point)


def _make_point_on_globe(x: Column, y: Column) -> Column:
    """Build a point from longitude and latitude; NULL if one of them is NULL or out of range."""
    return F.when((F.abs(x) <= 360.0) & (F.abs(y) <= 90.0), F.struct(x.alias("x"), y.alias("y")))


def _distance(call: Call, arguments: list[Column]) -> Column:
    """Compute DISTANCE(point, point, unit), in metres; on the globe if the constant unit is 0."""
    unit = _constant_argument(call, 2)
    if unit is None:
        return null_of(Type.FLOAT)
    return _micrometres_between(call, arguments, 0, 1, unit).cast("double") / F.lit(1e6)


def _within(call: Call, arguments: list[Column]) -> Column:
    """Compute WITHIN: whether the distance of two points is at most the third argument, in micrometres."""
    unit = _constant_argument(call, 3)
    return null_of(Type.BOOLEAN) if unit is None else _micrometres_between(call, arguments, 0, 1, unit) <= arguments[2]


def _speed(call: Call, arguments: list[Column]) -> Column:
    """Compute SPEED(point, tick, point, tick, unit, tick length), in kilometres per hour."""
    unit, length = _constant_argument(call, 4), _constant_argument(call, 5)
    if unit is None or length is None:
        return null_of(Type.FLOAT)
    distance = _micrometres_between(call, arguments, 0, 2, unit)
    ticks = bind_once([call.arguments[1], call.arguments[3]], [arguments[1], arguments[3]], ticks_between)
    return kilometres_per_hour(distance, ticks, length)


def ticks_between(since: Column, until: Column) -> Column:
    """The absolute difference of two ticks, as a decimal, since it may exceed 64 bits."""
    return F.abs(until.cast("decimal(19,0)") - since.cast("decimal(19,0)"))


def kilometres_per_hour(distance: Column, ticks: Column, tick_length: int) -> Column:
    """Compute a speed from micrometres and a number of ticks of `tick_length` microseconds; NULL if `ticks` is 0."""
    scale = str(5 * tick_length)
    time = ticks * F.lit(scale).cast(f"decimal({len(scale)},0)")
    return F.try_divide(
        (distance.cast(DISTANCE_TYPE) * F.lit(18).cast("decimal(2,0)")).cast("double"), time.cast("double")
    )


def _heading(call: Call, arguments: list[Column]) -> Column:
    """Compute HEADING: the direction between two points in degrees from north, 0 to 360; NULL if they are equal."""
    unit = _constant_argument(call, 2)
    if unit is None:
        return null_of(Type.FLOAT)

    if unit == 0:
        return F.arrow_udf(_azimuths, "double")(bind_once(call.arguments[:2], arguments[:2], _segment))

    def heading(start: Column, end: Column) -> Column:
        """The direction on the plane in degrees from north, -180 to 180; NULL if the points are equal."""
        east, north = end["x"] - start["x"], end["y"] - start["y"]
        different = (start["x"] != end["x"]) | (start["y"] != end["y"])
        return F.when(different, F.degrees(F.atan2(east, north)))

    direction = bind_once(call.arguments[:2], arguments[:2], heading)
    return let([direction], lambda angle: F.when(angle < 0, angle + 360.0).otherwise(angle + 0.0))


def _wkt(call: Call, arguments: list[Column]) -> Column:
    """Compute WKT: the well-known text of a point or a line."""
    return wkt(arguments[0], call.arguments[0].type)


def _wkb(call: Call, arguments: list[Column]) -> Column:
    """Compute WKB: the well-known binary of a point or a line, in hexadecimal."""
    return F.arrow_udf(_wkb_texts, "string")(arguments[0])


def _wkb_texts(shapes: pa.Array) -> pa.Array:
    """Encode points or lines of an Arrow array as well-known binary in hexadecimal; NULL stays NULL."""
    texts: list[str | None] = []
    for shape in shapes.to_pylist():
        points = [shape] if isinstance(shape, dict) else shape
        texts.append(None if points is None else wkb([(point["x"], point["y"]) for point in points]))
    return pa.array(texts, pa.string())


def wkt(geometry: Column, kind: Type) -> Column:
    """Format a point or a line (`kind`) as well-known text; a line of one point is written as a point."""
    if kind is Type.POINT:
        return F.concat(F.lit("POINT ("), _coordinate_pair(geometry), F.lit(")"))
    pairs = F.transform(geometry, _coordinate_pair)
    keyword = F.when(F.size(geometry) == 1, F.lit("POINT (")).otherwise(F.lit("LINESTRING ("))
    return F.concat(keyword, F.array_join(pairs, ", "), F.lit(")"))


def _coordinate_pair(point: Column) -> Column:
    """Format a point's coordinates, separated by a space, for well-known text."""
    return F.concat(_coordinate_text(point["x"]), F.lit(" "), _coordinate_text(point["y"]))


def _coordinate_text(number: Column) -> Column:
    """Format a coordinate; an integer has no decimal point. Only values beyond 1e-21 and 1e38 have an exponent."""
    size, text = F.abs(number), (number + 0.0).cast("string")

    def as_decimal(digits: int, scale: int) -> Column:
        """Format the coordinate without exponent, by a cast to decimal(digits, scale); NULL if too large."""
        return text.try_cast(f"decimal({digits},{scale})").try_cast("string")

    plain = (
        F.when((size == 0.0) | ((size >= _PLAIN[0]) & (size < _PLAIN[1])), text)
        .when(size >= _PLAIN[1], F.coalesce(as_decimal(38, 18), as_decimal(38, 0), text))
        .when(size >= _TINY, as_decimal(38, 38))
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
"""Lowerings by function name; a test checks that every spatial function has one."""
