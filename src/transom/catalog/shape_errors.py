"""What pydantic says about the shape of a catalog, in our words."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from transom.catalog.places import At, Misfit
from transom.catalog.shapes import UnknownEntry
from transom.catalog.wording import did_you_mean, kind_meant, show

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
    "values": "write choice: [a, b]",
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
    "polygon": "write a list of places such as [[0, 0], [10, 0], [10, 10]]",
    "geojson": "write {type: Polygon, coordinates: [...]}",
}


def first_misfit(error: ValidationError) -> Misfit:
    """The first thing that pydantic found, as a Misfit at its place."""
    found = error.errors(include_url=False)[0]
    path = tuple(part for part in found["loc"] if part != "[key]")
    at = At(path)
    name = str(path[-1]) if path else ""
    given = found["input"]
    context: Mapping[str, object] = found.get("ctx", {})
    kind = found["type"]
    inner = context.get("error")
    if isinstance(inner, UnknownEntry):
        return Misfit(str(inner), at.then(inner.key).at_key(), inner.hint)
    if kind == "missing":
        return Misfit(f"{name} is missing", At(path[:-1]).at_key(), _HINTS.get(name, f"add {name}"))
    if kind == "literal_error":
        expected = str(context.get("expected", "")).replace("'", "")
        choices = expected.replace(" or ", ", ").split(", ")
        hint = _HINTS.get(name, f"write {name}: {choices[0]}")
        if isinstance(given, str):
            hint = (kind_meant if name == "kind" else did_you_mean)(given, choices) or hint
        return Misfit(f"expected {expected}, not {show(given)}", at, hint)
    for limit, words in (("ge", "at least"), ("le", "at most")):
        if limit in context:
            bound = context[limit]
            shown = f"{bound:g}" if isinstance(bound, float) else str(bound)
            return Misfit(f"expected {words} {shown}, not {show(given)}", at, f"write {shown} or {_OR[limit]}")
    expected = _EXPECTED.get(kind, "something else")
    return Misfit(f"expected {expected}, not {show(given)}", at, _HINTS.get(name, f"write {expected} here"))
