"""A map as GeoJSON: regions, timed tracks, window rows, rejected rows, slide marks, and the rows of the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator

from transom.model.answer import show
from transom.model.time import Calendar
from transom.model.types import Value
from transom.picture.map.content import MapContent, Track


def to_geojson(content: MapContent, calendar: Calendar) -> str:
    """Write the tracks, regions, points and answer rows of a map as the text of a GeoJSON FeatureCollection.

    Plane coordinates are written unchanged, although GeoJSON readers expect degrees.
    """
    features = [
        *_region_features(content),
        *(_track_feature(track, calendar) for track in content.tracks),
        *_point_features(content, calendar),
        *_answer_features(content, calendar),
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False, indent=1) + "\n"


def _feature(geometry: str, coordinates: object, **properties: object) -> dict[str, object]:
    """Return a GeoJSON feature with a geometry of this type, such as Point, its coordinates and its properties."""
    shape = {"type": geometry, "coordinates": coordinates}
    return {"type": "Feature", "properties": properties, "geometry": shape}


def _region_features(content: MapContent) -> Iterator[dict[str, object]]:
    """Yield the regions of a map as GeoJSON features of type MultiPolygon."""
    for region in content.regions:
        yield _feature("MultiPolygon", region.polygons, kind="region", name=region.name)


def _track_feature(track: Track, calendar: Calendar) -> dict[str, object]:
    """Convert an object's track to a GeoJSON line with the instants of its points; a single row is a Point."""
    times = [calendar.instant_of(point.tick).isoformat() for point in track.points]
    positions = [[point.x, point.y] for point in track.points]
    geometry, coordinates = ("LineString", positions) if len(positions) > 1 else ("Point", positions[0])
    distance = track.points[-1].distance
    return _feature(
        geometry,
        coordinates,
        kind="track",
        name=track.name,
        extent=track.extent,
        metres=distance / 1e6,
        coordTimes=times,
    )


def _point_features(content: MapContent, calendar: Calendar) -> Iterator[dict[str, object]]:
    """Yield the rows in the window, the rejected rows and the slide marks of a map as GeoJSON points."""
    for track in content.tracks:
        for point in track.points:
            if point.in_window:
                time = calendar.instant_of(point.tick).isoformat()
                yield _feature("Point", [point.x, point.y], kind="window", name=track.name, tick=point.tick, time=time)
        for point in track.rejected:
            time = calendar.instant_of(point.tick).isoformat()
            yield _feature("Point", [point.x, point.y], kind="rejected", name=track.name, tick=point.tick, time=time)
    for mark in content.marks:
        yield _feature("Point", [mark.x, mark.y], kind="mark", name=mark.label, tick=mark.tick)


def _answer_features(content: MapContent, calendar: Calendar) -> Iterator[dict[str, object]]:
    """Yield the answer rows as GeoJSON features, with a point per object, or no geometry without a position.

    A row that the answer repeats is one feature with its last tick, its first one and how often it occurs.
    """
    for row in content.answers:
        points = [[x, y] for x, y in row.positions]
        geometry: dict[str, object] | None = {"type": "MultiPoint", "coordinates": points} if len(points) > 1 else None
        if len(points) == 1:
            geometry = {"type": "Point", "coordinates": points[0]}
        tick = row.ticks[-1]
        properties = {
            "kind": "answer",
            "name": ", ".join(row.names),
            "tick": tick,
            "time": calendar.instant_of(tick).isoformat(),
            "first_tick": row.ticks[0],
            "count": len(row.ticks),
            "latest": row.is_current,
            "values": {name: _json_value(value) for name, value in row.values},
        }
        yield {"type": "Feature", "properties": properties, "geometry": geometry}


def _json_value(value: Value) -> object:
    """Convert a value for JSON: numbers, booleans and NULL are unchanged, others become text."""
    return value if value is None or isinstance(value, bool | int | float | str) else show(value)
