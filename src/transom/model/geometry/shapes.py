"""Parse regions from WKT and GeoJSON polygons and multipolygons; coordinates after the second are ignored."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from transom.model.geometry.regions import Polygon, Region, Ring

Item = TypeVar("Item")

_TOKEN = re.compile(r"\s*(?:(?P<word>[A-Za-z]+)|(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<sign>[(),]))")
_SRID = re.compile(r"\s*SRID\s*=\s*\d+\s*;", re.IGNORECASE)
_NAMES = ("name", "NAME", "Name", "id", "title")
"""Properties that name a feature, besides its id."""


class ShapeProblem(ValueError):
    """Malformed input for a region; `start` and `end` are offsets in the text, if known."""

    def __init__(self, message: str, start: int | None = None, end: int | None = None) -> None:
        """Create the error; `start` and `end` are the offsets of the malformed text, or None if unknown."""
        super().__init__(message)
        self.start = start
        self.end = end


def from_wkt(name: str, text: str, geodesic: bool = False) -> Region:
    """Parse a region from a WKT POLYGON or MULTIPOLYGON; in longitude and latitude if `geodesic`, else on a plane.

    With `geodesic`, coordinates are longitude and latitude, otherwise they are on the plane.

    >>> from_wkt("zone", "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))").covers(10, 5)
    True
    """
    return _region(name, _WktReader(text).polygons(), geodesic)


def from_geojson(name: str, data: object, geodesic: bool = True, feature: str | None = None) -> Region:
    """Build a region from parsed GeoJSON (only features named `feature`); lon/lat if `geodesic`, else plane.

    With `geodesic`, coordinates are longitude and latitude, otherwise they are on the plane.
    """
    return _region(name, tuple(_polygons(data, feature)), geodesic)


def _region(name: str, polygons: tuple[Polygon, ...], geodesic: bool) -> Region:
    """Build a region from polygons, on the globe if `geodesic`, else the plane; raise ShapeProblem if it is invalid."""
    try:
        return Region(name, polygons, geodesic)
    except ValueError as error:
        raise ShapeProblem(str(error)) from error


class _WktReader:
    """Recursive-descent parser of WKT."""

    def __init__(self, text: str) -> None:
        """Start reading well-known text at its beginning, or after an SRID prefix."""
        head = _SRID.match(text)
        self.text = text
        self.offset = head.end() if head else 0

    def polygons(self) -> tuple[Polygon, ...]:
        """Parse the well-known text to its end and return its polygons; raise ShapeProblem if it is malformed."""
        kind = self._take("word", "POLYGON or MULTIPOLYGON").upper()
        if kind not in ("POLYGON", "MULTIPOLYGON"):
            raise ShapeProblem(f"expected POLYGON or MULTIPOLYGON, not {kind}", self.offset - len(kind), self.offset)
        while (token := self._peek()) and token.lastgroup == "word":
            if token["word"].upper() == "EMPTY":
                raise ShapeProblem("an empty region", token.start("word"), token.end())
            if token["word"].upper() not in ("Z", "M", "ZM"):
                raise ShapeProblem(f"did not expect {token['word']}", token.start("word"), token.end())
            self.offset = token.end()
        polygons = (self._polygon(),) if kind == "POLYGON" else tuple(self._parse_list(self._polygon))
        remainder = self.text[self.offset :].strip()
        if remainder:
            raise ShapeProblem(
                f"did not expect {remainder[:20]!r}", self.text.index(remainder, self.offset), len(self.text.rstrip())
            )
        return polygons

    def _polygon(self) -> Polygon:
        """Parse a polygon of well-known text: rings in parentheses, each a list of points."""
        return tuple(self._parse_list(lambda: tuple(self._parse_list(self._point))))

    def _point(self) -> tuple[float, float]:
        """Parse a point of well-known text; coordinates after the second are ignored."""
        numbers = [float(self._take("number", "a number")), float(self._take("number", "a number"))]
        while (token := self._peek()) and token.lastgroup == "number":
            self.offset = token.end()
        return numbers[0], numbers[1]

    def _parse_list(self, parse_item: Callable[[], Item]) -> list[Item]:
        """Parse a list in parentheses, separated by commas, and call `parse_item` for each item."""
        self._take_sign("(")
        items = [parse_item()]
        while (token := self._peek()) and token["sign"] == ",":
            self.offset = token.end()
            items.append(parse_item())
        self._take_sign(")")
        return items

    def _peek(self) -> re.Match[str] | None:
        """Return the next token without consuming it; None at the end of the text or at an invalid character."""
        return _TOKEN.match(self.text, self.offset)

    def _take(self, kind: str, expected: str) -> str:
        """Consume a token of a kind (word or number) and return its text; an error would name `expected`."""
        token = self._peek()
        if token is None or token.lastgroup != kind:
            raise self._unexpected(expected, token)
        self.offset = token.end()
        return token[kind]

    def _take_sign(self, sign: str) -> None:
        """Consume the parenthesis or comma `sign`; raise ShapeProblem if another token comes next."""
        token = self._peek()
        if token is None or token["sign"] != sign:
            raise self._unexpected(", or )" if sign == ")" else sign, token)
        self.offset = token.end()

    def _unexpected(self, expected: str, token: re.Match[str] | None) -> ShapeProblem:
        """Build the error that `expected` was expected instead of this token (None: the end of the text)."""
        if token is None:
            remainder = self.text[self.offset :].lstrip()
            start = len(self.text) - len(remainder)
            actual = repr(remainder[:1]) if remainder else "the end"
            return ShapeProblem(f"expected {expected}, not {actual}", start - (not remainder), start + bool(remainder))
        start = token.start(str(token.lastgroup))
        return ShapeProblem(f"expected {expected}, not {token[str(token.lastgroup)]!r}", start, token.end())


def _polygons(data: object, feature: str | None) -> Iterator[Polygon]:
    """Yield the polygons in parsed GeoJSON; with `feature`, only those of features that have this name or id."""
    match data:
        case {"type": "FeatureCollection", "features": [*features]}:
            selected = [item for item in features if feature is None or feature in _feature_names(item)]
            if not selected:
                names_in_file = [names[0] for names in map(_feature_names, features) if names]
                choices = f"; there are {', '.join(names_in_file[:12])}" if names_in_file else ""
                raise ShapeProblem(f"no feature is called {feature!r}{choices}" if feature else "there is no feature")
            for item in selected:
                yield from _polygons(item, None)
        case {"type": "Feature", "geometry": geometry}:
            if feature is not None and feature not in _feature_names(data):
                raise ShapeProblem(f"the feature is not called {feature!r}")
            yield from _polygons(geometry, None)
        case {"type": "GeometryCollection", "geometries": [*geometries]}:
            for geometry in geometries:
                yield from _polygons(geometry, None)
        case {"type": "Polygon", "coordinates": coordinates}:
            yield _polygon(coordinates)
        case {"type": "MultiPolygon", "coordinates": [*polygons]}:
            yield from map(_polygon, polygons)
        case {"type": str(kind)}:
            raise ShapeProblem(f"a region is made of polygons, not of a {kind[:30]}")
        case _:
            raise ShapeProblem("expected GeoJSON: a geometry, a feature or features")


def _feature_names(feature: object) -> list[str]:
    """Return the names by which a catalog can select a GeoJSON feature: its id, and properties such as `name`."""
    if not isinstance(feature, Mapping):
        return []
    properties = feature.get("properties")
    candidates = [feature.get("id")]
    candidates += [properties.get(key) for key in _NAMES] if isinstance(properties, Mapping) else []
    return [str(name) for name in candidates if isinstance(name, str | int)]


def _polygon(coordinates: object) -> Polygon:
    """Convert the GeoJSON coordinates of a polygon, a list of rings; raise ShapeProblem if they are malformed."""
    if not isinstance(coordinates, Sequence) or isinstance(coordinates, str) or not coordinates:
        raise ShapeProblem("a polygon is a list of rings")
    return tuple(map(_ring, coordinates))


def _ring(coordinates: object) -> Ring:
    """Convert the GeoJSON coordinates of a ring, a list of points; raise ShapeProblem if they are malformed."""
    if not isinstance(coordinates, Sequence) or isinstance(coordinates, str):
        raise ShapeProblem("a ring is a list of points")
    return tuple(map(_point, coordinates))


def _point(coordinates: object) -> tuple[float, float]:
    """Convert the GeoJSON coordinates of a point to (x, y); raise ShapeProblem if they are malformed.

    Numbers after the second are ignored.
    """
    match coordinates:
        case [int() | float() as x, int() | float() as y, *_] if not isinstance(x, bool) and not isinstance(y, bool):
            try:
                return float(x), float(y)
            except OverflowError as error:
                raise ShapeProblem("a coordinate is too large") from error
        case _:
            raise ShapeProblem("a point is a list of two numbers")
