"""The names of what a question exercises, found from the question itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from .inputs import boundaries, items_of
from .question import (
    Aggregate,
    Between,
    Binary,
    Case,
    Column,
    Converter,
    Expr,
    Extent,
    In,
    IsNull,
    Item,
    Literal,
    Not,
    Query,
    Scan,
    StreamQuery,
    Window,
    WindowQuery,
    expressions,
    parts,
    subqueries,
)

Schema = dict[str, dict[str, Any]]
Inputs = dict[str, list[list[Any]]]

_OPERATORS = {"AND": "and", "OR": "or", "+": "add", "-": "subtract", "*": "multiply", "/": "divide"}

CONSTRUCTS = (
    # queries over streams
    "stream-over-sensed",
    "stream-over-pushed",
    "select-tick",
    "select-index",
    "star",
    "column-alias",
    "item-alias",
    "qualified",
    "unqualified",
    # expressions
    "where",
    "and",
    "or",
    "not",
    "comparison",
    "is-null",
    "in",
    "in-null",
    "between",
    "case",
    "add",
    "subtract",
    "multiply",
    "divide",
    # windows
    "time-window",
    "row-window",
    "unit-sec",
    "unit-min",
    "unit-hour",
    "unit-rows",
    "offset-window",
    "inverted-window",
    "gap-window",
    "overlap-window",
    "scan",
    "stored-alone",
    "stored-in-product",
    "window-tuple-tick",
    # products
    "product-2",
    "product-3",
    "equi-join",
    "self-join",
    "row-x-row",
    "time-x-row",
    # aggregates
    "count-star",
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "aggregate-whole-window",
    "group-by",
    "having",
    # converters and nesting
    "rstream",
    "istream",
    "dstream",
    "window-over-stream-query",
    "stream-over-converter",
    "window-over-converter",
    "stream-over-stream-query",
    "row-window-over-filter",
    "two-levels",
    # inputs
    "empty-stream",
    "null-values",
    "equal-rows",
    "rows-at-one-tick",
    "rows-after-until",
    "row-on-bound",
    "row-beside-bound",
    "rows-after-last-slide",
    "version-on-scan",
    "version-beside-scan",
    "empty-version",
    "until-on-boundary",
    "until-before-boundary",
)


def constructs_of(spec: Query, schema: Schema, inputs: Inputs, until: int) -> frozenset[str]:
    """Every construct that the question exercises."""
    found: set[str] = set()
    for query in subqueries(spec):
        if isinstance(query, Converter):
            found.add(query.kind.lower())
            continue
        found.update(_of_query(query, schema))
        for expr in expressions(query):
            found.update(_of_expression(expr))
    for item in items_of(spec):
        found.update(_of_item(item))
        found.update(_of_window_inputs(item, schema, inputs, until))
    if _levels(spec) >= 2:
        found.add("two-levels")
    found.update(_of_inputs(schema, inputs, until))
    fired = boundaries(spec, until + 1)
    if until in fired:
        found.add("until-on-boundary")
    if until + 1 in fired:
        found.add("until-before-boundary")
    return frozenset(found)


def _levels(query: Query) -> int:
    """How many queries stand inside one another in FROM."""
    inner = query.query if isinstance(query, Converter) else query
    items = (inner.item,) if isinstance(inner, StreamQuery) else inner.items
    return max((1 + _levels(item.source) for item in items if not isinstance(item.source, Extent)), default=0)


def _of_query(query: StreamQuery | WindowQuery, schema: Schema) -> Iterator[str]:
    if query.where is not None:
        yield "where"
    if query.outputs is None:
        yield "star"
    if any(output.name is not None for output in query.outputs or ()):
        yield "column-alias"
    if isinstance(query, StreamQuery):
        yield from _of_stream_query(query, schema)
    else:
        yield from _of_window_query(query, schema)


def _of_stream_query(query: StreamQuery, schema: Schema) -> Iterator[str]:
    match query.item.source:
        case Extent(name):
            yield f"stream-over-{schema[name]['kind']}"
        case Converter():
            yield "stream-over-converter"
        case StreamQuery():
            yield "stream-over-stream-query"
    for output in query.outputs or ():
        if isinstance(output.expr, Column) and output.expr.name in ("tick", "index"):
            yield f"select-{output.expr.name}"


def _of_window_query(query: WindowQuery, schema: Schema) -> Iterator[str]:
    stored = [
        isinstance(item.source, Extent) and schema[item.source.name]["kind"] == "stored" and not item.window
        for item in query.items
    ]
    if any(stored):
        yield "stored-alone" if len(stored) == 1 else "stored-in-product"
    if len(query.items) > 1:
        yield f"product-{len(query.items)}"
        names = [item.source.name for item in query.items if isinstance(item.source, Extent)]
        if len(names) > len(set(names)):
            yield "self-join"
        shapes = Counter(item.window.rows for item in query.items if isinstance(item.window, Window))
        if shapes[True] > 1:
            yield "row-x-row"
        if shapes[True] and shapes[False]:
            yield "time-x-row"
        if query.where is not None and any(_joins(part) for part in parts(query.where)):
            yield "equi-join"
    if query.group_by:
        yield "group-by"
        if query.having is not None:
            yield "having"
    elif any(isinstance(expr, Aggregate) for expr in expressions(query)):
        yield "aggregate-whole-window"
    for expr in expressions(query):
        if isinstance(expr, Column) and expr.name == "tick":
            yield "window-tuple-tick"


def _joins(expr: Expr) -> bool:
    if not (isinstance(expr, Binary) and expr.op == "="):
        return False
    left, right = expr.left, expr.right
    if not (isinstance(left, Column) and isinstance(right, Column)):
        return False
    return left.qualifier is not None and right.qualifier is not None and left.qualifier != right.qualifier


def _of_expression(expr: Expr) -> Iterator[str]:
    match expr:
        case Column():
            yield "unqualified" if expr.qualifier is None else "qualified"
        case Binary():
            yield _OPERATORS.get(expr.op, "comparison")
        case Not():
            yield "not"
        case IsNull():
            yield "is-null"
        case In():
            yield "in"
            if Literal(None) in expr.options:
                yield "in-null"
        case Between():
            yield "between"
        case Case():
            yield "case"
        case Aggregate():
            yield "count-star" if expr.argument is None else expr.function.lower()


def _of_item(item: Item) -> Iterator[str]:
    if item.alias is not None:
        yield "item-alias"
    window = item.window
    if isinstance(window, Scan):
        yield from ("scan", f"unit-{window.unit.lower()}")
    if not isinstance(window, Window):
        return
    yield from ("row-window" if window.rows else "time-window", f"unit-{window.unit.lower()}")
    if window.upto > 0:
        yield "offset-window"
    wide = (window.since - window.upto) * window.scale + 1
    if window.since < window.upto:
        yield "inverted-window"
    elif wide < window.slide * window.scale:
        yield "gap-window"
    elif wide > window.slide * window.scale:
        yield "overlap-window"
    if isinstance(item.source, Converter):
        yield "window-over-converter"
    elif isinstance(item.source, StreamQuery):
        yield "window-over-stream-query"
        if window.rows and item.source.where is not None:
            yield "row-window-over-filter"


def _of_window_inputs(item: Item, schema: Schema, inputs: Inputs, until: int) -> Iterator[str]:
    """What the rows of an extent do to the window that stands directly on it."""
    if not isinstance(item.source, Extent):
        return
    rows, window = inputs[item.source.name], item.window
    if isinstance(window, Scan):
        since = {row[0] for row in rows if 0 < row[0] <= until}
        if any(tick % window.ticks == 0 for tick in since):
            yield "version-on-scan"
        if any(tick % window.ticks in (1, window.ticks - 1) for tick in since if window.ticks > 2):
            yield "version-beside-scan"
    elif isinstance(window, Window) and window.rows:
        count = sum(row[0] <= until for row in rows)
        if count > window.slide and count % window.slide:
            yield "rows-after-last-slide"
    elif isinstance(window, Window):
        slide = window.slide * window.scale
        ends = (window.since * window.scale % slide, window.upto * window.scale % slide)
        bounds = {-end % slide for end in ends}
        beside = {-ends[0] % slide - 1, (-ends[1] + 1) % slide} - bounds
        places = {row[0] % slide for row in rows if row[0] <= until}
        if places & bounds:
            yield "row-on-bound"
        if places & {place % slide for place in beside}:
            yield "row-beside-bound"


def _of_inputs(schema: Schema, inputs: Inputs, until: int) -> Iterator[str]:
    for name, rows in inputs.items():
        if schema[name]["kind"] == "stored":
            if any(not version[1] for version in rows):
                yield "empty-version"
            continue
        seen = [row for row in rows if row[0] <= until]
        if not seen:
            yield "empty-stream"
        if len(seen) < len(rows):
            yield "rows-after-until"
        if any(None in row for row in seen):
            yield "null-values"
        if any(count > 1 for count in Counter(row[0] for row in seen).values()):
            yield "rows-at-one-tick"
        if any(count > 1 for count in Counter(tuple(row[2:]) for row in seen).values()):
            yield "equal-rows"
