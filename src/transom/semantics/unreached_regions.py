"""Regions of a query that no row comes near, as if longitude and latitude were swapped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from transom.algebra.expressions.expression import InRegion, columns_read
from transom.algebra.operator import Operator
from transom.algebra.sources import StreamAcquire, StreamReceive
from transom.algebra.tree import expressions_of, walk
from transom.algebra.windows import RegionRange, Window, range_parts
from transom.catalog.extent import Extent
from transom.model.bag import Element
from transom.model.geometry.grid import BoundingBox
from transom.model.geometry.regions import Region


def unreached_regions(
    plan: Operator, extents: Mapping[str, Extent], streams: Mapping[str, Sequence[Element]]
) -> Iterator[str]:
    """Yield a warning for each region of a plan whose bounding box contains no row of the streams that it is about.

    `extents` and `streams` have the declarations and the rows by name. Streams without a position say nothing.
    """
    seen = set()
    for op in walk(plan):
        for region, columns in _regions_of(op):
            leaves = {leaf.extent for leaf in walk(op) if isinstance(leaf, StreamAcquire | StreamReceive)}
            names = sorted(name for name in leaves if _position_columns(extents[name]) == columns)
            points = [point for name in names for point in _points(extents[name], streams.get(name, ()))]
            key = (region.name, *names)
            if points and key not in seen and not any(region.box_covers(*point) for point in points):
                yield _warning(region, " or ".join(names), extents[names[0]], points)
            seen.add(key)


def _regions_of(op: Operator) -> Iterator[tuple[Region, set[str]]]:
    """Yield each region that an operator tests, with the names of the columns whose position it tests."""
    if isinstance(op, Window) and op.position is not None:
        columns = {name for name in (op.position.x, op.position.y) if name is not None}
        yield from ((part.region, columns) for part in range_parts(op.range) if isinstance(part, RegionRange))
    for expression in expressions_of(op):
        if isinstance(expression, InRegion):
            yield expression.region, {column.name for column in columns_read(expression.point)}


def _position_columns(extent: Extent) -> set[str]:
    """Return the names of the attributes that hold the position of an extent's rows; none if it has no position."""
    position = extent.position
    return set() if position is None else {name for name in (position.x, position.y) if name is not None}


def _points(extent: Extent, elements: Sequence[Element]) -> Iterator[tuple[float, float]]:
    """Yield the positions of a stream's rows; rows without a position are left out."""
    position = extent.position
    if position is None:
        return
    x, y = extent.names.index(position.x), None if position.y is None else extent.names.index(position.y)
    for element in elements:
        point = position.point(element.row[x], 0 if y is None else element.row[y])
        if point is not None:
            yield point


def _warning(region: Region, name: str, extent: Extent, points: Sequence[tuple[float, float]]) -> str:
    """Write the warning with the bounding boxes of a region and of the rows; it asks about swapped coordinates."""
    axes = ("lon", "lat") if region.geodesic else ("x", "y")
    text = (
        f"no row of {name} lies in the bounding box of {region.name} ({_spans(region.box, axes)}); "
        f"the rows span {_spans(BoundingBox.around(points), axes)}"
    )
    is_swapped = extent.position is not None and extent.position.y is not None
    if is_swapped and any(region.box_covers(y, x) for x, y in points):
        return f"{text}: are {' and '.join(axes)} swapped?"
    return text


def _spans(box: BoundingBox, axes: tuple[str, str]) -> str:
    """Write a bounding box as the spans of its two axes, such as `lon 5.1 to 5.13, lat 52.07 to 52.12`."""
    return f"{axes[0]} {box.left:.6g} to {box.right:.6g}, {axes[1]} {box.bottom:.6g} to {box.top:.6g}"
