"""What pydantic says about the shape of a catalog, in our words."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from transom.catalog.entries import UnknownEntry
from transom.catalog.places import At, Misfit
from transom.catalog.wording import did_you_mean, show

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
_HINTS = {
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
        return Misfit(f"{name} is missing", At(path[:-1]).at_key(), _HINTS.get(name))
    if kind == "literal_error":
        expected = str(context.get("expected", "")).replace("'", "")
        choices = expected.replace(" or ", ", ").split(", ")
        near = did_you_mean(given, choices) if isinstance(given, str) else _HINTS.get(name)
        return Misfit(f"expected {expected}, not {show(given)}", at, near)
    for limit, words in (("ge", "at least"), ("le", "at most")):
        if limit in context:
            bound = context[limit]
            shown = f"{bound:g}" if isinstance(bound, float) else str(bound)
            return Misfit(f"expected {words} {shown}, not {show(given)}", at)
    return Misfit(f"expected {_EXPECTED.get(kind, 'something else')}, not {show(given)}", at, _HINTS.get(name))
