"""What a query answers: tagged tuples or windows, as rows that people and programs can take."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from transom.errors import UsageError
from transom.model.bag import Bag, Element
from transom.model.types import Value

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a formula begins with; spreadsheets take wide signs for the others, and skip white space."""
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
AnswerKind = Literal["tagged-tuples", "stream", "windows"]
"""Tuples with tick and index; the stream of a relation, a bag per tick; windows, each a bag."""
RdfAnswerKind = Literal["solutions", "triples", "sequences", "boolean"]
"""What a query over RDF answers, with the intervals in which it is valid."""

FORMATS = ("csv", "jsonl")
"""The formats of lines."""
EMPTY = "(empty)"
"""What a table says of an empty window."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a query: `elements` of a stream of tuples, or `windows` of a stream of windows."""

    columns: tuple[str, ...]
    kind: AnswerKind
    elements: tuple[Element, ...] = ()
    windows: tuple[Bag, ...] = ()

    def __repr__(self) -> str:
        return f"<Answer: {len(self):,} {self.kind} ({', '.join(self.columns)})>"

    def __len__(self) -> int:
        return len(self.elements) if self.kind != "windows" else len(self.windows)

    def __iter__(self) -> Iterator[Element | Bag]:
        return iter(self.elements if self.kind != "windows" else self.windows)

    def known(self, start: int, until: int | None, last: int | None = None) -> Answer:
        """The answer itself: the inputs say between which ticks it is."""
        return self

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns of `records`."""
        return self.tags + ((self._free("empty"),) if self.kind == "windows" else ()) + self.columns

    @property
    def tags(self) -> tuple[str, ...]:
        """What the tags are called: tick and index, or tick and seq; marked where a column has that name."""
        second = {"tagged-tuples": ("index",), "stream": (), "windows": ("seq",)}[self.kind]
        return tuple(map(self._free, ("tick", *second)))

    def _free(self, name: str) -> str:
        while name in self.columns:
            name = f"{name} (tag)"
        return name

    def records(self) -> Iterator[tuple[Value, ...]]:
        """One record per tuple. An empty window is one record that says so, so it can be told from no window (E5)."""
        for element in self.elements:
            yield (*self.tag(element), *element.row)
        for seq, window in self.numbered_windows():
            for row in window.rows:
                yield (window.tick, seq, False, *row)
            if not window.rows:
                yield (window.tick, seq, True, *(None for _ in self.columns))

    def tag(self, element: Element) -> tuple[int, ...]:
        """The tags of a tuple; in the stream of a relation the tuples of a tick have no order."""
        return (element.tick,) if self.kind == "stream" else (element.tick, element.index)

    def numbered_windows(self) -> Iterator[tuple[int, Bag]]:
        """The windows, each with its number among those of its tick, from 1."""
        seq, last = 0, None
        for window in self.windows:
            seq = seq + 1 if window.tick == last else 1
            last = window.tick
            yield seq, window

    def table(self) -> Iterator[tuple[str, ...]]:
        """The header, and rows for people: tags once per window, NULL is said, and empty windows are named."""
        yield self.tags + self.columns
        for element in self.elements:
            yield (*map(str, self.tag(element)), *map(_said, element.row))
        for seq, window in self.numbered_windows():
            tag = (str(window.tick), str(seq))
            for row in window.rows:
                yield (*tag, *map(_said, row))
                tag = ("", "")
            if not window.rows:
                yield (*tag, *(EMPTY if i == 0 else "" for i in range(len(self.columns))))

    def lines(self, form: str, *, guard: bool = False) -> Iterator[str]:
        """The answer in a format: csv or jsonl."""
        if form not in FORMATS:
            raise UsageError(f"only answers to SPARQL can be written as {form}", hint="write table, csv or jsonl")
        return self.csv_lines(guard=guard) if form == "csv" else self.json_lines()

    def json_lines(self) -> Iterator[str]:
        """One JSON object per tagged tuple, or per window with the list of its tuples."""
        for element in self.elements:
            tags = {"tick": element.tick} | ({"index": element.index} if self.kind == "tagged-tuples" else {})
            yield _json({**tags, "values": self._named(element.row)})
        for seq, window in self.numbered_windows():
            yield _json({"tick": window.tick, "seq": seq, "rows": [self._named(row) for row in window.rows]})

    def csv_lines(self, *, guard: bool = False) -> Iterator[str]:
        """The header and the records as lines of CSV; NULL is an empty cell, an empty string is \"\".

        With `guard` an apostrophe stands before text that a spreadsheet would take for a formula.
        """
        cell = _guarded_cell if guard else _cell
        yield ",".join(map(cell, self.header))
        for record in self.records():
            yield ",".join(map(cell, record))

    def _named(self, row: tuple[Value, ...]) -> dict[str, Value]:
        return dict(zip(self.columns, row, strict=True))

    def _repr_html_(self) -> str:
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


def _said(value: Value) -> str:
    return "NULL" if value is None else show(value)


def show(value: Value) -> str:
    """A value as people read it; NULL is empty."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _guarded_cell(value: Value) -> str:
    """A cell that no spreadsheet computes: text stays text, and numbers stay numbers."""
    formula = isinstance(value, str) and value.startswith(_FORMULA) and not _NUMBER.fullmatch(value)
    return _cell(f"'{value}" if formula else value)


def _cell(value: Value) -> str:
    text = show(value)
    if (text == "" and value is not None) or any(sign in text for sign in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _json(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, default=_plain)


def _plain(value: object) -> str:
    return (
        value.isoformat() if isinstance(value, datetime) else format(value, "f") if isinstance(value, Decimal) else ""
    )
