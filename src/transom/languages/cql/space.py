"""Translation of spatial functions: INSIDE, POINT, DISTANCE, WITHIN, SPEED, HEADING and others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from transom.algebra.expressions.expression import Constant, Expression, InRegion, call
from transom.algebra.expressions.functions import SPACE_FUNCTIONS
from transom.catalog.reading.wording import POSITION_EXAMPLE, or_declare, region_line
from transom.errors import LanguageRule, NameProblem, Span, TypeProblem
from transom.languages.sql.scope import nodes_in
from transom.languages.sql.syntax import FunctionCall, Name, Node, SqlLiteral
from transom.languages.sql.translate import Scope, translate
from transom.languages.sql.type_messages import or_list, shorten, with_article
from transom.languages.sql.unparse import unparse
from transom.model.geometry.regions import Region
from transom.model.geometry.space import Position, read_distance
from transom.model.types import Type


class SpatialScope(Scope, Protocol):
    """The context in which spatial functions are translated."""

    @property
    def regions(self) -> Mapping[str, Region]:
        """The regions of the catalog, by name."""
        ...

    def coordinate_unit(self, nodes: Sequence[Node]) -> int:
        """Micrometres per unit of positions `g` in `nodes` (0: longitude, latitude); LanguageRule if not one unit."""
        ...


SPATIAL = frozenset({"INSIDE", *SPACE_FUNCTIONS})
"""The names of the spatial functions."""

SPATIAL_SIGNATURES = {
    "INSIDE": ("pr", "INSIDE(g, Zone)"),
    "POINT": ("nn", "POINT(x, y)"),
    "X": ("p", "X(g)"),
    "Y": ("p", "Y(g)"),
    "DISTANCE": ("pp", "DISTANCE(A.g, B.g)"),
    "WITHIN": ("ppl", "WITHIN(A.g, B.g, '5 km')"),
    "SPEED": ("ptpt", "SPEED(A.g, A.t, B.g, B.t)"),
    "HEADING": ("pp", "HEADING(A.g, B.g)"),
    "WKT": ("s", "WKT(g)"),
    "WKB": ("s", "WKB(g)"),
}
"""Kinds of arguments (p point, s point or line, r region, n number, l length, t tick), and an example call."""

_MEASURED = {"DISTANCE", "WITHIN", "SPEED", "HEADING"}


def translate_spatial_call(node: FunctionCall, scope: SpatialScope) -> Expression:
    """Translate a call of a spatial function such as DISTANCE; raises TypeProblem if the arguments do not fit."""
    kinds, example = SPATIAL_SIGNATURES[node.name]
    if node.star or len(node.arguments) != len(kinds):
        count = f"{len(kinds)} argument{'s' if len(kinds) > 1 else ''}"
        raise TypeProblem(
            f"{node.name} takes {count}, not {'*' if node.star else len(node.arguments)}",
            span=node.span,
            hint=f"write {example}",
        )
    if node.name == "INSIDE":
        position, region_node = node.arguments
        refuse_swapped_arguments(node, scope)
        region = scope.regions[region_name(region_node, scope)]
        point = translate_point(position, scope, example)
        if any(isinstance(part, Name) and part.name == "g" for part in nodes_in(position)):
            check_geodesic(region, scope.coordinate_unit([position]) == 0, region_node.span)
        return InRegion(point, region)
    arguments = [
        translate_argument(kind, argument, scope, example) for kind, argument in zip(kinds, node.arguments, strict=True)
    ]
    if node.name in _MEASURED:
        unit = scope.coordinate_unit(
            [argument for kind, argument in zip(kinds, node.arguments, strict=True) if kind == "p"]
        )
        arguments.append(Constant(unit, Type.INTEGER))
    if node.name == "SPEED":
        arguments.append(Constant(scope.calendar.length, Type.INTEGER))
    return call(node.name, *arguments)


def translate_argument(kind: str, node: Node, scope: SpatialScope, example_call: str) -> Expression:
    """Translate an argument of kind p(oint), s(hape), n(umber), l(ength) or t(ick); error hints show `example_call`.

    The kinds are p(oint), s(hape), n(umber), l(ength) and t(ick). Errors suggest the call `example_call`.
    """
    if kind == "p":
        return translate_point(node, scope, example_call)
    if kind == "s":
        shape = translate(node, scope)
        return shape if shape.type is Type.LINE else translate_point(node, scope, example_call)
    if kind == "l":
        return translate_length(node)
    expression = translate(node, scope)
    if not expression.type.is_number or (kind == "t" and expression.type is not Type.INTEGER):
        raise TypeProblem(
            f"{shorten(unparse(node))} is {with_article(expression.type)}, not a {'tick' if kind == 't' else 'number'}",
            span=node.span,
            hint=f"write for example {example_call}{'; t is the tick of a row' if kind == 't' else ''}",
        )
    return expression


def translate_point(node: Node, scope: SpatialScope, example_call: str) -> Expression:
    """Translate a point, or a number as a point on a line; TypeProblem for others, with `example_call` as its hint.

    The hint of the error is the call `example_call`.
    """
    expression = translate(node, scope)
    if expression.type.is_number and expression.type is not Type.NULL:
        return call("POINT", expression)
    if expression.type is not Type.POINT:
        raise TypeProblem(
            f"{shorten(unparse(node))} is {with_article(expression.type)}, not a position",
            span=node.span,
            hint=f"write for example {example_call}; g is the position of a row",
        )
    return expression


def translate_length(node: Node) -> Expression:
    """Translate a length in quotes such as '5 km' to a constant in micrometres; raises TypeProblem if malformed."""
    try:
        return Constant(read_distance(node.value if isinstance(node, SqlLiteral) else None), Type.INTEGER)  # type: ignore[arg-type]
    except (ValueError, AttributeError):
        raise TypeProblem(
            "a distance is written in quotes, with its unit", span=node.span, hint="write for example '5 km'"
        ) from None


def refuse_swapped_arguments(call: FunctionCall, scope: SpatialScope) -> None:
    """Raise LanguageRule if the first argument of INSIDE is a region of the catalog and the second one is none."""
    first, second = call.arguments
    is_region = [isinstance(a, Name) and a.qualifier is None and a.name in scope.regions for a in (first, second)]
    if is_region == [True, False]:
        region, position = (shorten(unparse(argument)) for argument in (first, second))
        raise LanguageRule(
            f"the arguments of INSIDE are swapped: {region} is a region",
            span=call.span,
            hint=f"write INSIDE({position}, {region})",
        )


def region_name(node: Node, scope: SpatialScope) -> str:
    """Return the name of the region in `INSIDE(g, Zone)`; raises NameProblem if the catalog does not declare it."""
    if not isinstance(node, Name) or node.qualifier is not None:
        raise LanguageRule("INSIDE takes a position and a region", span=node.span, hint="write INSIDE(g, Zone)")
    if node.name not in scope.regions:
        hint = or_declare(node.name, scope.regions, region_line(node.name))
        raise NameProblem(f"no region is called {shorten(node.name)}", span=node.span, hint=hint)
    return node.name


def check_geodesic(region: Region, position_on_earth: bool, span: Span) -> None:
    """Raise LanguageRule at `span` if a region is on the earth and a position on the plane, or the other way round.

    `position_on_earth` says whether the position is on the earth; the error is at `span`.
    """
    if region.geodesic != position_on_earth:
        region_surface, position_surface = ("the earth", "the plane") if region.geodesic else ("the plane", "the earth")
        hint = "use a region and a position on the same surface"
        raise LanguageRule(
            f"{shorten(region.name)} lies on {region_surface}, the position on {position_surface}", span=span, hint=hint
        )


def coordinate_unit_of(nodes: Sequence[Node], positions: Mapping[str | None, Position | None]) -> int:
    """Micrometres per unit of positions `g` in `nodes` (0: longitude, latitude); LanguageRule if not one unit.

    `positions` are those of the sources by name. Raises LanguageRule if their units differ, or if there are no
    positions.
    """
    names = [part for node in nodes for part in nodes_in(node) if isinstance(part, Name) and part.name == "g"]
    qualifiers = {name.qualifier for name in names} - {None} or set(positions)
    units = {0 if p.geodesic else p.unit for q, p in positions.items() if q in qualifiers and p is not None}
    if len(units) != 1:
        if units:
            message, hint = "these positions have different units", "compare positions of sources with the same unit"
        else:
            message = "the coordinates of POINT have no unit here, because no source in FROM has positions"
            extents = or_list([str(name) for name in positions])
            hint = f"declare the `position` of extent {extents} in the catalog, such as {POSITION_EXAMPLE}"
        raise LanguageRule(message, span=nodes[0].span, hint=hint)
    return units.pop()
