"""Name resolution inside a CQL query: attributes, the stamps g and t, parameters, and columns of an outer query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import ClassVar

from transom.algebra.expressions.expression import Column, Constant, Expression
from transom.algebra.expressions.tracks import TrackAggregate, TrackFunction, point_expression
from transom.algebra.streams import find_position_columns
from transom.catalog.reading.wording import POSITION_EXAMPLE
from transom.errors import LanguageRule, NameProblem, UsageError
from transom.languages.cql.space import SPATIAL, SpatialScope, coordinate_unit_of, translate_spatial_call
from transom.languages.cql.space_hints import refuse_length_with_unit, refuse_standard_function, swapped_coordinates
from transom.languages.sql.scope import GroupScope, SourceScope, VisibleSource, unique_attribute
from transom.languages.sql.select import Remark
from transom.languages.sql.syntax import FunctionCall, Name, Node
from transom.languages.sql.translate import AGGREGATES
from transom.languages.sql.type_messages import shorten
from transom.languages.sql.unparse import FUNCTION_SPELLINGS, unparse
from transom.model.geometry.regions import Region
from transom.model.geometry.space import Position
from transom.model.schema import Attribute
from transom.model.types import Type, Value

TRACKS = {
    "AVGSPD": TrackFunction.AVGSPD,
    "PATHLENGTH": TrackFunction.PATHLENGTH,
    "TRAJECTORY": TrackFunction.TRAJECTORY,
    "PLACE": TrackFunction.PLACE,
}
"""Aggregates over the positions of a relation; their argument is the relation's name."""

STAMPS = ("g", "t")
"""The stamps of a tuple, its position and its tick, unless a source has a column of that name (C32)."""


@dataclass(slots=True)
class LocatedSource(VisibleSource):
    """A FROM source that may have positions; `range_ticks` is its time range in ticks if it has no other range (C7)."""

    position: Position | None = None
    range_ticks: int | None = None
    object: str | None = None
    """The attribute that names the moving object, unless the window is partitioned, for warnings only."""

    @property
    def point(self) -> Expression:
        """The expression that computes a row's position, of type POINT, from the columns of this source."""
        assert self.position is not None  # noqa: S101 - callers ask first
        return point_expression(find_position_columns(self.schema, self.position), self.position)

    @property
    def time(self) -> Expression:
        """The expression that reads a row's tick; reading it makes the source's window keep the tick as a column."""
        return self.column(Attribute("tick", Type.INTEGER, self.qualifier))

    def stamp(self, name: str) -> Expression:
        """Return the expression for the stamp `g` (the position of a row) or `t` (its tick).

        A position with a single coordinate is a number.
        """
        if name == "t":
            return self.time
        columns = () if self.position is None else find_position_columns(self.schema, self.position)
        return Column(columns[0]) if len(columns) == 1 else self.point

    def has_stamp(self, name: str) -> bool:
        """Whether rows have the stamp `name` (g: position, t: tick); a declared column of that name hides it."""
        if self.schema.find(None, name):
            return False
        return self.tagged if name == "t" else self.position is not None


@dataclass(slots=True)
class ParameterValues:
    """The values of parameters, and which of them a query has used (C8)."""

    values: Mapping[str, Value]
    declared: Mapping[str, Value] = field(default_factory=dict)
    """The parameters of the catalog; `values` overrides them."""
    used: set[str] = field(default_factory=set)

    def check(self) -> None:
        """Raise UsageError if a value was passed for a parameter that the query does not use."""
        for name in self.values:
            if name not in self.used:
                raise UsageError(
                    f"the query has no parameter {shorten(name)}",
                    hint=f"it has {', '.join(sorted(self.used)) or 'none'}",
                )


@dataclass(slots=True)
class RelationScope(SourceScope):
    """The names visible in one CQL query; `outer` is the scope of the outer query if this one is in a condition."""

    regions: Mapping[str, Region] = field(default_factory=dict)
    parameters: ParameterValues = field(default_factory=lambda: ParameterValues({}))
    warnings: list[Remark] = field(default_factory=list)
    outer: RelationScope | None = None
    conditions: frozenset[str] = frozenset()
    """The names that WHERE mentions, for warnings only."""

    aggregates: ClassVar[frozenset[str]] = AGGREGATES | TRACKS.keys()

    @property
    def located(self) -> Sequence[LocatedSource]:
        """The sources of FROM that may have positions."""
        return [source for source in self.visible if isinstance(source, LocatedSource)]

    def translate_in_scope(self, node: Node) -> Expression | None:
        """Translate a call of a spatial function; returns None for any other expression.

        Raises LanguageRule for Stamps and for aggregates over positions such as AvgSpd, which are not allowed here.
        """
        refuse_length_with_unit(node)
        if not isinstance(node, FunctionCall):
            return None
        if node.name in TRACKS or node.name == "STAMPS":
            if node.name == "STAMPS":
                raise LanguageRule(
                    "Stamps cannot be used in a condition or inside an expression",
                    span=node.span,
                    hint="in a condition, use its two values: g, the position, and t, the time",
                )
            label = FUNCTION_SPELLINGS.get(node.name, node.name)
            raise LanguageRule(
                f"{label} cannot be used here", span=node.span, hint="write it in the select list or in HAVING"
            )
        return self.spatial_call(node, self)

    def spatial_call(self, node: FunctionCall, scope: SpatialScope) -> Expression | None:
        """Translate a call of a spatial function; returns None for a call of any other function.

        `scope` is this scope, or the scope after grouping.

        Raises NameProblem for the functions of other systems, and warns of swapped coordinates.
        """
        refuse_standard_function(node, self.regions)
        if node.name not in SPATIAL:
            return None
        remark = swapped_coordinates(node, [source.position for source in self.located])
        if remark is not None and remark not in self.warnings:
            self.warnings.append(remark)
        return translate_spatial_call(node, scope)

    def coordinate_unit(self, nodes: Sequence[Node]) -> int:
        """Micrometres per unit of positions `g` in `nodes` (0: longitude, latitude); LanguageRule if not one unit."""
        return coordinate_unit_of(nodes, {source.qualifier: source.position for source in self.located})

    def resolve(self, name: Name) -> Expression:
        """Resolve a name to an attribute, a position (`g`), a tick (`t`), a parameter or an outer column."""
        source = self.stamp_source(name)
        return SourceScope.resolve(self, name) if source is None else source.stamp(name.name)

    def stamp_source(self, name: Name) -> LocatedSource | None:
        """Return the FROM source whose column g (position) or t (tick) a name means; None if it means neither."""
        if name.name not in STAMPS or any(v.schema.find(name.qualifier, name.name) for v in self.visible):
            return None
        sources = [s for s in self.located if name.qualifier in (None, s.qualifier) and s.has_stamp(name.name)]
        if len(sources) > 1:
            labels = " or ".join(f"{source.qualifier}.{name.name}" for source in sources)
            raise NameProblem(f"ambiguous attribute {unparse(name)}", span=name.span, hint=f"write {labels}")
        return sources[0] if sources else None

    def resolve_unknown(self, name: Name) -> Expression:
        """Resolve a name that no source has: as a column of the outer query, else as a parameter (C8)."""
        outer_column = None if self.outer is None else self.outer.column(name)
        if outer_column is not None:
            return outer_column
        if name.qualifier is not None:
            return SourceScope.resolve_unknown(self, name)
        self.parameters.used.add(name.name)
        for values in (self.parameters.values, self.parameters.declared):
            if name.name in values:
                return parameter_constant(name.name, values[name.name])
        if self.time_hint(name) is not None:
            return SourceScope.resolve_unknown(self, name)
        label, suggestion = shorten(name.name), self.name_hint(name)
        suggestion += " " if suggestion.endswith("?") else "; "
        value = f"--parameter {label}=VALUE, or `parameters` in the catalog"
        hint = f"{suggestion}if {label} is a parameter, set it: {value}"
        raise NameProblem(f"no attribute is called {label}", span=name.span, hint=hint)

    def column(self, name: Name) -> Expression | None:
        """Resolve a name of a subquery as a column of this outer query; returns None if there is no such column."""
        source = self.stamp_source(name)
        if source is None and not any(
            v.schema.find(name.qualifier, name.name) or v.tag(name.qualifier, name.name) for v in self.visible
        ):
            return None
        return self.resolve(name)


def parameter_constant(name: str, value: Value) -> Constant:
    """Return a parameter's value as a constant of the matching SQL type; raises UsageError if there is no such type."""
    types: list[tuple[type, Type]] = [
        *((bool, Type.BOOLEAN), (int, Type.INTEGER), (float, Type.FLOAT), (str, Type.STRING)),
        *((Decimal, Type.DECIMAL), (datetime, Type.TIMESTAMP)),
    ]
    sql_type = next((sql_type for python_type, sql_type in types if isinstance(value, python_type)), None)
    if sql_type is None:
        raise UsageError(f"the parameter {shorten(name)} is {value!r}", hint="give a string, a number or true or false")
    return Constant(value, sql_type)


@dataclass(slots=True)
class TrackGroupScope(GroupScope):
    """The names visible after grouping, including track aggregates such as AvgSpd."""

    relations: RelationScope = field(kw_only=True)
    grouped: bool = field(kw_only=True)
    """Whether the query has a GROUP BY clause."""
    tracks: dict[tuple[TrackFunction, str | None], TrackAggregate] = field(default_factory=dict)

    def translate_in_scope(self, node: Node) -> Expression | None:
        """Translate a grouping key, an aggregate or a spatial function call; return None for other nodes."""
        refuse_length_with_unit(node)
        if isinstance(node, FunctionCall) and node.name in TRACKS:
            return Column(self.track(node).attribute)
        group = GroupScope.translate_in_scope(self, node)
        if group is None and isinstance(node, FunctionCall):
            return self.relations.spatial_call(node, self)
        return group

    @property
    def regions(self) -> Mapping[str, Region]:
        """The regions of the catalog, by name."""
        return self.relations.regions

    def coordinate_unit(self, nodes: Sequence[Node]) -> int:
        """Micrometres per unit of positions `g` in `nodes` (0: longitude, latitude); LanguageRule if not one unit."""
        return self.relations.coordinate_unit(nodes)

    def track(self, node: FunctionCall) -> TrackAggregate:
        """Return the aggregate over positions for a call such as AvgSpd(R), where R names a source of FROM.

        The first call of each aggregate adds it to `tracks`.
        """
        function, source = TRACKS[node.name], self.track_source(node)
        if (function, source.qualifier) not in self.tracks:
            attribute = unique_attribute(
                self.aggregate_attribute(node, function.result), {t.attribute.label for t in self.tracks.values()}
            )
            time_range = source.range_ticks if function is TrackFunction.AVGSPD and not self.grouped else None
            assert source.position is not None  # noqa: S101 - relation() checked it
            self._warn_about_objects(node, source)
            self.tracks[function, source.qualifier] = TrackAggregate(
                function, source.point, source.time, source.position, attribute, time_range, self.calendar.length
            )
        return self.tracks[function, source.qualifier]

    def _warn_about_objects(self, node: FunctionCall, source: LocatedSource) -> None:
        """Warn if a call such as AvgSpd(R) computes a single path through the rows of several moving objects."""
        name = source.object
        if name is None or name in self.relations.conditions or len(self.relations.visible) > 1:
            return
        if not any(Column(attribute) in self.groups for attribute in source.schema.find(None, name)):
            label = FUNCTION_SPELLINGS.get(node.name, node.name)
            message = (
                f"{label} follows one path through the rows of all objects; write PARTITION BY {name} in the window"
            )
            self.relations.warnings.append(Remark(message, node.span))

    def track_source(self, node: FunctionCall) -> LocatedSource:
        """Return the FROM source whose positions a call such as AvgSpd(R) aggregates."""
        return relation_argument(node, self.relations)


_POSITION_HINT = f"declare `position` in the catalog, such as {POSITION_EXAMPLE}"


def relation_argument(node: FunctionCall, scope: RelationScope) -> LocatedSource:
    """Return the FROM source R of the call AvgSpd(R) or Stamps(R); raise LanguageRule if R has no positions.

    For `*` it is the only source with positions.
    """
    label = FUNCTION_SPELLINGS.get(node.name, node.name)
    located = [source for source in scope.located if source.position is not None and source.tagged]
    names = ", ".join(f"{label}({source.qualifier})" for source in located if source.qualifier)
    hint = f"write {names}" if names else _POSITION_HINT
    if node.star or not node.arguments:
        matches = located
    else:
        [argument, *more] = node.arguments
        if more or not isinstance(argument, Name) or argument.qualifier is not None:
            attribute = ", not an attribute" if isinstance(argument, Name) and not more else ""
            raise LanguageRule(f"{label} takes the name of a source{attribute}", span=node.span, hint=hint)
        matches = [source for source in located if source.qualifier == argument.name]
        if not matches and any(source.qualifier == argument.name for source in scope.visible):
            raise LanguageRule(
                f"{argument.name} has no positions",
                span=argument.span,
                hint=_POSITION_HINT,
            )
        if not matches:
            raise NameProblem(f"no source is called {shorten(argument.name)}", span=argument.span, hint=hint)
    if len(matches) != 1:
        message = "no source has positions" if not matches else f"{label}(*) could mean several sources"
        raise LanguageRule(message, span=node.span, hint=hint)
    return matches[0]
