"""Name resolution inside a query: attributes of the sources, implicit tags, groups and aggregates."""

from __future__ import annotations

import difflib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from transom.algebra.expressions.expression import Aggregate, AggregateFunction, Column, Constant, Expression, Tag
from transom.errors import LanguageRule, NameProblem, TypeProblem
from transom.languages.sql.syntax import FunctionCall, Name, Node
from transom.languages.sql.translate import AGGREGATES, translate
from transom.languages.sql.type_messages import column_hint, is_plain, shorten, with_article
from transom.languages.sql.unparse import quote_string, unparse
from transom.model.schema import IMPLICIT_TAGS, Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type

TIME_NAMES = frozenset({"time", "timestamp", "ts", "datetime", "event_time", "rowtime", "instant"})
"""Names that time columns often have, in lower case."""


@dataclass(slots=True)
class VisibleSource:
    """A FROM source as expressions see it; `used` collects the implicit tags that the query reads from it."""

    qualifier: str | None
    schema: Schema
    tagged: bool
    used: list[Attribute] = field(default_factory=list)
    extent: str | None = None
    """The name of the extent that the source reads, for hints only."""
    time_column: str | None = None
    """The column or field of the extent's source that holds the time of a row, for hints only."""

    def tag(self, qualifier: str | None, name: str) -> Attribute | None:
        """Return the implicit attribute `tick` (event time) or `index` (row number) if a name means it, else None."""
        if not self.tagged or name not in IMPLICIT_TAGS or qualifier not in (None, self.qualifier):
            return None
        if self.schema.find(None, name):
            return None
        return Attribute(name, Type.INTEGER, self.qualifier)

    def column(self, tag: Attribute) -> Column:
        """Return the column `tick` (event time) or `index` (row number); record that the window must keep it."""
        if tag not in self.used:
            self.used.append(tag)
        return Column(tag)


@dataclass(slots=True)
class SourceScope:
    """The names visible in one query: those of its FROM sources (S21)."""

    calendar: Calendar
    visible: Sequence[VisibleSource]
    on_stream: bool
    aliases: frozenset[str] = frozenset()
    """The aliases of the select list, for hints only."""
    aggregates: ClassVar[frozenset[str]] = AGGREGATES
    """The names of the language's aggregate functions."""

    def translate_in_scope(self, node: Node) -> Expression | None:
        """Return None, as no expression is a column of this scope; LanguageRule for an aggregate without a window.

        That is S20.
        """
        if isinstance(node, FunctionCall) and node.name in AGGREGATES and self.on_stream:
            raise LanguageRule(
                f"{node.name} needs a window, and this stream has none",
                span=node.span,
                hint="give the stream a window, for example [FROM NOW-5 TO NOW SLIDE 1 MIN]",
            )
        return None

    def resolve(self, name: Name) -> Expression:
        """Resolve a name to an attribute, `tick` or `index`; raises NameProblem if it is unknown or ambiguous."""
        label = shorten(unparse(name))
        declared = [a for v in self.visible for a in v.schema.find(name.qualifier, name.name)]
        tags = [(v, tag) for v in self.visible if (tag := v.tag(name.qualifier, name.name)) is not None]
        if len(declared) + len(tags) > 1:
            raise self._ambiguous(label, [*declared, *(tag for _, tag in tags)], name)
        if declared:
            return Column(declared[0])
        if not tags:
            return self.resolve_unknown(name)
        source, tag = tags[0]
        if self.on_stream:
            return Tag("tick" if tag.name == "tick" else "index")
        return source.column(tag)

    def resolve_unknown(self, name: Name) -> Expression:
        """Raise NameProblem for a name that no source has; CQL overrides this for parameters and outer columns."""
        label = shorten(unparse(name))
        hint = self.time_hint(name) or self.name_hint(name)
        raise NameProblem(f"no attribute is called {label}", span=name.span, hint=hint)

    def time_hint(self, name: Name) -> str | None:
        """Return a hint if a name is the time column of a source, which queries read as `tick`, else None."""
        for source in self.visible:
            if source.time_column is None or name.qualifier not in (None, source.qualifier):
                continue
            if name.name in (source.time_column, source.time_column.rpartition(".")[2]) and source.tag(None, "tick"):
                tagged = [other for other in self.visible if other.tag(None, "tick")]
                tick = "tick" if len(tagged) == 1 else f"{source.qualifier}.tick"
                return f"{shorten(name.name)} is the time column, which is read as the tick: write INSTANT({tick})"
        return None

    def star_attributes(self) -> list[Attribute]:
        """Return the attributes that `SELECT *` expands to."""
        return [attribute for source in self.visible for attribute in source.schema]

    @staticmethod
    def _ambiguous(label: str, candidates: list[Attribute], name: Name) -> NameProblem:
        """Return the NameProblem for a name, shown as `label`, that several columns (`candidates`) have."""
        labels = {a.label: None for a in candidates}
        qualified = len(labels) == len(candidates) and all(a.qualifier for a in candidates)
        hint = f"write {' or '.join(labels)}" if qualified else "give the columns or the sources other names with AS"
        return NameProblem(f"ambiguous attribute {label}", span=name.span, hint=hint)

    def name_hint(self, name: Name) -> str:
        """Return a hint for an unknown name: the name that was probably meant, else the names that exist."""
        if name.qualifier is None and name.name in self.aliases:
            return "names given with AS are not known here; repeat the expression"
        if name.qualifier is not None and name.qualifier not in [v.qualifier for v in self.visible]:
            return self._qualifier_hint(name, name.qualifier)
        labels = {a.name: a.label for a in self.star_attributes()}
        matches = difflib.get_close_matches(name.name, labels, 1, 0.6)
        if not matches:
            folded = {n.lower(): n for n in labels}
            matches = [folded[name.name.lower()]] if name.name.lower() in folded else []
        if matches:
            return f"did you mean {labels[matches[0]]}?"
        if name.qualifier is None and name.span.end - name.span.start > len(name.name):
            string = shorten(quote_string(name.name))
            if is_plain(name.name):
                return f"write {string} for a string; double quotes make names"
            return column_hint(name.name, f"a string: {string}")
        if name.name.lower() in TIME_NAMES and any(source.tag(None, "tick") for source in self.visible):
            return "INSTANT(tick) is the time of a row"
        there = f"there {'is' if len(labels) == 1 else 'are'} {', '.join(labels.values())}"
        return f"{there}; only streams have {name.name}" if name.name in IMPLICIT_TAGS else there

    def _qualifier_hint(self, name: Name, qualifier: str) -> str:
        """Return a hint for an unknown source name before a column: the alias to use, else the names that exist."""
        renamed = next((v for v in self.visible if v.extent == qualifier and v.qualifier), None)
        if renamed is not None:
            alias = shorten(str(renamed.qualifier))
            return f"{shorten(qualifier)} is called {alias} here: write {alias}.{shorten(name.name)}"
        qualifiers = [v.qualifier for v in self.visible if v.qualifier]
        for near in difflib.get_close_matches(qualifier, qualifiers, 1, 0.6):
            if any(v.qualifier == near and v.schema.find(None, name.name) for v in self.visible):
                return f"did you mean {near}.{name.name}?"
        there = f"there {'is' if len(qualifiers) < 2 else 'are'} {', '.join(qualifiers) or 'only a subquery'}"
        return f"no source is called {shorten(qualifier)}; {there}"


@dataclass(slots=True)
class GroupScope:
    """The names visible after grouping: only groups and aggregates are columns (S26)."""

    sources: SourceScope
    groups: Mapping[Expression, Attribute]
    collected: dict[Hashable, Aggregate] = field(default_factory=dict)

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """The aggregates collected from the query so far, without duplicates."""
        return tuple(self.collected.values())

    @property
    def calendar(self) -> Calendar:
        """The catalog's mapping between ticks and real time."""
        return self.sources.calendar

    def translate_in_scope(self, node: Node) -> Expression | None:
        """Return the column of a grouping expression or of an aggregate's result, or None for other nodes."""
        if isinstance(node, FunctionCall) and node.name in self.sources.aggregates:
            return Column(self.aggregate(node).attribute)
        if not self.groups or has_aggregate(node, self.sources.aggregates):
            return None
        group = self.groups.get(translate(node, self.sources))
        return None if group is None else Column(group)

    def resolve(self, name: Name) -> Expression:
        """Return a query parameter's value; raise LanguageRule for a column that is neither grouped nor aggregated."""
        expression = self.sources.resolve(name)
        if isinstance(expression, Constant):
            return expression
        raise LanguageRule(
            f"{unparse(name)} is neither grouped nor aggregated",
            span=name.span,
            hint=f"add it to GROUP BY, or use an aggregate such as MAX({unparse(name)})",
        )

    def add_count(self) -> None:
        """Add COUNT(*) to the aggregates; a query that has no other aggregate then gives one tuple per window."""
        self.aggregate(FunctionCall("COUNT", (), star=True))

    def aggregate(self, node: FunctionCall) -> Aggregate:
        """Return the plan's aggregate for a call such as SUM(x), added at its first call; equal calls share it.

        Raises LanguageRule or TypeProblem if the argument does not fit.
        """
        function = AggregateFunction(node.name)
        if len(node.arguments) != (0 if node.star else 1) or (node.star and node.name != "COUNT"):
            hint = self._argument_hint(node, function)
            raise LanguageRule(f"{node.name} takes one argument", span=node.span, hint=hint)
        nested = next((n for a in node.arguments for n in aggregates_in(a, self.sources.aggregates)), None)
        if nested is not None:
            raise LanguageRule(
                "an aggregate is not allowed inside an aggregate",
                span=nested.span,
                hint=f"compute {shorten(unparse(nested))} in a subquery in FROM",
            )
        argument = None if node.star else translate(node.arguments[0], self.sources)
        if (function, argument) in self.collected:
            return self.collected[function, argument]
        result_type = function.result(Type.INTEGER if argument is None else argument.type)
        if result_type is None:
            raise TypeProblem(
                f"{node.name} does not take {with_article(argument.type) if argument else '*'}",
                span=node.span,
                hint="it takes numbers; COUNT, MIN and MAX take any type",
            )
        self.collected[function, argument] = Aggregate(function, argument, self.aggregate_attribute(node, result_type))
        return self.collected[function, argument]

    def _argument_hint(self, node: FunctionCall, function: AggregateFunction) -> str:
        """Return a hint that suggests one-argument calls, for an aggregate call with *, none or several."""
        texts = [unparse(argument) for argument in node.arguments]
        if not texts:
            texts = [a.name for a in self.sources.star_attributes() if function.result(a.type) is not None][:2]
        calls = " or ".join(f"{node.name}({shorten(text)})" for text in texts[:2])
        return f"{'only COUNT takes *; ' if node.star else ''}write {calls or f'{node.name} of a number'}"

    def aggregate_attribute(self, node: FunctionCall, kind: Type) -> Attribute:
        """Return the output attribute of an aggregate call, of type `kind`, named unlike all GROUP BY columns."""
        return unique_attribute(Attribute(unparse(node), kind), {group.label for group in self.groups.values()})


def unique_attribute(attribute: Attribute, taken: set[str]) -> Attribute:
    """Return the attribute, with apostrophes appended to its name until its label is not in `taken`."""
    while attribute.label in taken:
        attribute = replace(attribute, name=attribute.name + "'")
    return attribute


def has_aggregate(node: Node, names: frozenset[str]) -> bool:
    """Whether an expression, without its subqueries, calls an aggregate function, that is one in `names`."""
    return bool(aggregates_in(node, names))


def aggregates_in(node: Node, names: frozenset[str]) -> list[FunctionCall]:
    """Return the calls of functions in `names` inside an expression, without its subqueries."""
    return [part for part in nodes_in(node) if isinstance(part, FunctionCall) and part.name in names]


def nodes_in(node: Node) -> Iterator[object]:
    """Yield a syntax node and its descendants, except those inside subqueries."""
    stack: list[object] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack.extend(part)
        elif hasattr(part, "__dataclass_fields__"):
            yield part
            stack.extend(getattr(part, name) for name in part.__dataclass_fields__ if name not in ("span", "query"))


def names_in(node: Node | None) -> Iterator[str]:
    """Yield the column names in an expression without qualifiers; names inside subqueries are left out."""
    yield from (part.name for part in nodes_in(node) if isinstance(part, Name)) if node is not None else ()
