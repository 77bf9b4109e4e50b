"""What names mean inside a CQL query: attributes, the stamps g and t, parameters, and columns of a query around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import ClassVar

from transom.algebra.expressions import Column, Expression, Literal
from transom.algebra.streams import place_columns
from transom.algebra.tracks import Track, TrackFunction, place_of
from transom.errors import LanguageRule, NameProblem, UsageError
from transom.languages.cql.space import SPATIAL, measure_of, spatial
from transom.languages.sql.scope import Grouped, Sources, Visible, unused
from transom.languages.sql.select import Remark
from transom.languages.sql.syntax import Function, Name, Node
from transom.languages.sql.translate import AGGREGATES
from transom.languages.sql.unparse import SPELLED, unparse
from transom.languages.sql.wording import brief
from transom.model.regions import Region
from transom.model.schema import Attribute
from transom.model.space import Position
from transom.model.types import Type, Value

TRACKS = {
    "AVGSPD": TrackFunction.AVGSPD,
    "PATHLENGTH": TrackFunction.PATHLENGTH,
    "TRAJECTORY": TrackFunction.TRAJECTORY,
    "PLACE": TrackFunction.PLACE,
}
"""Aggregates over the places of a relation, which they take by its name."""

STAMPS = ("g", "t")
"""The place and the time of a tuple, unless a source has a column of that name (C32)."""


@dataclass(slots=True)
class Located(Visible):
    """A source with places; `span` is its range of time in ticks, where it has that alone (C7)."""

    position: Position | None = None
    span: int | None = None

    @property
    def place(self) -> Expression:
        """The place of a tuple."""
        assert self.position is not None  # noqa: S101 - callers ask first
        return place_of(place_columns(self.schema, self.position), self.position)

    @property
    def time(self) -> Expression:
        """The tick of a tuple."""
        return self.column(Attribute("tick", Type.INTEGER, self.qualifier))

    def stamp(self, name: str) -> Expression:
        """g or t; on a line, g is a number."""
        if name == "t":
            return self.time
        columns = () if self.position is None else place_columns(self.schema, self.position)
        return Column(columns[0]) if len(columns) == 1 else self.place

    def has(self, name: str) -> bool:
        """Whether tuples of this source have that stamp."""
        if self.schema.find(None, name):
            return False
        return self.tagged if name == "t" else self.position is not None


@dataclass(slots=True)
class Given:
    """The values of parameters, and which of them a query has used (C8)."""

    values: Mapping[str, Value]
    declared: Mapping[str, Value] = field(default_factory=dict)
    """The parameters of the catalog, for queries that are given no other value."""
    used: set[str] = field(default_factory=set)

    def check(self) -> None:
        """A value that nothing asks for was probably meant for another name."""
        for name in self.values:
            if name not in self.used:
                raise UsageError(
                    f"the query has no parameter {brief(name)}", hint=f"it has {', '.join(sorted(self.used)) or 'none'}"
                )


@dataclass(slots=True)
class Relations(Sources):
    """The names that the relations of one query offer; `around` is the query that this one is a condition of."""

    regions: Mapping[str, Region] = field(default_factory=dict)
    parameters: Given = field(default_factory=lambda: Given({}))
    warnings: list[Remark] = field(default_factory=list)
    around: Relations | None = None

    aggregates: ClassVar[frozenset[str]] = AGGREGATES | TRACKS.keys()

    @property
    def located(self) -> Sequence[Located]:
        """The sources, as they have places."""
        return [source for source in self.visible if isinstance(source, Located)]

    def known(self, node: Node) -> Expression | None:
        """What functions on places mean."""
        if not isinstance(node, Function):
            return None
        if node.name in TRACKS or node.name == "STAMPS":
            where = "alone in the select list" if node.name == "STAMPS" else "in the select list and in HAVING"
            label = SPELLED.get(node.name, node.name)
            raise LanguageRule(f"no {label} can stand here", span=node.span, hint=f"it stands {where}")
        return spatial(node, self) if node.name in SPATIAL else None

    def measure(self, nodes: Sequence[Node]) -> int:
        """How the places in some expressions are measured, by the sources that they come from."""
        return measure_of(nodes, {source.qualifier: source.position for source in self.located})

    def resolve(self, name: Name) -> Expression:
        """The attribute, stamp, parameter or column of the query around that a name means."""
        found = self.stamped(name)
        return Sources.resolve(self, name) if found is None else found.stamp(name.name)

    def stamped(self, name: Name) -> Located | None:
        """The source whose g or t a name means."""
        if name.name not in STAMPS or any(v.schema.find(name.qualifier, name.name) for v in self.visible):
            return None
        found = [s for s in self.located if name.qualifier in (None, s.qualifier) and s.has(name.name)]
        if len(found) > 1:
            labels = " or ".join(f"{source.qualifier}.{name.name}" for source in found)
            raise NameProblem(f"ambiguous attribute {unparse(name)}", span=name.span, hint=f"write {labels}")
        return found[0] if found else None

    def unknown(self, name: Name) -> Expression:
        """A name that no source has: a column of the query around, else a parameter (C8)."""
        outer = None if self.around is None else self.around.column(name)
        if outer is not None:
            return outer
        if name.qualifier is not None:
            return Sources.unknown(self, name)
        self.parameters.used.add(name.name)
        for values in (self.parameters.values, self.parameters.declared):
            if name.name in values:
                return parameter(name.name, values[name.name])
        label, meant = brief(name.name), self.nearest(name)
        meant += " " if meant.endswith("?") else "; "
        hint = f"{meant}a parameter has a value: --parameter {label}=VALUE, or `parameters` in the catalog"
        raise NameProblem(f"no attribute is called {label}", span=name.span, hint=hint)

    def column(self, name: Name) -> Expression | None:
        """What a name of a query inside this one means here, if anything."""
        source = self.stamped(name)
        if source is None and not any(
            v.schema.find(name.qualifier, name.name) or v.tag(name.qualifier, name.name) for v in self.visible
        ):
            return None
        return self.resolve(name)


def parameter(name: str, value: Value) -> Literal:
    """The value of a parameter, with the type that it has in Python."""
    kinds: list[tuple[type, Type]] = [
        *((bool, Type.BOOLEAN), (int, Type.INTEGER), (float, Type.FLOAT), (str, Type.STRING)),
        *((Decimal, Type.DECIMAL), (datetime, Type.TIMESTAMP)),
    ]
    kind = next((kind for python, kind in kinds if isinstance(value, python)), None)
    if kind is None:
        raise UsageError(f"the parameter {brief(name)} is {value!r}", hint="give a string, a number or true or false")
    return Literal(value, kind)


@dataclass(slots=True)
class TrackGrouped(Grouped):
    """The names behind GROUP BY and aggregates, AvgSpd and its like among them."""

    relations: Relations = field(kw_only=True)
    grouped: bool = field(kw_only=True)
    """Whether the query has a GROUP BY of its own."""
    tracks: dict[tuple[TrackFunction, str | None], Track] = field(default_factory=dict)

    def known(self, node: Node) -> Expression | None:
        """The column of a group, an aggregate or a track."""
        if isinstance(node, Function) and node.name in TRACKS:
            return Column(self.track(node).attribute)
        group = Grouped.known(self, node)
        return spatial(node, self) if group is None and isinstance(node, Function) and node.name in SPATIAL else group

    @property
    def regions(self) -> Mapping[str, Region]:
        """The regions of the catalog."""
        return self.relations.regions

    def measure(self, nodes: Sequence[Node]) -> int:
        """How the places in some expressions are measured."""
        return self.relations.measure(nodes)

    def track(self, node: Function) -> Track:
        """AvgSpd(R) and its like: over the places of the relation R, or with * of the only one."""
        function, source = TRACKS[node.name], self.relation(node)
        if (function, source.qualifier) not in self.tracks:
            attribute = unused(self.named(node, function.result), {t.attribute.label for t in self.tracks.values()})
            span = source.span if function is TrackFunction.AVGSPD and not self.grouped else None
            assert source.position is not None  # noqa: S101 - relation() asked
            self.tracks[function, source.qualifier] = Track(
                function, source.place, source.time, source.position, attribute, span, self.calendar.length
            )
        return self.tracks[function, source.qualifier]

    def relation(self, node: Function) -> Located:
        """The relation that a track follows."""
        return relation_of(node, self.relations)


def relation_of(node: Function, scope: Relations) -> Located:
    """The relation that AvgSpd(R) or Stamps(R) names, or the only one for *."""
    label = SPELLED.get(node.name, node.name)
    located = [source for source in scope.located if source.position is not None and source.tagged]
    names = ", ".join(f"{label}({source.qualifier})" for source in located if source.qualifier)
    hint = f"write {names}" if names else "declare `position` in the catalog"
    if node.star or not node.arguments:
        found = located
    else:
        [argument, *more] = node.arguments
        if more or not isinstance(argument, Name) or argument.qualifier is not None:
            raise LanguageRule(f"what {label} takes is the name of a source", span=node.span, hint=hint)
        found = [source for source in located if source.qualifier == argument.name]
        if not found and any(source.qualifier == argument.name for source in scope.visible):
            raise LanguageRule(
                f"{argument.name} has no places", span=argument.span, hint="declare `position` in the catalog"
            )
        if not found:
            raise NameProblem(f"no source is called {brief(argument.name)}", span=argument.span, hint=hint)
    if len(found) != 1:
        few = "no source has places" if not found else f"{label}(*) of several sources"
        raise LanguageRule(few, span=node.span, hint=hint)
    return found[0]
