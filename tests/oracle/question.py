"""What a SNEEql question is: the abstract query, its text, and the inputs it runs on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

Value = int | float | str | None

UNIT_TICKS = {"SEC": 1, "MIN": 60, "HOUR": 3600}


# --- expressions -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A column as it is written: with or without the name of its from-item."""

    name: str
    qualifier: str | None = None


@dataclass(frozen=True)
class Literal:
    """A number, a string, or NULL."""

    value: Value


@dataclass(frozen=True)
class Binary:
    """Arithmetic (+ - * /), a comparison, AND, or OR."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True)
class Not:
    """NOT of a predicate."""

    operand: Expr


@dataclass(frozen=True)
class IsNull:
    """IS NULL, or IS NOT NULL when negated."""

    operand: Expr
    negated: bool = False


@dataclass(frozen=True)
class In:
    """IN over a list of literals, or NOT IN when negated."""

    operand: Expr
    options: tuple[Literal, ...]
    negated: bool = False


@dataclass(frozen=True)
class Between:
    """BETWEEN, both ends included, or NOT BETWEEN when negated."""

    operand: Expr
    low: Expr
    high: Expr
    negated: bool = False


@dataclass(frozen=True)
class Case:
    """CASE WHEN ... THEN ...; without `otherwise` the last resort is NULL."""

    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr | None = None


@dataclass(frozen=True)
class Aggregate:
    """COUNT, SUM, AVG, MIN or MAX; no argument means COUNT(*)."""

    function: str
    argument: Expr | None = None


Expr = Column | Literal | Binary | Not | IsNull | In | Between | Case | Aggregate


# --- queries ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Window:
    """[FROM NOW-since TO NOW-upto SLIDE slide unit]; the unit is ROWS or a time unit."""

    since: int
    upto: int
    slide: int
    unit: str

    @property
    def rows(self) -> bool:
        """True for a row window."""
        return self.unit == "ROWS"

    @property
    def scale(self) -> int:
        """Rows or ticks per unit."""
        return UNIT_TICKS.get(self.unit, 1)


@dataclass(frozen=True)
class Scan:
    """[SCAN every unit] on a stored extent."""

    every: int
    unit: str

    @property
    def ticks(self) -> int:
        """Ticks between two scans."""
        return self.every * UNIT_TICKS[self.unit]


@dataclass(frozen=True)
class Extent:
    """A named extent of the schema."""

    name: str


@dataclass(frozen=True)
class Item:
    """One from-item: a source, its window if any, and its alias if any."""

    source: Extent | StreamQuery | Converter
    window: Window | Scan | None = None
    alias: str | None = None

    @property
    def qualifier(self) -> str | None:
        """The name that may stand before this item's columns."""
        if self.alias is not None:
            return self.alias
        return self.source.name if isinstance(self.source, Extent) else None


@dataclass(frozen=True)
class Output:
    """One entry of a select list."""

    expr: Expr
    name: str | None = None


@dataclass(frozen=True)
class StreamQuery:
    """SELECT over one stream without a window; outputs None means SELECT *."""

    outputs: tuple[Output, ...] | None
    item: Item
    where: Expr | None = None


@dataclass(frozen=True)
class WindowQuery:
    """SELECT over windows; outputs None means SELECT *."""

    outputs: tuple[Output, ...] | None
    items: tuple[Item, ...]
    where: Expr | None = None
    group_by: tuple[Column, ...] = ()
    having: Expr | None = None


@dataclass(frozen=True)
class Converter:
    """RSTREAM, ISTREAM or DSTREAM around a window query."""

    kind: str
    query: WindowQuery


Query = StreamQuery | WindowQuery | Converter


@dataclass(frozen=True)
class Question:
    """A query with its schema and inputs, both in the form of golden/cases.yaml."""

    seed: int
    text: str
    schema: dict[str, dict[str, Any]]
    inputs: dict[str, list[list[Any]]]
    until: int
    constructs: frozenset[str]
    spec: Query


# --- text ------------------------------------------------------------------------------------------


def literal_text(value: Value) -> str:
    """A literal as SNEEql writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value)


def expr_text(expr: Expr) -> str:
    """An expression as SNEEql text, without parentheses around the whole."""
    match expr:
        case Column(name, qualifier):
            return name if qualifier is None else f"{qualifier}.{name}"
        case Literal(value):
            return literal_text(value)
        case Binary(op, left, right):
            return f"{_inner(left)} {op} {_inner(right)}"
        case Not(operand):
            return f"NOT {_inner(operand)}"
        case IsNull(operand, negated):
            return f"{_inner(operand)} IS {'NOT ' if negated else ''}NULL"
        case In(operand, options, negated):
            listed = ", ".join(literal_text(option.value) for option in options)
            return f"{_inner(operand)} {'NOT ' if negated else ''}IN ({listed})"
        case Between(operand, low, high, negated):
            word = "NOT BETWEEN" if negated else "BETWEEN"
            return f"{_inner(operand)} {word} {_inner(low)} AND {_inner(high)}"
        case Case(branches, otherwise):
            arms = " ".join(f"WHEN {_inner(test)} THEN {_inner(value)}" for test, value in branches)
            last = "" if otherwise is None else f" ELSE {_inner(otherwise)}"
            return f"CASE {arms}{last} END"
        case Aggregate(function, argument):
            return f"{function}({'*' if argument is None else expr_text(argument)})"


def _inner(expr: Expr) -> str:
    """An expression inside another one: parentheses unless it is a single word or call."""
    text = expr_text(expr)
    if isinstance(expr, Literal) and text.startswith("-"):
        return f"({text})"
    return text if isinstance(expr, Column | Literal | Aggregate) else f"({text})"


def column_name(output: Output) -> str:
    """The name of an output column in the answer."""
    return expr_text(output.expr) if output.name is None else output.name


def visible_name(output: Output) -> str:
    """The name under which an enclosing query sees an output column."""
    if output.name is not None:
        return output.name
    return output.expr.name if isinstance(output.expr, Column) else expr_text(output.expr)


def window_text(window: Window | Scan) -> str:
    """A window with its brackets."""
    if isinstance(window, Scan):
        return f"[SCAN {window.every} {window.unit}]"
    since, upto = (f"NOW-{offset}" if offset else "NOW" for offset in (window.since, window.upto))
    return f"[FROM {since} TO {upto} SLIDE {window.slide} {window.unit}]"


def _item_text(item: Item) -> str:
    name = item.source.name if isinstance(item.source, Extent) else f"({render(item.source)})"
    window = "" if item.window is None else f" {window_text(item.window)}"
    alias = "" if item.alias is None else f" AS {item.alias}"
    return f"{name}{window}{alias}"


def _output_text(output: Output) -> str:
    text = expr_text(output.expr)
    return text if output.name is None else f"{text} AS {output.name}"


def render(query: Query) -> str:
    """The SNEEql text of a query."""
    if isinstance(query, Converter):
        return f"{query.kind}({render(query.query)})"
    items = (query.item,) if isinstance(query, StreamQuery) else query.items
    outputs = "*" if query.outputs is None else ", ".join(_output_text(output) for output in query.outputs)
    text = " ".join(("SELECT", outputs, "FROM", ", ".join(_item_text(item) for item in items)))
    if query.where is not None:
        text += f" WHERE {expr_text(query.where)}"
    if isinstance(query, WindowQuery) and query.group_by:
        text += f" GROUP BY {', '.join(expr_text(key) for key in query.group_by)}"
        if query.having is not None:
            text += f" HAVING {expr_text(query.having)}"
    return text


# --- walking ---------------------------------------------------------------------------------------


def parts(expr: Expr) -> Iterator[Expr]:
    """The expression and everything inside it."""
    yield expr
    inside: tuple[Expr, ...] = ()
    match expr:
        case Binary(_, left, right):
            inside = (left, right)
        case Not(operand) | IsNull(operand, _):
            inside = (operand,)
        case In(operand, options, _):
            inside = (operand, *options)
        case Between(operand, low, high, _):
            inside = (operand, low, high)
        case Case(branches, otherwise):
            inside = tuple(piece for branch in branches for piece in branch)
            inside += () if otherwise is None else (otherwise,)
        case Aggregate(_, argument) if argument is not None:
            inside = (argument,)
    for piece in inside:
        yield from parts(piece)


def subqueries(query: Query) -> Iterator[StreamQuery | WindowQuery | Converter]:
    """The query and every query inside it."""
    yield query
    if isinstance(query, Converter):
        yield from subqueries(query.query)
        return
    for item in (query.item,) if isinstance(query, StreamQuery) else query.items:
        if not isinstance(item.source, Extent):
            yield from subqueries(item.source)


def expressions(query: StreamQuery | WindowQuery) -> Iterator[Expr]:
    """Every expression and part of one that stands in this query itself."""
    roots: list[Expr] = [output.expr for output in query.outputs or ()]
    roots += [] if query.where is None else [query.where]
    if isinstance(query, WindowQuery):
        roots += [*query.group_by]
        roots += [] if query.having is None else [query.having]
    for root in roots:
        yield from parts(root)
