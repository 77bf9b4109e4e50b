"""A map as GeoJSON: regions as polygons, ways as lines with their times; as points rows of the window and marks."""

from __future__ import annotations

import json
from collections.abc import Iterator

from transom.model.time import Calendar
from transom.picture.ways import Way, Ways


def features(ways: Ways, calendar: Calendar) -> str:
    """A FeatureCollection; on the plane the coordinates are as they are, whatever GeoJSON takes them for."""
    found = [*_lands(ways), *(_way(way, calendar) for way in ways.ways), *_points(ways, calendar)]
    return json.dumps({"type": "FeatureCollection", "features": found}, ensure_ascii=False, indent=1) + "\n"


def _feature(geometry: str, coordinates: object, **properties: object) -> dict[str, object]:
    shape = {"type": geometry, "coordinates": coordinates}
    return {"type": "Feature", "properties": properties, "geometry": shape}


def _lands(ways: Ways) -> Iterator[dict[str, object]]:
    for land in ways.lands:
        yield _feature("MultiPolygon", land.polygons, kind="region", name=land.name)


def _way(way: Way, calendar: Calendar) -> dict[str, object]:
    times = [calendar.instant_of(spot.tick).isoformat() for spot in way.spots]
    places = [[spot.x, spot.y] for spot in way.spots]
    shape, content = ("LineString", places) if len(places) > 1 else ("Point", places[0])
    far = way.spots[-1].distance
    return _feature(shape, content, kind="track", name=way.name, extent=way.extent, metres=far / 1e6, coordTimes=times)


def _points(ways: Ways, calendar: Calendar) -> Iterator[dict[str, object]]:
    for way in ways.ways:
        for spot in way.spots:
            if spot.held:
                time = calendar.instant_of(spot.tick).isoformat()
                yield _feature("Point", [spot.x, spot.y], kind="window", name=way.name, tick=spot.tick, time=time)
        for spot in way.rejected:
            time = calendar.instant_of(spot.tick).isoformat()
            yield _feature("Point", [spot.x, spot.y], kind="rejected", name=way.name, tick=spot.tick, time=time)
    for mark in ways.marks:
        yield _feature("Point", [mark.x, mark.y], kind="mark", name=mark.words, tick=mark.tick)
