"""Answers as the rows of a test file, and the difference between expected and actual rows."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from transom.catalog.reading.ticks import HintedError
from transom.catalog.reading.wording import display_value
from transom.connectors.rdf.terms import term_text
from transom.model.rdf.abbreviate import abbreviate_term
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.terms import INTEGER, Literal, Term
from transom.model.types import Line
from transom.testing.cases import term

TAGS: Mapping[str, tuple[str, ...]] = {
    "tagged-tuples": ("tick", "index"),
    "stream": ("tick",),
    "windows": ("tick",),
    "solutions": ("start", "end", "n"),
    "triples": ("start", "end", "n"),
    "sequences": ("start", "end"),
    "boolean": ("start", "end"),
}
"""The values in front of a row's own, by the kind of answer."""
_NESTED = ("windows", "sequences")
"""Kinds of answers whose rows end with a list of rows."""
_XSD = {"xsd": "http://www.w3.org/2001/XMLSchema#"}


class RowError(ValueError):
    """The error that an expected row does not fit the answer; `inner` is the number of the row in a window's list."""

    def __init__(self, message: str, inner: int | None = None, hint: str | None = None) -> None:
        """Create an error for an expected row; for a row inside a window's list, `inner` is its index there."""
        super().__init__(message)
        self.inner = inner
        self.hint = hint


@dataclass(frozen=True)
class RowFormat:
    """The form of an answer's rows in a test file: its kind, its columns, and the prefixes of its terms.

    Rows of an answer that is not `indexed` are compared without their index.
    """

    kind: str
    columns: tuple[str, ...]
    prefixes: Mapping[str, str]
    indexed: bool = True

    @property
    def header(self) -> tuple[str, ...]:
        """The names of a row's values in a test file: tags such as `tick`, then the answer's columns."""
        tags = TAGS[self.kind]
        return (*tags, f"[{', '.join(self.columns)}]") if self.kind in _NESTED else (*tags, *self.columns)

    def rows(self, answer: Any, first: int = 0) -> list[list[Any]]:
        """Return an answer as rows of a test file, without the rows of ticks before `first`.

        Over RDF, the rows that remain are those that are valid at `first` or later, or end there.
        """
        if isinstance(answer, RdfAnswer):
            return [row for row in self._rdf_rows(answer) if row[1] == "inf" or row[1] >= first]
        if self.kind == "windows":
            rows = [[bag.tick, [list(map(plain, row)) for row in bag.rows]] for bag in answer.windows]
        else:
            rows = [[*answer.tag(element), *map(plain, element.row)] for element in answer.elements]
        return [row for row in rows if row[0] >= first]

    def _rdf_rows(self, answer: RdfAnswer) -> Iterator[list[Any]]:
        """Yield an RDF answer as rows of start tick, end tick (`inf` if there is none) and values."""
        for sequence in answer.sequences:
            members = [list(map(self._term, answer.terms(solution))) for solution in sequence.solutions]
            yield [sequence.start, _end(sequence.end), members]
        if self.kind != "sequences":
            for start, end, *cells in answer.records():
                values = cells if self.kind == "boolean" else [cells[0], *map(self._term, cells[1:])]
                yield [start, _end(end), *values]

    def _term(self, value: Term | None) -> int | str | None:
        """Write a term for a test file: an integer as a number, IRIs shortened by prefixes."""
        if isinstance(value, Literal) and value.datatype == INTEGER and value.lexical == str(_integer(value.lexical)):
            return int(value.lexical)
        return None if value is None else abbreviate_term(value, self.prefixes)

    def key(self, row: object) -> Hashable:
        """Return a hashable key that equal rows share; raise RowError if the row does not fit the answer."""
        width = len(self.header)
        if not isinstance(row, list):
            raise RowError(f"{display_value(row)} is not a row", hint=f"write [{', '.join(self.header)}]")
        if len(row) != width:
            raise RowError(f"{len(row)} values, expected {width}", hint=f"the values are {', '.join(self.header)}")
        tags = len(TAGS[self.kind])
        kept = tuple(value_key(value) for value in row[: tags if self.indexed else 1])
        if self.kind not in _NESTED:
            return (*kept, *map(self._cell, row[tags:]))
        if not isinstance(row[-1], list):
            raise RowError(f"{display_value(row[-1])} is not a list of rows", hint=f"the values are {self.header[-1]}")
        members = []
        for number, member in enumerate(row[-1]):
            if not isinstance(member, list) or len(member) != len(self.columns):
                actual = f"{len(member)} values" if isinstance(member, list) else display_value(member)
                hint = f"the values are {', '.join(self.columns)}"
                raise RowError(f"{actual}, expected {len(self.columns)} values", number, hint)
            members.append(tuple(map(self._cell, member)))
        return (*kept, tuple(members) if self.kind == "sequences" else frozenset(Counter(members).items()))

    def _cell(self, value: object) -> Hashable:
        """Return a hashable key that equal values of a row share; for an RDF term, its N-Triples text."""
        if self.kind in ("solutions", "triples", "sequences") and value is not None:
            try:
                return term_text(term(value), {**_XSD, **self.prefixes})
            except HintedError as error:
                raise RowError(str(error), hint=error.hint) from None
        return value_key(value)


def difference(
    expected: Sequence[Hashable], actual: Sequence[Hashable], *, numbered: bool
) -> tuple[list[int], list[int]]:
    """Return indexes of missing expected rows and of extra actual rows; `numbered`: order within a tick counts.

    If `numbered`, the order of the rows with the same first value, the tick, counts; that is so for windows.
    """
    left, right = (_numbered(keys) if numbered else list(keys) for keys in (expected, actual))
    return _without(left, Counter(right)), _without(right, Counter(left))


def _without(keys: Iterable[Hashable], others: Counter[Hashable]) -> list[int]:
    """Return the positions in `keys` that remain after each of the `others` has cancelled one equal key."""
    missing = []
    for position, key in enumerate(keys):
        if others[key]:
            others[key] -= 1
        else:
            missing.append(position)
    return missing


def _numbered(keys: Iterable[Any]) -> list[Hashable]:
    """Return pairs (n, key): the key is the n-th, from 1, of those with the same tick (its first value)."""
    counts: Counter[Hashable] = Counter()
    numbered: list[Hashable] = []
    for key in keys:
        counts[key[0]] += 1
        numbered.append((counts[key[0]], key))
    return numbered


def value_key(value: object) -> Hashable:
    """Return a hashable key that equal values share: 1 equals 1.0, but neither true nor '1'; NaN equals NaN."""
    if isinstance(value, list):
        return ("list", *map(value_key, value))
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, float) and math.isnan(value):
        return ("number", "nan")
    return ("number" if isinstance(value, int | float) else type(value).__name__, value)


def plain(value: Any) -> Any:
    """Return a value as a test file writes it: a point is a list, and instants and decimals are text."""
    if isinstance(value, Line):
        return [list(point) for point in value]
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return format(value, "f") if isinstance(value, Decimal) else value


def yaml_row(value: Any) -> str:
    """Write a value or a row as YAML on one line."""
    if isinstance(value, list):
        return f"[{', '.join(map(yaml_row, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
    return json.dumps(value, ensure_ascii=not (isinstance(value, str) and value.isprintable()))


def _end(end: int | None) -> int | str:
    """Return the end of an interval, or `inf` if it has none."""
    return "inf" if end is None else end


def _integer(lexical: str) -> int | None:
    """Return the integer that a text spells, or None for any other text."""
    return int(lexical) if lexical.lstrip("-").isdecimal() and lexical.isascii() else None
