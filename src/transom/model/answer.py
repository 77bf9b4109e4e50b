"""Answers of queries, tagged tuples or windows, and their output as tables, JSON lines and CSV."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, overload

from transom.errors import UsageError
from transom.model import tabular
from transom.model.answer_kind import AnswerKind
from transom.model.bag import Bag, Element
from transom.model.time import Calendar
from transom.model.types import Type, Value
from transom.model.view import PRINT_ALL, PrintOptions

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that start a formula in spreadsheets, full-width signs and white space included."""
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")

FORMATS = ("csv", "jsonl")
"""The formats that `Answer.lines` writes."""
EMPTY = "(empty)"
"""The table cell that marks an empty window."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query: a stream of tuples (`elements`), or a stream of windows (`windows`).

    `columns` are the names of the attributes, and `types` their types. `calendar` converts ticks to instants.
    Any library that reads the Arrow C stream interface accepts an answer, such as pandas, polars and DuckDB.

    Examples:
        >>> import transom
        >>> query = transom.compile("SELECT x FROM a", {"extents": {"a": "pushed (x:integer)"}})
        >>> answer = query.simulate({"a": [(0, 20), (1, None), (2, 22)]})
        >>> answer
        <Answer: 3 tagged-tuples (x)>
        >>> answer[0].tick, answer[0].row
        (0, (20,))
        >>> answer[1:]
        <Answer: 2 tagged-tuples (x)>
    """

    columns: tuple[str, ...]
    kind: AnswerKind
    elements: tuple[Element, ...] = ()
    windows: tuple[Bag, ...] = ()
    types: tuple[Type, ...] = field(default=(), repr=False, compare=False)
    calendar: Calendar | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        """A summary for consoles: number of tuples or windows, kind of answer and columns, without the rows."""
        return f"<Answer: {len(self):,} {self.kind} ({', '.join(self.columns)})>"

    def __len__(self) -> int:
        """The number of result tuples, or the number of windows if the answer consists of windows."""
        return len(self.elements) if self.kind != "windows" else len(self.windows)

    def __iter__(self) -> Iterator[Element | Bag]:
        """Iterate over the result tuples in stream order, or over the windows in order of creation."""
        return iter(self.elements if self.kind != "windows" else self.windows)

    @overload
    def __getitem__(self, position: int) -> Element | Bag:
        """The tuple or window at a position, from 0; negative positions count from the end."""

    @overload
    def __getitem__(self, position: slice) -> Answer:
        """The answer with only the tuples or windows of a slice."""

    def __getitem__(self, position: int | slice) -> Element | Bag | Answer:
        """The tuple or window at a position, or the answer with only those of a slice."""
        if not isinstance(position, slice):
            return (self.elements if self.kind != "windows" else self.windows)[position]
        return replace(self, elements=self.elements[position], windows=self.windows[position])

    @property
    def schema(self) -> dict[str, str]:
        """The type of each column of `records`, by name.

        Examples:
            >>> answer.schema
            {'tick': 'time', 'index': 'integer', 'x': 'integer'}
        """
        return {name: str(kind) for name, kind in self._column_types()}

    def _column_types(self) -> list[tuple[str, Type]]:
        """The columns of `records` with their types; types that nobody declared are inferred from the values."""
        rows = [element.row for element in self.elements] + [row for window in self.windows for row in window.rows]
        types = self.types or tabular.infer_types(rows, len(self.columns))
        second = {"tagged-tuples": [Type.INTEGER], "stream": [], "windows": [Type.INTEGER, Type.BOOLEAN]}[self.kind]
        return list(zip(self.header, (Type.TIME, *second, *types), strict=True))

    def to_arrow(self, *, instants: bool | None = None) -> pyarrow.Table:
        """The answer as a pyarrow Table.

        Timestamps are the instants at which ticks begin, in UTC. Raises UsageError if pyarrow is missing.

        Args:
            instants: Whether values of type time, such as `tick`, become timestamps; by default if the catalog sets an
                `epoch`.

        Examples:
            >>> answer.to_arrow().to_pylist()[:2]
            [{'tick': 0, 'index': 1, 'x': 20}, {'tick': 1, 'index': 2, 'x': None}]
        """
        return tabular.to_arrow(self._column_types(), self.records(), self.calendar, instants)

    def to_pandas(self, *, instants: bool | None = None) -> pandas.DataFrame:
        """The answer as a pandas DataFrame.

        Raises UsageError if pandas or pyarrow is missing.

        Integer and boolean columns have nullable types, so NULL does not turn them into floats.

        Args:
            instants: Whether values of type time, such as `tick`, become timestamps; by default if the catalog sets an
                `epoch`.

        Examples:
            >>> answer.to_pandas()
               tick  index     x
            0     0      1    20
            1     1      2  <NA>
            2     2      3    22
        """
        return tabular.to_pandas(self.to_arrow(instants=instants))

    def to_polars(self, *, instants: bool | None = None) -> polars.DataFrame:
        """The answer as a polars DataFrame.

        Raises UsageError if polars or pyarrow is missing.

        Args:
            instants: Whether values of type time, such as `tick`, become timestamps; by default if the catalog sets an
                `epoch`.

        Examples:
            >>> answer.to_polars()["x"].to_list()
            [20, None, 22]
        """
        return tabular.to_polars(self.to_arrow(instants=instants))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The answer as a stream of the Arrow C data interface, with `requested_schema` if that is not None."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def clipped(self, start: int, until: int | None, last: int | None = None) -> Answer:
        """Return this answer unchanged; only an RdfAnswer has intervals, which this method cuts.

        Examples:
            >>> answer.clipped(1, 2) is answer
            True
        """
        return self

    @property
    def header(self) -> tuple[str, ...]:
        """The column names of `records`: the tags (such as tick and index), and then the attributes.

        If the answer consists of windows, the column `empty` comes between them.
        """
        return self.tags + ((self._unused_name("empty"),) if self.kind == "windows" else ()) + self.columns

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of the columns before the attributes.

        These are `tick` and `index`, for windows `tick` and `seq`, and for a stream in CQL only `tick`. If an attribute
        has one of these names, the column gets another one.
        """
        second = {"tagged-tuples": ("index",), "stream": (), "windows": ("seq",)}[self.kind]
        return tuple(map(self._unused_name, ("tick", *second)))

    def _unused_name(self, name: str) -> str:
        """Return a column name that no attribute has: `name`, with ` (tag)` appended until it is unused."""
        while name in self.columns:
            name = f"{name} (tag)"
        return name

    def records(self, view: PrintOptions = PRINT_ALL) -> Iterator[tuple[Value, ...]]:
        """Yield flat rows: the tags, for windows also whether the window is empty, and the attribute values.

        Examples:
            >>> list(answer.records())
            [(0, 1, 20), (1, 2, None), (2, 3, 22)]
        """
        for element in self._elements_in(view):
            yield (view.value(element.tick), *self.tag(element)[1:], *element.row)
        for seq, window in self.numbered_windows(view):
            for row in window.rows:
                yield (view.value(window.tick), seq, False, *row)
            if not window.rows:
                yield (view.value(window.tick), seq, True, *(None for _ in self.columns))

    def tag(self, element: Element) -> tuple[int, ...]:
        """The tag of a tuple: its tick and index. In a stream of CQL, which has no order, the tag is only the tick.

        Examples:
            >>> answer.tag(answer[1])
            (1, 2)
        """
        return (element.tick,) if self.kind == "stream" else (element.tick, element.index)

    def _elements_in(self, view: PrintOptions) -> Iterator[Element]:
        """Yield the tuples of the answer that are to be printed: those whose ticks `view` shows."""
        return (element for element in self.elements if view.shows(element.tick))

    def numbered_windows(self, view: PrintOptions = PRINT_ALL) -> Iterator[tuple[int, Bag]]:
        """Yield the windows that `view` selects, each with its number among the windows of its tick, from 1.

        Examples:
            >>> list(answer.numbered_windows())  # this answer has tuples, not windows
            []
        """
        seq, last = 0, None
        for window in self.windows:
            seq = seq + 1 if window.tick == last else 1
            last = window.tick
            if view.shows(window.tick) and (window.rows or view.empty):
                yield seq, window

    def table(self, view: PrintOptions = PRINT_ALL) -> Iterator[tuple[str, ...]]:
        """Yield header and rows of a text table; only the first row of a window has its tick and number (`seq`).

        Examples:
            >>> list(answer.table())[:2]
            [('tick', 'index', 'x'), ('0', '1', '20')]
        """
        yield self.tags + self.columns
        for element in self._elements_in(view):
            yield (view.cell(element.tick), *map(str, self.tag(element)[1:]), *map(_table_cell, element.row))
        for seq, window in self.numbered_windows(view):
            tag = (view.cell(window.tick), str(seq))
            for row in window.rows:
                yield (*tag, *map(_table_cell, row))
                tag = ("", "")
            if not window.rows:
                yield (*tag, *(EMPTY if i == 0 else "" for i in range(len(self.columns))))

    def lines(self, form: str, *, guard: bool = False, view: PrintOptions = PRINT_ALL) -> Iterator[str]:
        """Return the lines of the answer in the format csv or jsonl; `guard` is that of `csv_lines`.

        Examples:
            >>> list(answer.lines("csv"))[:2]
            ['tick,index,x', '0,1,20']
        """
        if form not in FORMATS:
            raise UsageError(f"only answers to SPARQL can be written as {form}", hint="write table, csv or jsonl")
        return self.csv_lines(guard=guard, view=view) if form == "csv" else self.json_lines(view)

    def json_lines(self, view: PrintOptions = PRINT_ALL) -> Iterator[str]:
        """Yield JSON lines: one object for each tuple of a stream, or for each window with all its rows.

        Examples:
            >>> next(answer.json_lines())
            '{"tick": 0, "index": 1, "values": {"x": 20}}'
        """
        for element in self._elements_in(view):
            tags = {"tick": view.value(element.tick)} | (
                {"index": element.index} if self.kind == "tagged-tuples" else {}
            )
            yield _json_line({**tags, "values": self._values_by_column(element.row)})
        for seq, window in self.numbered_windows(view):
            rows = [self._values_by_column(row) for row in window.rows]
            yield _json_line({"tick": view.value(window.tick), "seq": seq, "rows": rows})

    def csv_lines(self, *, guard: bool = False, view: PrintOptions = PRINT_ALL) -> Iterator[str]:
        """Yield the answer as CSV lines, with the header first.

        With `guard`, text that a spreadsheet would take for a formula gets an apostrophe in front.

        NULL is an empty cell, and an empty string is two quotes.

        Examples:
            >>> list(answer.csv_lines())
            ['tick,index,x', '0,1,20', '1,2,', '2,3,22']
        """
        cell = _guarded_cell if guard else _cell
        yield ",".join(map(cell, self.header))
        for record in self.records(view):
            yield ",".join(map(cell, record))

    def _values_by_column(self, row: tuple[Value, ...]) -> dict[str, Value]:
        """Convert a row to a dictionary from column names to values, for JSON."""
        return dict(zip(self.columns, row, strict=True))

    def _repr_html_(self) -> str:
        """The answer as an HTML table for notebooks, with the first 200 records and a count of the rest."""
        from html import escape

        head = "".join(f"<th>{escape(name)}</th>" for name in self.header)
        lines = []
        for count, record in enumerate(self.records()):
            if count == 200:
                rest = sum(1 for _ in self.records()) - count
                lines.append(f'<tr><td colspan="{len(self.header)}">and {rest:,} more</td></tr>')
                break
            cells = "".join(f"<td>{escape(show(value))}</td>" for value in record)
            lines.append(f"<tr>{cells}</tr>")
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _table_cell(value: Value) -> str:
    """Format a value for a text table; NULL is written as `NULL`."""
    return "NULL" if value is None else show(value)


def show(value: Value) -> str:
    """Format a value as text for people: NULL becomes the empty string, timestamps are in ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _guarded_cell(value: Value) -> str:
    """Format a value as a CSV field, with an apostrophe in front if a spreadsheet would take it for a formula."""
    formula = isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.fullmatch(value)
    return _cell(f"'{value}" if formula else value)


def _cell(value: Value) -> str:
    """Format a value as a CSV field: NULL is empty; an empty string and text with special characters are quoted."""
    text = show(value)
    if (text == "" and value is not None) or any(special in text for special in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _json_line(content: object) -> str:
    """Format a value as JSON on one line; timestamps and decimals become strings."""
    return json.dumps(content, ensure_ascii=False, default=_json_default)


def _json_default(value: object) -> str:
    """Return the JSON string for a value without a JSON type: ISO 8601 for timestamps, plain digits for decimals."""
    return (
        value.isoformat() if isinstance(value, datetime) else format(value, "f") if isinstance(value, Decimal) else ""
    )
