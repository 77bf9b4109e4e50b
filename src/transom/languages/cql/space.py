"""Functions on places: inside a region, how far, how fast, which way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from transom.algebra.expressions import Expression, InRegion, Literal, call
from transom.algebra.functions import SPACE_FUNCTIONS
from transom.catalog.wording import did_you_mean
from transom.errors import LanguageRule, NameProblem, Span, TypeProblem
from transom.languages.sql.scope import nodes_in
from transom.languages.sql.syntax import Constant, Function, Name, Node
from transom.languages.sql.translate import Scope, translate
from transom.languages.sql.wording import a, brief
from transom.model.regions import Region
from transom.model.space import Position, read_distance
from transom.model.types import Type


class Surroundings(Scope, Protocol):
    """What surrounds an expression that speaks of places."""

    @property
    def regions(self) -> Mapping[str, Region]:
        """The regions of the catalog."""
        ...

    def measure(self, nodes: Sequence[Node]) -> int:
        """How the places in some expressions are measured."""
        ...


SPATIAL = frozenset({"INSIDE", *SPACE_FUNCTIONS})
"""The functions on places that a query may call."""

TAKES = {
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
"""What each takes (p a place, s that or a line, r a region, n a number, l a length, t a tick), and how to write it."""

_MEASURED = {"DISTANCE", "WITHIN", "SPEED", "HEADING"}


def spatial(node: Function, scope: Surroundings) -> Expression:
    """A call of a function on places."""
    takes, example = TAKES[node.name]
    if node.star or len(node.arguments) != len(takes):
        raise TypeProblem(f"{node.name} does not take these arguments", span=node.span, hint=f"write {example}")
    if node.name == "INSIDE":
        where, named = node.arguments
        region = scope.regions[region_name(named, scope)]
        found = place(where, scope, example)
        if any(isinstance(part, Name) and part.name == "g" for part in nodes_in(where)):
            check_measure(region, scope.measure([where]) == 0, named.span)
        return InRegion(found, region)
    arguments = [argument(kind, one, scope, example) for kind, one in zip(takes, node.arguments, strict=True)]
    if node.name in _MEASURED:
        measure = scope.measure([one for kind, one in zip(takes, node.arguments, strict=True) if kind == "p"])
        arguments.append(Literal(measure, Type.INTEGER))
    if node.name == "SPEED":
        arguments.append(Literal(scope.calendar.length, Type.INTEGER))
    return call(node.name, *arguments)


def argument(kind: str, node: Node, scope: Surroundings, example: str) -> Expression:
    """One argument of the kind that a function takes."""
    if kind == "p":
        return place(node, scope, example)
    if kind == "s":
        shape = translate(node, scope)
        return shape if shape.type is Type.LINE else place(node, scope, example)
    if kind == "l":
        return length(node)
    expression = translate(node, scope)
    if not expression.type.is_number or (kind == "t" and expression.type is not Type.INTEGER):
        raise TypeProblem(
            f"{a(expression.type)} is no {'tick' if kind == 't' else 'number'}", span=node.span, hint=f"write {example}"
        )
    return expression


def place(node: Node, scope: Surroundings, example: str) -> Expression:
    """A place; a number is one on a line."""
    expression = translate(node, scope)
    if expression.type.is_number and expression.type is not Type.NULL:
        return call("POINT", expression)
    if expression.type is not Type.POINT:
        raise TypeProblem(f"{a(expression.type)} is no place", span=node.span, hint=f"write {example}")
    return expression


def length(node: Node) -> Expression:
    """A length such as '5 km' in micrometres."""
    try:
        return Literal(read_distance(node.value if isinstance(node, Constant) else None), Type.INTEGER)  # type: ignore[arg-type]
    except (ValueError, AttributeError):
        raise TypeProblem("a length is written in quotes", span=node.span, hint="write for example '5 km'") from None


def region_name(node: Node, scope: Surroundings) -> str:
    """The name of a region of the catalog."""
    if not isinstance(node, Name) or node.qualifier is not None:
        raise LanguageRule("INSIDE takes a place and a region", span=node.span, hint="write INSIDE(g, Zone)")
    if node.name not in scope.regions:
        hint = did_you_mean(node.name, scope.regions) or "declare `regions` in the catalog"
        raise NameProblem(f"no region is called {brief(node.name)}", span=node.span, hint=hint)
    return node.name


def check_measure(region: Region, geodesic: bool, span: Span) -> None:
    """Refuse a region on the earth for a place on the plane, and the other way round."""
    if region.geodesic != geodesic:
        on, other = ("the earth", "the plane") if region.geodesic else ("the plane", "the earth")
        hint = "use a region that is measured as the position is"
        raise LanguageRule(f"{brief(region.name)} lies on {on}, the position on {other}", span=span, hint=hint)


def measure_of(nodes: Sequence[Node], positions: Mapping[str | None, Position | None]) -> int:
    """The micrometres of one coordinate unit, 0 for longitude and latitude; all places must have the same."""
    named = [part for node in nodes for part in nodes_in(node) if isinstance(part, Name) and part.name == "g"]
    asked = {name.qualifier for name in named} - {None} or set(positions)
    measures = {0 if p.geodesic else p.unit for q, p in positions.items() if q in asked and p is not None}
    if len(measures) != 1:
        few = "places of two kinds" if measures else "places without a measure"
        hint = "both come from sources with the same unit" if measures else "one of them is g, the place of a source"
        raise LanguageRule(few, span=nodes[0].span, hint=hint)
    return measures.pop()
