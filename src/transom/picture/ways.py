"""What a map shows: the ways of objects, the window in force at a tick, the marks at which it slid, and regions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from transom.algebra.operator import Plan
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.streams import WithoutJumps
from transom.algebra.tree import walk
from transom.algebra.windows import Coordinate, Every, Inside, Window, measured, parts
from transom.catalog.extents import Extent
from transom.errors import UsageError
from transom.model.bag import Element
from transom.model.regions import Polygon, Region
from transom.model.space import Position, step
from transom.model.types import Value
from transom.reference.evaluate import evaluate_stream
from transom.reference.sources import Inputs
from transom.reference.streams import without_jumps
from transom.reference.windows import Stand, is_in, lineages, slide_events

_NEED = "add position: {lon: lon, lat: lat} or position: {x: x, y: y} to the catalog"


@dataclass(frozen=True, slots=True)
class Spot:
    """One row of an object: when, where, how far it had gone, and whether the window in force holds it."""

    tick: int
    x: float
    y: float
    distance: int
    held: bool


@dataclass(frozen=True, slots=True)
class Way:
    """The rows of one object that have a place, in their order; those beyond its speed limit are `rejected`."""

    extent: str
    name: str
    spots: tuple[Spot, ...]
    rejected: tuple[Spot, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a window by distance slid: at which mark, and where the object was then."""

    tick: int
    x: float
    y: float
    words: str


@dataclass(frozen=True, slots=True)
class Land:
    """A region as it is drawn; `asked` if the query names it."""

    name: str
    polygons: tuple[Polygon, ...]
    asked: bool


@dataclass(frozen=True, slots=True)
class Ways:
    """All that a map shows; on a `line`, the second coordinate is the tick."""

    ways: tuple[Way, ...]
    marks: tuple[Mark, ...]
    lands: tuple[Land, ...]
    at: int
    windows: tuple[str, ...]
    geodesic: bool
    line: bool


def gather(
    plan: Plan, inputs: Inputs, extents: Sequence[Extent], regions: Mapping[str, Region], at: int | None = None
) -> Ways:
    """What a map of a query shows at a tick, by default the last one; UsageError if nothing of it has a place."""
    moving = {extent.name: extent for extent in extents if extent.position is not None}
    kinds = {(extent.position.geodesic, extent.position.y is None) for extent in moving.values() if extent.position}
    if not moving:
        raise UsageError("nothing that the query reads has a position", hint=_NEED)
    if len(kinds) > 1:
        raise UsageError("the query reads positions on the plane and on the earth", hint="draw a map of each alone")
    [(geodesic, line)] = kinds
    now = inputs.until if at is None else min(at, inputs.until)
    held: dict[str, set[tuple[int, int]]] = {}
    marks: list[Mark] = []
    asked: set[str] = set()
    words: list[str] = []
    for op in walk(plan):
        if not isinstance(op, Window) or isinstance(op.input, StoredTable):
            continue
        asked |= {part.region.name for part in parts(op.range) if isinstance(part, Inside)}
        sources = {one.extent for one in walk(op.input) if isinstance(one, StreamAcquire | StreamReceive)}
        extent = moving.get(next(iter(sources))) if len(sources) == 1 else None
        if extent is None:
            continue
        words.append(f"{extent.name}: {op.range}, {op.slide}")
        for _, lineage in lineages(op, evaluate_stream(op.input, inputs)):
            events = [event for event in slide_events(op, lineage, inputs) if event[0] <= now]
            if events:
                current = [e.element for e in lineage if is_in(op.range, e, events[-1][1])]
                held.setdefault(extent.name, set()).update((e.tick, e.index) for e in current)
            if isinstance(op.slide, Every) and op.slide.coordinate is Coordinate.DISTANCE:
                marks += _marks(lineage, [(tick, where[Coordinate.DISTANCE]) for tick, where in events], line)
    jumps = _jumps(plan, inputs)
    ways = [
        way
        for name, extent in moving.items()
        for way in _ways(extent, inputs, held.get(name, set()), jumps.get(name, set()), now)
    ]
    shown = [region for region in regions.values() if region.geodesic == geodesic and not line]
    lands = tuple(Land(region.name, region.laid, region.name in asked) for region in shown)
    return Ways(tuple(ways), tuple(marks), lands, now, tuple(dict.fromkeys(words)), geodesic, line)


def _marks(lineage: Sequence[Stand], events: Iterable[tuple[int, int]], line: bool) -> Iterator[Mark]:
    for tick, distance in events:
        places = [e.place for e in lineage if e.place is not None and e.at[Coordinate.TICK] <= tick]
        if places:
            words = f"{measured(Coordinate.DISTANCE, distance)} at tick {tick}"
            yield Mark(tick, places[-1][0], tick if line else places[-1][1], words)


def _jumps(plan: Plan, inputs: Inputs) -> dict[str, set[tuple[int, int]]]:
    """The rows that the query rejects because no object can have got there in time, by extent."""
    found: dict[str, set[tuple[int, int]]] = {}
    for op in walk(plan):
        if isinstance(op, WithoutJumps) and isinstance(op.input, StreamAcquire | StreamReceive):
            _, rejected = without_jumps(op, evaluate_stream(op.input, inputs))
            found.setdefault(op.input.extent, set()).update((e.tick, e.index) for e in rejected)
    return found


def _ways(
    extent: Extent, inputs: Inputs, held: set[tuple[int, int]], jumps: set[tuple[int, int]], now: int
) -> Iterator[Way]:
    assert extent.position is not None  # noqa: S101 - only such extents are asked for
    position = extent.position
    columns = [extent.names.index(name) for name in (position.x, position.y) if name is not None]
    key = extent.names.index(extent.object) if extent.object is not None else None
    objects: dict[Value, list[Element]] = {}
    for element in inputs.delivered(extent.name):
        if element.tick <= now:
            objects.setdefault(None if key is None else element.row[key], []).append(element)
    for name, elements in objects.items():
        kept = [element for element in elements if (element.tick, element.index) not in jumps]
        spots = tuple(_spots(position, columns, kept, held))
        others = [element for element in elements if (element.tick, element.index) in jumps]
        rejected = tuple(_spots(position, columns, others, set()))
        if spots:
            yield Way(extent.name, extent.name if key is None else str(name), spots, rejected)


def _spots(
    position: Position, columns: Sequence[int], elements: Sequence[Element], held: set[tuple[int, int]]
) -> Iterator[Spot]:
    before: tuple[float, float] | None = None
    distance = 0
    for element in elements:
        place = position.place(*(element.row[column] for column in columns))
        if place is None:
            continue
        distance += step(position, before, place) if before is not None else 0
        before = place
        y = place[1] if position.y is not None else float(element.tick)
        yield Spot(element.tick, place[0], y, distance, (element.tick, element.index) in held)
