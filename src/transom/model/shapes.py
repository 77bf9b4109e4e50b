"""Regions from WKT and from GeoJSON: polygons and multipolygons; further coordinates than two are passed over."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from transom.model.regions import Polygon, Region, Ring

T = TypeVar("T")

_TOKEN = re.compile(r"\s*(?:(?P<word>[A-Za-z]+)|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<sign>[(),]))")
_SRID = re.compile(r"\s*SRID\s*=\s*\d+\s*;", re.IGNORECASE)
_NAMES = ("name", "NAME", "Name", "id", "title")
"""The properties of a feature by which it can be chosen, besides its id."""


class ShapeProblem(ValueError):
    """A text that is no region; `start` and `end` are where, if the place is known."""

    def __init__(self, message: str, start: int | None = None, end: int | None = None) -> None:
        super().__init__(message)
        self.start = start
        self.end = end


def from_wkt(name: str, text: str, geodesic: bool = False) -> Region:
    """The region in well-known text: POLYGON or MULTIPOLYGON, also with Z or M or an SRID in front.

    >>> from_wkt("zone", "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))").covers(10, 5)
    True
    """
    return _region(name, _Reader(text).polygons(), geodesic)


def from_geojson(name: str, data: object, geodesic: bool = True, feature: str | None = None) -> Region:
    """The region in GeoJSON: a geometry, a feature, or features, all of them or the ones called `feature`."""
    return _region(name, tuple(_shapes(data, feature)), geodesic)


def _region(name: str, polygons: tuple[Polygon, ...], geodesic: bool) -> Region:
    try:
        return Region(name, polygons, geodesic)
    except ValueError as error:
        raise ShapeProblem(str(error)) from error


class _Reader:
    """The words of a WKT text, taken one by one."""

    def __init__(self, text: str) -> None:
        head = _SRID.match(text)
        self.text = text
        self.at = head.end() if head else 0

    def polygons(self) -> tuple[Polygon, ...]:
        """All that the text holds."""
        kind = self._take("word", "POLYGON or MULTIPOLYGON").upper()
        if kind not in ("POLYGON", "MULTIPOLYGON"):
            raise ShapeProblem(f"expected POLYGON or MULTIPOLYGON, not {kind}", self.at - len(kind), self.at)
        while (found := self._peek()) and found.lastgroup == "word":
            if found["word"].upper() == "EMPTY":
                raise ShapeProblem("an empty region", found.start("word"), found.end())
            if found["word"].upper() not in ("Z", "M", "ZM"):
                raise ShapeProblem(f"did not expect {found['word']}", found.start("word"), found.end())
            self.at = found.end()
        polygons = (self._polygon(),) if kind == "POLYGON" else tuple(self._listed(self._polygon))
        rest = self.text[self.at :].strip()
        if rest:
            raise ShapeProblem(f"did not expect {rest[:20]!r}", self.text.index(rest, self.at), len(self.text.rstrip()))
        return polygons

    def _polygon(self) -> Polygon:
        return tuple(self._listed(lambda: tuple(self._listed(self._place))))

    def _place(self) -> tuple[float, float]:
        numbers = [float(self._take("number", "a number")), float(self._take("number", "a number"))]
        while (found := self._peek()) and found.lastgroup == "number":
            self.at = found.end()
        return numbers[0], numbers[1]

    def _listed(self, item: Callable[[], T]) -> list[T]:
        self._sign("(")
        items = [item()]
        while (found := self._peek()) and found["sign"] == ",":
            self.at = found.end()
            items.append(item())
        self._sign(")")
        return items

    def _peek(self) -> re.Match[str] | None:
        return _TOKEN.match(self.text, self.at)

    def _take(self, kind: str, expected: str) -> str:
        found = self._peek()
        if found is None or found.lastgroup != kind:
            raise self._unexpected(expected, found)
        self.at = found.end()
        return found[kind]

    def _sign(self, sign: str) -> None:
        found = self._peek()
        if found is None or found["sign"] != sign:
            raise self._unexpected(", or )" if sign == ")" else sign, found)
        self.at = found.end()

    def _unexpected(self, expected: str, found: re.Match[str] | None) -> ShapeProblem:
        if found is None:
            rest = self.text[self.at :].lstrip()
            start = len(self.text) - len(rest)
            words = repr(rest[:1]) if rest else "the end"
            return ShapeProblem(f"expected {expected}, not {words}", start - (not rest), start + bool(rest))
        start = found.start(str(found.lastgroup))
        return ShapeProblem(f"expected {expected}, not {found[str(found.lastgroup)]!r}", start, found.end())


def _shapes(data: object, feature: str | None) -> Iterator[Polygon]:
    match data:
        case {"type": "FeatureCollection", "features": [*features]}:
            chosen = [one for one in features if feature is None or feature in _called(one)]
            if not chosen:
                known = [names[0] for names in map(_called, features) if names]
                listed = f"; there are {', '.join(known[:12])}" if known else ""
                raise ShapeProblem(f"no feature is called {feature!r}{listed}" if feature else "there is no feature")
            for one in chosen:
                yield from _shapes(one, None)
        case {"type": "Feature", "geometry": geometry}:
            if feature is not None and feature not in _called(data):
                raise ShapeProblem(f"the feature is not called {feature!r}")
            yield from _shapes(geometry, None)
        case {"type": "GeometryCollection", "geometries": [*geometries]}:
            for geometry in geometries:
                yield from _shapes(geometry, None)
        case {"type": "Polygon", "coordinates": coordinates}:
            yield _polygon(coordinates)
        case {"type": "MultiPolygon", "coordinates": [*polygons]}:
            yield from map(_polygon, polygons)
        case {"type": str(kind)}:
            raise ShapeProblem(f"a region is made of polygons, not of a {kind[:30]}")
        case _:
            raise ShapeProblem("expected GeoJSON: a geometry, a feature or features")


def _called(feature: object) -> list[str]:
    """The names of a feature: its own id, and properties that name it."""
    if not isinstance(feature, Mapping):
        return []
    properties = feature.get("properties")
    given = [feature.get("id")]
    given += [properties.get(key) for key in _NAMES] if isinstance(properties, Mapping) else []
    return [str(name) for name in given if isinstance(name, str | int)]


def _polygon(coordinates: object) -> Polygon:
    if not isinstance(coordinates, Sequence) or isinstance(coordinates, str) or not coordinates:
        raise ShapeProblem("a polygon is a list of rings")
    return tuple(map(_ring, coordinates))


def _ring(coordinates: object) -> Ring:
    if not isinstance(coordinates, Sequence) or isinstance(coordinates, str):
        raise ShapeProblem("a ring is a list of places")
    return tuple(map(_place, coordinates))


def _place(coordinates: object) -> tuple[float, float]:
    match coordinates:
        case [int() | float() as x, int() | float() as y, *_] if not isinstance(x, bool) and not isinstance(y, bool):
            try:
                return float(x), float(y)
            except OverflowError as error:
                raise ShapeProblem("a coordinate is too large") from error
        case _:
            raise ShapeProblem("a place is a list of two numbers")
