"""A map as a web page: with a time slider, zoom and pan, all in the page itself."""

from __future__ import annotations

import json
from importlib.resources import files

from transom.model.time import Calendar
from transom.picture.map.chart import is_dense, map_clock
from transom.picture.map.colours import Colour, TrackColours
from transom.picture.map.content import MapContent
from transom.picture.map.frame import MapFrame
from transom.picture.svg import escape, number


def html_page(svg: str, content: MapContent, frame: MapFrame, calendar: Calendar, colour: Colour, title: str) -> str:
    """Build a self-contained HTML page that shows the SVG of a map, with a time slider, zoom and pan.

    It works with the keyboard too.
    """
    template = files("transom.picture.map").joinpath("page.html").read_text("utf-8")
    data = json.dumps(_slider_data(content, frame, calendar, colour), separators=(",", ":"), ensure_ascii=True)
    parts = {
        "title": escape(title or "map"),
        "svg": svg,
        "last": str(max(len(content.stops) - 1, 0)),
        "data": data.replace("<", "\\u003c"),
    }
    before, *rest = template.split("{{")
    page = [before]
    for piece in rest:
        name, _, text = piece.partition("}}")
        page += [parts[name], text]
    return "".join(page)


def _slider_data(content: MapContent, frame: MapFrame, calendar: Calendar, colour: Colour) -> dict[str, object]:
    """Return the data of the map's time slider by name: its stops, their times, and the tracks in pixels.

    A row has its pixel, its colour and the stops at which windows hold it.
    """
    clock, colours = map_clock(content, calendar), TrackColours.of(content, calendar, colour)
    tracks = []
    for index, track in enumerate(content.tracks):
        pixels = [[float(number(x)), float(number(y))] for x, y in frame.pixels(track.points)]
        tracks.append(
            {
                "ticks": [point.tick for point in track.points],
                "pixels": pixels,
                "colours": colours.of_points(index, track),
                "held": [point.held for point in track.points],
            }
        )
    return {
        "stops": content.stops,
        "times": [clock.full(stop) for stop in content.stops],
        "faint": 0.45 if content.windows else 0.9,
        "dense": is_dense(content),
        "tracks": tracks,
    }
