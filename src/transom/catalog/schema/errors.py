"""Translate pydantic's validation errors into EntryErrors."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.wording import did_you_mean, display_value, suggest_kind
from transom.catalog.schema.entry import UnknownEntry

_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "list_type": "a list",
    "dict_type": "entries",
    "model_type": "entries",
    "too_short": "at least one value",
}
_OR = {"ge": "more", "le": "less"}
_WALK = "write walk: {start: 20, step: 0.5}"
_SINE = "write sine: {mean: 15, amplitude: 10, period: 1 d}"
_HINTS = {
    "start": _WALK,
    "step": _WALK,
    "mean": _SINE,
    "amplitude": _SINE,
    "values": "write choice: {values: [a, b], weights: [1, 2]}",
    "weights": "write one number for each of the values, such as [4, 1]",
    "generate": "write generate: {seed: 7, attributes: {...}}",
    "tick": "write a length of time such as 1 s",
    "every": "write a length of time such as 1 min",
    "period": "write a length of time such as 1 d",
    "from": "write a length of time such as 10 min",
    "to": "write a length of time such as 20 min",
    "rate": "write a rate such as 20 per min",
    "poisson": "write a rate such as 12 per min",
    "sites": "write a list such as [1, 2, 3]",
    "order": "write a list such as [site]",
    "gaps": "write a chance such as 0.05, or [{from: 10 min, to: 20 min}]",
    "arrivals": "write {poisson: 12 per min} or {every: 5 s}",
    "source": "write {files: data/road.csv}",
    "extents": "write road: sensed (site:integer, temp:integer) under extents",
    "clock": "write clock: true",
    "position": "write {x: x, y: y, unit: m} or {lon: lon, lat: lat}",
    "max_speed": "write a speed such as 200 km/h",
    "max_dwell": "write a length of time such as 1 h",
    "forget_after": "write a length of time such as 1 d",
    "regions": "write Zone: {polygon: [[0, 0], [10, 0], [10, 10]]} under regions",
    "polygon": "write a list of points such as [[0, 0], [10, 0], [10, 10]]",
    "geojson": "write {type: Polygon, coordinates: [...]}",
}


def first_entry_error(error: ValidationError) -> EntryError:
    """Convert the first error of a pydantic validation to an EntryError at its location."""
    pydantic_error = error.errors(include_url=False)[0]
    path = tuple(part for part in pydantic_error["loc"] if part != "[key]")
    at = Location(path)
    name = str(path[-1]) if path else ""
    value = pydantic_error["input"]
    context: Mapping[str, object] = pydantic_error.get("ctx", {})
    kind = pydantic_error["type"]
    cause = context.get("error")
    if isinstance(cause, UnknownEntry):
        return EntryError(str(cause), at.then(cause.key).at_key(), cause.hint)
    if kind == "missing":
        return EntryError(f"{name} is missing", Location(path[:-1]).at_key(), _HINTS.get(name, f"add {name}"))
    if kind == "literal_error":
        expected = str(context.get("expected", "")).replace("'", "")
        choices = expected.replace(" or ", ", ").split(", ")
        hint = _HINTS.get(name, f"write {name}: {choices[0]}")
        if isinstance(value, str):
            hint = (suggest_kind if name == "kind" else did_you_mean)(value, choices) or hint
        return EntryError(f"expected {expected}, not {display_value(value)}", at, hint)
    for limit, comparison in (("ge", "at least"), ("le", "at most")):
        if limit in context:
            bound = context[limit]
            shown = f"{bound:g}" if isinstance(bound, float) else str(bound)
            return EntryError(
                f"expected {comparison} {shown}, not {display_value(value)}", at, f"write {shown} or {_OR[limit]}"
            )
    expected = _EXPECTED.get(kind, "something else")
    return EntryError(
        f"expected {expected}, not {display_value(value)}", at, _HINTS.get(name, f"write {expected} here")
    )
