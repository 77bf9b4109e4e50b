"""What names mean inside a query: attributes of the sources, implicit tags, groups and aggregates."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias

from transom.algebra.expressions import Aggregate, AggregateFunction, Column, Expression, Literal, Tag
from transom.errors import LanguageRule, NameProblem, TypeProblem
from transom.languages.sql.syntax import Function, Name, Node
from transom.languages.sql.translate import AGGREGATES, translate
from transom.languages.sql.unparse import string, unparse
from transom.languages.sql.wording import a, brief
from transom.model.schema import IMPLICIT, Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type

Aggregated: TypeAlias = Aggregate
"""What an aggregation computes."""


@dataclass(slots=True)
class Visible:
    """One source of FROM as expressions see it. `used` collects the tags that the query reads from it."""

    qualifier: str | None
    schema: Schema
    tagged: bool
    used: list[Attribute] = field(default_factory=list)

    def tag(self, qualifier: str | None, name: str) -> Attribute | None:
        """The implicit attribute of that name, unless the source declares one itself (S35)."""
        if not self.tagged or name not in IMPLICIT or qualifier not in (None, self.qualifier):
            return None
        if self.schema.find(None, name):
            return None
        return Attribute(name, Type.INTEGER, self.qualifier)

    def column(self, tag: Attribute) -> Column:
        """A tag as a column that the window of this source keeps."""
        if tag not in self.used:
            self.used.append(tag)
        return Column(tag)


@dataclass(slots=True)
class Sources:
    """The names that the sources of one query offer (S21)."""

    calendar: Calendar
    visible: Sequence[Visible]
    on_stream: bool
    given: frozenset[str] = frozenset()
    """The names that the select list gives with AS; they are for hints only."""
    aggregates: ClassVar[frozenset[str]] = AGGREGATES
    """The aggregates of the language."""

    def known(self, node: Node) -> Expression | None:
        """Nothing is decided by the surroundings here, but an aggregate over a stream is named as such (S20)."""
        if isinstance(node, Function) and node.name in AGGREGATES and self.on_stream:
            raise LanguageRule(
                f"{node.name} over an unbounded stream",
                span=node.span,
                hint="give the stream a window, for example [FROM NOW-5 TO NOW SLIDE 1 MIN]",
            )
        return None

    def resolve(self, name: Name) -> Expression:
        """The attribute or tag that a name means; an error if there is none or more than one."""
        label = brief(unparse(name))
        declared = [a for v in self.visible for a in v.schema.find(name.qualifier, name.name)]
        tags = [(v, tag) for v in self.visible if (tag := v.tag(name.qualifier, name.name)) is not None]
        if len(declared) + len(tags) > 1:
            raise self._ambiguous(label, [*declared, *(tag for _, tag in tags)], name)
        if declared:
            return Column(declared[0])
        if not tags:
            return self.unknown(name)
        source, tag = tags[0]
        if self.on_stream:
            return Tag("tick" if tag.name == "tick" else "index")
        return source.column(tag)

    def unknown(self, name: Name) -> Expression:
        """What a name means that no source has: nothing, unless a language says otherwise."""
        label = brief(unparse(name))
        raise NameProblem(f"no attribute is called {label}", span=name.span, hint=self.nearest(name))

    def everything(self) -> list[Attribute]:
        """The attributes that `*` stands for."""
        return [attribute for source in self.visible for attribute in source.schema]

    @staticmethod
    def _ambiguous(label: str, found: list[Attribute], name: Name) -> NameProblem:
        labels = {a.label: None for a in found}
        clear = len(labels) == len(found) and all(a.qualifier for a in found)
        hint = f"write {' or '.join(labels)}" if clear else "give the columns or the sources other names with AS"
        return NameProblem(f"ambiguous attribute {label}", span=name.span, hint=hint)

    def nearest(self, name: Name) -> str:
        """What was probably meant by a name that no source has."""
        if name.qualifier is None and name.name in self.given:
            return "names given with AS are not known here; repeat the expression"
        qualifiers = [v.qualifier for v in self.visible if v.qualifier]
        if name.qualifier is not None and name.qualifier not in qualifiers:
            return f"no source is called {brief(name.qualifier)}; there is {', '.join(qualifiers) or 'only a subquery'}"
        offered = {a.name: a.label for a in self.everything()}
        near = difflib.get_close_matches(name.name, offered, 1, 0.6)
        if not near:
            folded = {n.lower(): n for n in offered}
            near = [folded[name.name.lower()]] if name.name.lower() in folded else []
        if near:
            return f"did you mean {offered[near[0]]}?"
        if name.qualifier is None and name.span.end - name.span.start > len(name.name):
            return f"write {brief(string(name.name))} for a string; double quotes make names"
        return f"there is {', '.join(offered.values())}"


@dataclass(slots=True)
class Grouped:
    """The names behind GROUP BY and aggregates: groups and aggregates are columns, other attributes are not (S26)."""

    sources: Sources
    groups: Mapping[Expression, Attribute]
    found: dict[Hashable, Aggregated] = field(default_factory=dict)

    @property
    def aggregates(self) -> tuple[Aggregated, ...]:
        """The aggregates that were asked for so far, each once."""
        return tuple(self.found.values())

    @property
    def calendar(self) -> Calendar:
        """How ticks lie in real time."""
        return self.sources.calendar

    def known(self, node: Node) -> Expression | None:
        """The column of a group or an aggregate."""
        if isinstance(node, Function) and node.name in self.sources.aggregates:
            return Column(self.aggregate(node).attribute)
        if not self.groups or has_aggregate(node, self.sources.aggregates):
            return None
        group = self.groups.get(translate(node, self.sources))
        return None if group is None else Column(group)

    def resolve(self, name: Name) -> Expression:
        """A name that is no group cannot be used beside aggregates, unless it stands for a value."""
        found = self.sources.resolve(name)
        if isinstance(found, Literal):
            return found
        raise LanguageRule(
            f"{unparse(name)} is neither grouped nor aggregated",
            span=name.span,
            hint=f"add it to GROUP BY, or use an aggregate such as MAX({unparse(name)})",
        )

    def count(self) -> None:
        """COUNT(*) where nothing else makes one tuple of a window."""
        self.aggregate(Function("COUNT", (), star=True))

    def aggregate(self, node: Function) -> Aggregated:
        """The aggregate that a call asks for."""
        function = AggregateFunction(node.name)
        if len(node.arguments) != (0 if node.star else 1) or (node.star and node.name != "COUNT"):
            raise LanguageRule(
                f"{node.name} takes one argument", span=node.span, hint=f"{node.name}(x); only COUNT takes *"
            )
        inner = next((n for a in node.arguments for n in aggregates_in(a, self.sources.aggregates)), None)
        if inner is not None:
            raise LanguageRule(
                "an aggregate inside an aggregate", span=inner.span, hint="aggregate in a subquery first"
            )
        argument = None if node.star else translate(node.arguments[0], self.sources)
        if (function, argument) in self.found:
            return self.found[function, argument]
        kind = function.result(Type.INTEGER if argument is None else argument.type)
        if kind is None:
            raise TypeProblem(
                f"{node.name} does not take {a(argument.type) if argument else '*'}",
                span=node.span,
                hint="it takes numbers; COUNT, MIN and MAX take everything",
            )
        self.found[function, argument] = Aggregate(function, argument, self.named(node, kind))
        return self.found[function, argument]

    def named(self, node: Function, kind: Type) -> Attribute:
        """The column of an aggregate, under a name that no group has."""
        return unused(Attribute(unparse(node), kind), {group.label for group in self.groups.values()})


def unused(attribute: Attribute, taken: set[str]) -> Attribute:
    """The attribute, under another name if a column has its name already."""
    while attribute.label in taken:
        attribute = replace(attribute, name=attribute.name + "'")
    return attribute


def has_aggregate(node: Node, names: frozenset[str]) -> bool:
    """Whether an aggregate stands somewhere in an expression."""
    return bool(aggregates_in(node, names))


def aggregates_in(node: Node, names: frozenset[str]) -> list[Function]:
    """The aggregates in an expression."""
    return [part for part in nodes_in(node) if isinstance(part, Function) and part.name in names]


def nodes_in(node: Node) -> Iterator[object]:
    """A node and all below it, but for subqueries."""
    stack: list[object] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack.extend(part)
        elif hasattr(part, "__dataclass_fields__"):
            yield part
            stack.extend(getattr(part, name) for name in part.__dataclass_fields__ if name not in ("span", "query"))
