"""A map as GeoJSON: regions as polygons, tracks as timed lines, window rows, rejected rows and marks as points."""

from __future__ import annotations

import json
from collections.abc import Iterator

from transom.model.time import Calendar
from transom.picture.map.tracks import MapContent, Track


def to_geojson(content: MapContent, calendar: Calendar) -> str:
    """Write the tracks, regions and points of a map as the text of a GeoJSON FeatureCollection.

    Plane coordinates are written unchanged, although GeoJSON readers expect degrees.
    """
    features = [
        *_region_features(content),
        *(_track_feature(track, calendar) for track in content.tracks),
        *_point_features(content, calendar),
    ]
    return json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False, indent=1) + "\n"


def _feature(geometry: str, coordinates: object, **properties: object) -> dict[str, object]:
    """A GeoJSON feature with a geometry of this type, such as Point, its coordinates and its properties."""
    shape = {"type": geometry, "coordinates": coordinates}
    return {"type": "Feature", "properties": properties, "geometry": shape}


def _region_features(content: MapContent) -> Iterator[dict[str, object]]:
    """The regions of a map as GeoJSON features of type MultiPolygon."""
    for region in content.regions:
        yield _feature("MultiPolygon", region.polygons, kind="region", name=region.name)


def _track_feature(track: Track, calendar: Calendar) -> dict[str, object]:
    """An object's track as a GeoJSON line with the instants of its points; a Point if it has only one row."""
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
    """The rows in the window, the rejected rows and the slide marks of a map as GeoJSON points."""
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
