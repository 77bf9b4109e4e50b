"""Hints and warnings about positions: functions of PostGIS and Sedona, lengths with units, swapped coordinates."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from transom.errors import NameProblem, TypeProblem
from transom.languages.cql.lengths import metres_of
from transom.languages.sql.dialects import name_span
from transom.languages.sql.select import Remark
from transom.languages.sql.syntax import Binary, FunctionCall, Name, Node, SqlLiteral
from transom.languages.sql.translate import COMPARISONS
from transom.languages.sql.type_messages import shorten
from transom.languages.sql.unparse import unparse
from transom.model.geometry.space import Position

_ST_CALLS = {
    **dict.fromkeys(("ST_DISTANCE", "ST_DISTANCESPHERE", "ST_DISTANCESPHEROID"), "DISTANCE"),
    **dict.fromkeys(("ST_POINT", "ST_MAKEPOINT", "ST_SETSRID"), "POINT"),
    **dict.fromkeys(("ST_ASTEXT", "ST_ASEWKT"), "WKT"),
    **dict.fromkeys(("ST_ASBINARY", "ST_ASEWKB"), "WKB"),
    "ST_X": "X",
    "ST_Y": "Y",
    "ST_AZIMUTH": "HEADING",
    "ST_DWITHIN": "WITHIN",
}
"""Functions of the OGC's standard that take the same arguments here, and their names here."""
_ST_INSIDE = {"ST_WITHIN", "ST_COVEREDBY", "ST_INTERSECTS", "ST_CONTAINS", "ST_COVERS"}
_SOURCE_R = ", where R is the name of a source in FROM"
_ST_TRACKS = {
    **dict.fromkeys(("ST_LENGTH", "ST_LENGTHSPHEROID"), f"write PATHLENGTH(R){_SOURCE_R}, for the length of its path"),
    **dict.fromkeys(
        ("ST_MAKELINE", "ST_LINEFROMMULTIPOINT"), f"write TRAJECTORY(R){_SOURCE_R}, for the path of its rows"
    ),
}
_SPATIAL_FUNCTIONS = "spatial functions are INSIDE, WITHIN, DISTANCE, POINT, X, Y, HEADING, WKT and WKB"
_METRES = {"DISTANCE", "PATHLENGTH"}
_LATITUDES, _LONGITUDES = ("latitude", "lat"), ("longitude", "lon", "lng", "long")


def refuse_standard_function(call: FunctionCall, region_names: Collection[str]) -> None:
    """Raise NameProblem for an ST_ function; its hint has the call to write, whose region is one of `region_names`.

    `region_names` are the declared regions. Other calls are accepted.
    """
    if not call.name.startswith("ST_"):
        return
    hint = _ST_TRACKS.get(
        call.name, "spatial functions are INSIDE, WITHIN, DISTANCE, POINT, X, Y, HEADING, WKT and WKB"
    )
    if call.name in _ST_CALLS:
        arguments = [_argument_text(call, index) for index in range(len(call.arguments))]
        hint = f"did you mean {_ST_CALLS[call.name]}({', '.join(arguments)})?"
    elif call.name in _ST_INSIDE and len(call.arguments) == 2:
        region_first = call.name in ("ST_CONTAINS", "ST_COVERS")
        first = call.arguments[0]
        if call.name == "ST_INTERSECTS":
            region_first = isinstance(first, Name) and first.name in region_names
        position, region = (shorten(unparse(a)) for a in (call.arguments[::-1] if region_first else call.arguments))
        hint = f"did you mean INSIDE({position}, {region})?"
    raise NameProblem(f"no function is called {shorten(call.name)}", span=name_span(call), hint=hint)


def _argument_text(call: FunctionCall, index: int) -> str:
    """Return the text of an ST_ function's argument at `index` for a hint; the distance of ST_DWithin gets a unit."""
    argument = call.arguments[index]
    if call.name == "ST_DWITHIN" and index == 2 and isinstance(argument, SqlLiteral) and argument.value is not None:
        return f"'{argument.value} m'"
    return shorten(unparse(argument))


def refuse_length_with_unit(node: Node) -> None:
    """Raise TypeProblem if a distance is compared with a text such as '5 km'; its hint has the right condition."""
    if not isinstance(node, Binary) or node.operator not in COMPARISONS:
        return
    for measured, bound, turned in ((node.left, node.right, False), (node.right, node.left, True)):
        if not isinstance(measured, FunctionCall) or measured.name not in _METRES:
            continue
        if not isinstance(bound, SqlLiteral) or not isinstance(bound.value, str):
            continue
        metres = metres_of(bound.value)
        if metres is None:
            continue
        hint = f"write {metres}, without quotes and unit"
        if measured.name == "DISTANCE" and node.operator in ((">", ">=") if turned else ("<", "<=")):
            arguments = ", ".join(unparse(argument) for argument in measured.arguments)
            hint += f", or WITHIN({arguments}, {unparse(bound)})" if len(arguments) <= 40 else ", or call WITHIN"
        raise TypeProblem(f"{measured.name} gives a number of metres", span=bound.span, hint=hint)


def swapped_coordinates(call: FunctionCall, positions: Iterable[Position | None]) -> Remark | None:
    """Return a warning if POINT has the latitude first, judged by names and the sources' `positions`, else None.

    `positions` are those of the sources in FROM.
    """
    if call.name != "POINT" or len(call.arguments) != 2:
        return None
    first, second = call.arguments
    if not isinstance(first, Name) or not isinstance(second, Name):
        return None
    declared = any(p is not None and p.geodesic and (p.y, p.x) == (first.name, second.name) for p in positions)
    if not declared and not (_is_called(first.name, _LATITUDES) and _is_called(second.name, _LONGITUDES)):
        return None
    return Remark(
        f"the longitude comes first in POINT: write POINT({unparse(second)}, {unparse(first)})",
        call.span,
    )


def _is_called(name: str, endings: Iterable[str]) -> bool:
    """Whether a column's name is one of `endings`, or ends with an underscore and one of `endings`."""
    return any(name.lower() == word or name.lower().endswith(f"_{word}") for word in endings)
