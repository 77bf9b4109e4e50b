"""Read tracks from GPX and GeoJSON files: one row per point.

GPX yields the points of all tracks. GeoJSON yields points with their properties, and the vertices of lines whose
properties list their times (`coordTimes` or `times`); newline-delimited GeoJSON works too.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from xml.etree import ElementTree

from transom.connectors.files.ais import read_ais
from transom.connectors.files.records import FileRecord
from transom.errors import DataError

GPX_COLUMNS = ("time", "lon", "lat", "ele", "track", "segment", "file")
POSITION_COLUMNS = ("lon", "lat", "ele", "file")
"""The columns of every GeoJSON row, besides `id` and the feature's properties."""

_DOCTYPE = re.compile(r"<!\s*(DOCTYPE|ENTITY)", re.IGNORECASE)
_TIMES = ("coordTimes", "times")
_EXAMPLE = "a file is a FeatureCollection of points with times, or of lines with coordTimes"


def read_track(track_format: str, path: str) -> Iterator[FileRecord]:
    """Read a track file (gpx, geojson or ais): yield its column names, and then a record for each point."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", hint="save it as UTF-8", source=path) from error
    return read_track_text(track_format, text, path)


def read_track_text(track_format: str, text: str, path: str) -> Iterator[FileRecord]:
    """Yield the column names of a track file (gpx, geojson or ais), and then a record for each point in its text."""
    match track_format:
        case "ais":
            return read_ais(text, path)
        case "gpx":
            return read_gpx(text, path)
        case _:
            return read_geojson(text, path)


def track_json_lines(track_format: str, text: str, path: str) -> list[str]:
    """Convert a track file's text (`track_format` is gpx, geojson or ais) to one JSON object per point, as text."""
    records = read_track_text(track_format, text, path)
    columns = [str(name) for name in next(records).values]
    return [json.dumps(dict(zip(columns, record.values))) for record in records]


def read_gpx(text: str, path: str) -> Iterator[FileRecord]:
    """Yield the column names of a GPX file, and then a record for each of its track points.

    A track without a name is named by its number.
    """
    if _DOCTYPE.search(text):
        raise DataError("the file declares entities", hint="GPX needs no DOCTYPE", source=path)
    try:
        root = ElementTree.fromstring(text)  # noqa: S314 - without a DOCTYPE, no entity expands
    except ElementTree.ParseError as error:
        raise DataError("the file is not XML", detail=str(error), hint="give a GPX file", source=path) from error
    if _local_name(root.tag) != "gpx":
        raise DataError(f"the file is {_local_name(root.tag)[:30]}, not gpx", hint="give a GPX file", source=path)
    yield FileRecord(0, list[object](GPX_COLUMNS))
    number = 0
    stem = _stem(path)
    for track_number, track in enumerate(_children(root, "trk"), 1):
        name = _text(track, "name") or str(track_number)
        for segment, points in enumerate(_children(track, "trkseg"), 1):
            for point in _children(points, "trkpt"):
                number += 1
                lon, lat = (_number(point.get(key), key, number, path) for key in ("lon", "lat"))
                if lon is None or lat is None:
                    raise DataError(f"point {number}: no lon or no lat", hint="a trkpt has both", source=path)
                ele = _number(_text(point, "ele"), "ele", number, path)
                yield FileRecord(number, [_text(point, "time"), lon, lat, ele, name, segment, stem])


def _local_name(tag: str) -> str:
    """Return the name of an XML element without its namespace: `{http://...}trk` becomes `trk`."""
    return tag.rpartition("}")[2]


def _children(element: ElementTree.Element, name: str) -> Iterator[ElementTree.Element]:
    """Yield the direct children of an XML element that have this name, in any namespace."""
    return (child for child in element if _local_name(child.tag) == name)


def _text(element: ElementTree.Element, name: str) -> str | None:
    """Return the text of an XML element's first child with this name; None if it is absent or empty."""
    child = next(_children(element, name), None)
    return ((child.text or "").strip() or None) if child is not None else None


def _number(text: str | None, name: str, point_number: int, path: str) -> float | None:
    """Parse a track point's number called `name`, such as `lon`; None for None, DataError if it is not a number.

    No text (None) gives None.
    """
    try:
        return None if text is None else float(text)
    except ValueError as error:
        message = f"point {point_number}: {name} is {text[:30]!r}" if text else f"point {point_number}: no {name}"
        raise DataError(message, hint="write a number", source=path) from error


def read_geojson(text: str, path: str) -> Iterator[FileRecord]:
    """Yield the column names of a GeoJSON file, and then a record for each of its points and line vertices.

    Properties that a feature lacks are None.
    """
    rows = [row for feature in _features(text, path) for row in _points(feature, path)]
    stem = _stem(path)
    names: dict[str, None] = dict.fromkeys(POSITION_COLUMNS)
    for row in rows:
        names.update(dict.fromkeys(row))
    if not rows:
        return
    yield FileRecord(0, list[object](names))
    for number, row in enumerate(rows, 1):
        named_values = {**row, "file": stem}
        yield FileRecord(number, [named_values.get(name) for name in names])


def _features(text: str, path: str) -> Iterator[Mapping[str, object]]:
    """Yield the features in a GeoJSON text: a feature, a collection, or several of these, one per line.

    DataError is raised for anything else.
    """
    documents: list[object]
    try:
        documents = [json.loads(text)]
    except (ValueError, RecursionError) as error:
        lines = [line.strip(" \t\r\x1e") for line in text.split("\n")]
        try:
            documents = [json.loads(line) for line in lines if line]
        except (ValueError, RecursionError):
            raise DataError("the file is not JSON", detail=str(error), hint=_EXAMPLE, source=path) from error
    for document in documents:
        match document:
            case {"type": "FeatureCollection", "features": [*features]}:
                yield from (feature for feature in features if isinstance(feature, dict))
            case dict() as feature if feature.get("type") == "Feature":
                yield feature
            case _:
                raise DataError("the file holds no features", hint=_EXAMPLE, source=path)


def _points(feature: Mapping[str, object], path: str) -> Iterator[dict[str, object]]:
    """Yield the rows of a GeoJSON feature, by column name: one for a point, or one per vertex of a line."""
    properties = feature.get("properties")
    attributes = dict(properties) if isinstance(properties, dict) else {}
    if "id" in feature:
        attributes = {"id": feature["id"], **attributes}
    match feature.get("geometry"):
        case {"type": "Point", "coordinates": [*coordinates]}:
            yield attributes | _position(coordinates, path)
        case {"type": "LineString", "coordinates": [*vertices]}:
            yield from _line_points([vertices], attributes, path)
        case {"type": "MultiLineString", "coordinates": [*lines]}:
            yield from _line_points(lines, attributes, path)
        case {"type": str(kind)}:
            raise DataError(f"a {kind[:30]} is no part of a track", hint=_EXAMPLE, source=path)
        case _:
            raise DataError("a feature without a geometry", hint=_EXAMPLE, source=path)


def _line_points(lines: Sequence[object], attributes: dict[str, object], path: str) -> Iterator[dict[str, object]]:
    """Yield a row for each vertex of a GeoJSON feature's lines: position, time and the feature's attributes.

    DataError is raised unless each vertex has a time. `attributes` are the properties of the feature, which also hold
    the times.
    """
    nested = attributes.get("coordinateProperties")
    holder = nested if isinstance(nested, dict) and any(key in nested for key in _TIMES) else attributes
    times = next((holder[key] for key in _TIMES if key in holder), None)
    other_attributes = {key: value for key, value in attributes.items() if key not in (*_TIMES, "coordinateProperties")}
    vertices = [vertex for line in lines if isinstance(line, list) for vertex in line]
    if not isinstance(times, list):
        raise DataError("a line without times", hint="list them in its property coordTimes", source=path)
    vertex_times = [time for part in times for time in (part if isinstance(part, list) else [part])]
    if len(vertex_times) != len(vertices):
        raise DataError(
            f"a line with {len(vertices)} corners and {len(vertex_times)} times", hint=_EXAMPLE, source=path
        )
    for vertex, time in zip_longest(vertices, vertex_times):
        yield other_attributes | _position(vertex, path) | {"time": time}


def _position(coordinates: object, path: str) -> dict[str, object]:
    """Return the columns lon, lat and ele (or None) of GeoJSON coordinates; raise DataError if they are no numbers."""
    match coordinates:
        case [int() | float() as lon, int() | float() as lat, *rest]:
            return {"lon": lon, "lat": lat, "ele": rest[0] if rest else None}
        case _:
            raise DataError("a place that is no list of two numbers", hint=_EXAMPLE, source=path)


def _stem(path: str) -> str:
    """Return a file's name without folder and extension, for the column `file` of track files."""
    return os.path.splitext(os.path.basename(path))[0]
