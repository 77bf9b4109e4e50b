"""Random valid SNEEql questions, the same ones for the same seed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

from .constructs import constructs_of
from .expressions import COUNTS, POOLS, Phrases, Ref
from .inputs import Filler, last_tick
from .question import (
    Aggregate,
    Binary,
    Column,
    Converter,
    Expr,
    Extent,
    Item,
    Literal,
    Output,
    Query,
    Question,
    Scan,
    StreamQuery,
    Value,
    Window,
    WindowQuery,
    column_name,
    render,
    visible_name,
)

EXTENT_NAMES = {"sensed": ["road", "field"], "pushed": ["traffic", "a", "b"], "stored": ["tempClass", "lim"]}
ATTRIBUTES = {
    "integer": ["x", "y", "temp", "weight"],
    "float": ["z", "speed"],
    "string": ["category", "label"],
}
Source = Extent | StreamQuery | Converter
ALIASES = ("l", "r", "s", "p", "q")
CONVERTERS = ("RSTREAM", "ISTREAM", "DSTREAM")
# Numbers in a unit 60 times smaller than the one the question is made around.
FINE_SLIDES = (20, 30, 45, 60, 90)
FINE_SINCE = (0, 1, 30, 59, 60, 61, 90, 120)
FINE_UPTO = (1, 29, 30, 60)


@dataclass(frozen=True)
class Field:
    """A column of an extent or a subquery, as an enclosing query sees it."""

    name: str
    kind: str
    pool: tuple[Value, ...]
    small: bool


@dataclass(frozen=True)
class Side:
    """A from-item and its columns."""

    item: Item
    fields: tuple[Field, ...]


def generate(seed: int) -> Question:
    """The question of a seed."""
    return _Maker(seed).question()


class _Maker:
    """The making of one question."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.base_unit = self.rng.choices(("SEC", "MIN", "HOUR"), (60, 22, 18))[0]
        self.base = {"SEC": 1, "MIN": 60, "HOUR": 3600}[self.base_unit]
        self.schema: dict[str, dict[str, Any]] = {}
        self.fields: dict[str, tuple[Field, ...]] = {}
        self.domain = {kind: self.rng.sample(list(dict.fromkeys(pool)), 4) for kind, pool in POOLS.items()}
        self.domain["integer"] = [0, *(value for value in self.domain["integer"] if value != 0)]
        self.cap = 14
        self.named = 0

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def question(self) -> Question:
        """Query first, then inputs that press on its bounds, then the last tick."""
        spec = self._query()
        counts = {"SEC": (4, 26 if self.cap > 10 else 14), "MIN": (3, 8), "HOUR": (2, 6)}[self.base_unit]
        horizon = self.rng.randint(*counts) * self.base + self.rng.choice((0, 0, 1)) * (self.base // 2)
        pools = {name: [field.pool for field in fields] for name, fields in self.fields.items()}
        inputs = Filler(self.rng, spec, horizon, self.base, self.cap).fill(self.schema, pools)
        until = last_tick(self.rng, spec, inputs, horizon)
        constructs = constructs_of(spec, self.schema, inputs, until)
        return Question(self.seed, render(spec), self.schema, inputs, until, constructs, spec)

    def _query(self) -> Query:
        shape = self.rng.choices(("stream", "stream-sub", "window", "converter"), (17, 14, 42, 27))[0]
        if shape == "stream":
            return self._stream_query(2, 0.0, top=True)[0]
        if shape == "stream-sub":
            return self._stream_query(2, 1.0, top=True)[0]
        if shape == "window":
            return self._window_query(2, top=True)[0]
        return Converter(self.rng.choice(CONVERTERS), self._window_query(2, top=True)[0])

    # --- extents -----------------------------------------------------------------------------------

    def _extent(self, *kinds: str) -> str:
        """An extent of one of these kinds: an old one, or a new one while there are few."""
        old = [name for name, extent in self.schema.items() if extent["kind"] in kinds]
        kind = self.rng.choice(kinds)
        fresh = [name for name in EXTENT_NAMES[kind] if name not in self.schema]
        if old and (not fresh or len(self.schema) >= 3 or self.chance(0.35)):
            return self.rng.choice(old)
        name = self.rng.choice(fresh)
        self._declare(name, kind)
        return name

    def _declare(self, name: str, kind: str) -> None:
        names: list[tuple[str, str]] = [("site", "integer")] if kind == "sensed" else []
        wanted = ["integer", *self.rng.choices(("integer", "float", "string"), (45, 30, 25), k=2)]
        for attribute_kind in wanted[: self.rng.choice((1, 2, 2, 3))]:
            left = [n for n in ATTRIBUTES[attribute_kind] if (n, attribute_kind) not in names]
            names.append((self.rng.choice(left), attribute_kind))
        self.schema[name] = {"kind": kind, "attrs": [f"{n}:{k}" for n, k in names]}
        fields = [Field(n, k, self._pool(k), True) for n, k in names]
        if kind == "sensed":
            steps = (1, 2, 3, 5) if self.base == 1 else (self.base, self.base, self.base // 2)
            sites = self.rng.sample((1, 2, 3, 4), self.rng.choice((1, 2, 2, 3)))
            self.schema[name] |= {"interval": self.rng.choice(steps), "sites": sites}
            fields[0] = Field("site", "integer", tuple(sites), True)
        self.fields[name] = tuple(fields)

    def _pool(self, kind: str) -> tuple[Value, ...]:
        """The few values of an attribute; any two attributes of one kind share some."""
        return tuple(self.rng.sample(self.domain[kind], self.rng.choice((2, 2, 3))))

    # --- windows -----------------------------------------------------------------------------------

    def _window(self, rows: float, narrow: bool) -> Window:
        """A window: sometimes offset, inverted, overlapping, or with gaps."""
        unit = "ROWS" if self.chance(rows) else self._unit()
        if unit != "ROWS" and unit != self.base_unit:
            return self._odd_window(unit)
        slide = self.rng.choice((1, 1, 1, 2, 2, 3) if narrow else (1, 1, 1, 2, 2, 3, 5))
        since = self.rng.choice((0, 1, 1, 2, 2, 3) if narrow else (0, 1, 2, 2, 3, 4, 5, 6))
        upto = 0 if self.chance(0.75) else self.rng.randint(0, since)
        if self.chance(0.06):
            since, upto = self.rng.choice(((0, 1), (1, 2), (1, 4), (0, 3)))
        return Window(since, upto, slide, unit)

    def _unit(self) -> str:
        return self.base_unit if self.chance(0.85) else self.rng.choice(("SEC", "MIN", "HOUR"))

    def _odd_window(self, unit: str) -> Window:
        """A time window whose unit is not the one that the question is made around."""
        if self.base == 1:
            return Window(self.rng.choice((0, 1)), 0, 1, unit)
        since = self.rng.choice(FINE_SINCE)
        upto = 0 if self.chance(0.7) else self.rng.choice(FINE_UPTO)
        slide = self.rng.choice(FINE_SLIDES)
        if (self.base_unit, unit) == ("MIN", "HOUR"):
            return Window(self.rng.choice((0, 1)), 0, 1, unit)
        scale = 60 if (self.base_unit, unit) == ("HOUR", "SEC") else 1
        return Window(since * scale, upto * scale, slide * scale, unit)

    def _scan(self) -> Scan:
        unit = self._unit()
        if unit == self.base_unit or self.base == 1 or (self.base_unit, unit) == ("MIN", "HOUR"):
            return Scan(self.rng.choice((1, 2, 2, 3, 4)), unit)
        scale = 60 if (self.base_unit, unit) == ("HOUR", "SEC") else 1
        return Scan(self.rng.choice(FINE_SLIDES) * scale, unit)

    # --- from-items --------------------------------------------------------------------------------

    def _source(self, depth: int, nested: float) -> tuple[Source, tuple[Field, ...]]:
        """A stream: an extent, a stream query, or a converter."""
        if depth <= 0 or not self.chance(nested):
            name = self._extent("sensed", "pushed", "pushed")
            return Extent(name), self.fields[name]
        if self.chance(0.55):
            return self._stream_query(depth - 1, 0.3, top=False)
        query, fields = self._window_query(depth - 1, top=False)
        return Converter(self.rng.choices(CONVERTERS, (45, 33, 22))[0], query), fields

    def _stream_side(self, depth: int, nested: float, narrow: bool, rows: float = 0.42) -> Side:
        source, fields = self._source(depth, nested)
        alias = None
        if self.chance(0.12 if isinstance(source, Extent) else 0.5):
            alias = "s"
        window = self._window(max(rows, 0.6) if isinstance(source, StreamQuery) else rows, narrow)
        return Side(Item(source, window, alias), fields)

    def _stored_side(self, alias: str | None, scanned: float) -> Side:
        name = self._extent("stored")
        window = self._scan() if self.chance(scanned) else None
        return Side(Item(Extent(name), window, alias), self.fields[name])

    def _sides(self, depth: int, top: bool) -> list[Side]:
        """The from-items of a window query."""
        weights = (46, 12, 28, 10, 13) if top else (66, 6, 18, 10, 0)
        shape = self.rng.choices(("one", "stored", "two", "self", "three"), weights)[0]
        if shape == "one":
            return [self._stream_side(depth, 0.38, narrow=not top)]
        if shape == "stored":
            return [self._stored_side("s" if self.chance(0.15) else None, 0.4)]
        if shape == "self":
            return self._self_join()
        count = 3 if shape == "three" else 2
        self.cap = min(self.cap, 7 if count == 3 else 10)
        rows = self.rng.choice((0.3, 0.5, 0.9))
        sides: list[Side] = []
        for place in range(count):
            if self.chance(0.28):
                side = self._stored_side(None, 0.6)
            else:
                side = self._stream_side(min(depth, 1), 0.14, narrow=True, rows=rows)
            if side.item.qualifier is None or self.chance(0.12):
                side = Side(Item(side.item.source, side.item.window, ALIASES[place]), side.fields)
            sides.append(side)
        if shape == "two" and self.chance(0.5):
            self.rng.shuffle(sides)
        names = [side.item.source.name for side in sides if isinstance(side.item.source, Extent)]
        qualifiers = {side.item.qualifier for side in sides}
        return sides if len(qualifiers) == count and len(set(names)) == len(names) else _aliased(sides)

    def _self_join(self) -> list[Side]:
        self.cap = min(self.cap, 10)
        if self.chance(0.12):
            name = self._extent("stored")
            windows = [self._scan() if self.chance(0.6) else None for _ in range(2)]
            items = [Item(Extent(name), window, alias) for window, alias in zip(windows, "lr", strict=True)]
        else:
            name = self._extent("sensed", "pushed", "pushed")
            items = [Item(Extent(name), self._window(0.5, True), alias) for alias in "lr"]
        return [Side(item, self.fields[name]) for item in items]

    # --- queries -----------------------------------------------------------------------------------

    def _stream_query(self, depth: int, nested: float, top: bool) -> tuple[StreamQuery, tuple[Field, ...]]:
        source, fields = self._source(depth, nested)
        alias = "q" if self.chance(0.12 if isinstance(source, Extent) else 0.25) else None
        side = Side(Item(source, None, alias), fields)
        refs = _refs([side])
        implicit = [_implicit(name, side.item.qualifier, self.base) for name in ("tick", "index")]
        phrases = Phrases(self.rng, refs + (implicit if self.chance(0.25) else []))
        where = phrases.predicate() if self.chance(0.68 if top else 0.75) else None
        if self.chance(0.1):
            return StreamQuery(None, side.item, where), fields
        outputs, seen = self._outputs(phrases, refs, implicit, top)
        return StreamQuery(outputs, side.item, where), seen

    def _window_query(self, depth: int, top: bool) -> tuple[WindowQuery, tuple[Field, ...]]:
        sides = self._sides(depth, top)
        items = tuple(side.item for side in sides)
        refs = _refs(sides)
        ticks = [
            Ref((Column("tick", item.qualifier),), "integer", _tick_pool(self.base))
            for item in items
            if item.qualifier is not None and isinstance(item.window, Window)
        ]
        phrases = Phrases(self.rng, refs + (ticks if self.chance(0.12) else []))
        where = self._where(sides, phrases, 0.36 if top else 0.25)
        if len(items) == 1 and self.chance(0.12):
            return WindowQuery(None, items, where), sides[0].fields
        if self.chance(0.4):
            return self._aggregation(items, where, refs, top)
        outputs, seen = self._outputs(phrases, refs, ticks, top)
        return WindowQuery(outputs, items, where), seen

    def _where(self, sides: list[Side], phrases: Phrases, chosen: float) -> Expr | None:
        where = phrases.predicate() if self.chance(chosen) else None
        if len(sides) == 1 or self.chance(0.4):
            return where
        for left, right in pairwise(sides):
            every = [(a, b) for a in left.fields for b in right.fields]
            pairs = [(a, b) for a, b in every if a.kind == b.kind and a.small == b.small]
            if pairs and (where is None or self.chance(0.4)):
                one, other = self.rng.choice(pairs)
                columns = [Column(f.name, side.item.qualifier) for f, side in ((one, left), (other, right))]
                test = Binary("=", columns[0], columns[1])
                where = test if where is None else Binary("AND", test, where)
        return where

    def _outputs(
        self, phrases: Phrases, refs: list[Ref], implicit: list[Ref], top: bool
    ) -> tuple[tuple[Output, ...], tuple[Field, ...]]:
        """One to three outputs with different names; no column twice."""
        outputs: list[tuple[Output, Field]] = []
        used: list[Ref] = []
        for _ in range(self.rng.choice((1, 2, 2, 3))):
            if self.chance(0.25):
                ref = phrases.value()
            else:
                ref = self.rng.choice(implicit if implicit and self.chance(0.2) else refs)
            if not any(ref is other for other in used):
                self._add(outputs, ref, top)
                used.append(ref)
        return tuple(output for output, _ in outputs), tuple(seen for _, seen in outputs)

    def _add(self, outputs: list[tuple[Output, Field]], ref: Ref, top: bool) -> None:
        """Add an output, with a name of its own where it needs or likes one; drop a repeated call."""
        expr = self.rng.choice(ref.ways)
        output = Output(expr)
        plain = isinstance(expr, Column) or (top and _plain_call(expr))
        hidden = not top and visible_name(output) in ("tick", "index")
        clash = not top and any(visible_name(other) == visible_name(output) for other, _ in outputs)
        if not plain or hidden or clash or self.chance(0.12):
            self.named += 1
            output = Output(expr, f"v{self.named}")
        if all(column_name(other) != column_name(output) for other, _ in outputs):
            outputs.append((output, Field(visible_name(output), ref.kind, ref.pool, ref.small)))

    def _aggregation(
        self, items: tuple[Item, ...], where: Expr | None, refs: list[Ref], top: bool
    ) -> tuple[WindowQuery, tuple[Field, ...]]:
        """A select list with aggregates, perhaps by groups."""
        phrases = Phrases(self.rng, refs)
        keys: list[Ref] = []
        if self.chance(0.5):
            keys = self.rng.sample(refs, min(len(refs), self.rng.choice((1, 1, 1, 2))))
        outputs: list[tuple[Output, Field]] = []
        for key in keys:
            if self.chance(0.85):
                self._add(outputs, key, top)
        calls = [phrases.aggregate() for _ in range(self.rng.choice((1, 2, 2, 3)))]
        for call in calls:
            shifted = call.kind != "string" and self.chance(0.08)
            self._add(outputs, self._shifted(call) if shifted else call, top)
        having = None
        if keys and self.chance(0.55):
            judged = [*calls, phrases.aggregate(), *(keys if self.chance(0.3) else [])]
            having = Phrases(self.rng, judged).predicate(self.rng.choice((0, 0, 1)))
        written = [self.rng.choice(key.ways) for key in keys]
        group_by = tuple(way for way in written if isinstance(way, Column))
        query = WindowQuery(tuple(output for output, _ in outputs), items, where, group_by, having)
        return query, tuple(seen for _, seen in outputs)

    def _shifted(self, call: Ref) -> Ref:
        """A number added to an aggregate or taken from it."""
        expr = Binary(self.rng.choice("+-"), call.ways[0], Literal(self.rng.choice((1, 2))))
        return Ref((expr,), call.kind, call.pool)


def _plain_call(expr: Expr) -> bool:
    """True for an aggregate of * or of a column, whose name is its text."""
    return isinstance(expr, Aggregate) and (expr.argument is None or isinstance(expr.argument, Column))


def _aliased(sides: list[Side]) -> list[Side]:
    """The same items with an alias for each."""
    return [
        Side(Item(side.item.source, side.item.window, alias), side.fields)
        for side, alias in zip(sides, ALIASES, strict=False)
    ]


def _refs(sides: list[Side]) -> list[Ref]:
    """Every column that can be named, with all the ways to write it."""
    names = [field.name for side in sides for field in side.fields]
    found: list[Ref] = []
    for side in sides:
        for field in side.fields:
            ways = [] if side.item.qualifier is None else [Column(field.name, side.item.qualifier)]
            ways += [Column(field.name)] if names.count(field.name) == 1 else []
            if ways:
                found.append(Ref(tuple(ways), field.kind, field.pool, field.small))
    return found


def _tick_pool(base: int) -> tuple[Value, ...]:
    return tuple(sorted({max(0, k * base + d) for k in (0, 1, 2, 3, 5) for d in (-1, 0, 1)}))


def _implicit(name: str, qualifier: str | None, base: int) -> Ref:
    """`tick` or `index` of a stream query."""
    ways = (Column(name),) if qualifier is None else (Column(name), Column(name, qualifier))
    return Ref(ways, "integer", _tick_pool(base) if name == "tick" else COUNTS)
