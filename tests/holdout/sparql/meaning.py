"""The meaning of Streaming SPARQL: at each instant, SPARQL over the statements that are valid then, by pyoxigraph.

Graphs are sets and streams are bags, so each statement that comes is kept in a graph by itself, and every triple
pattern asks for one such graph: the number of answers is then the number of ways to obtain a solution (R7). The graphs
of a pattern are those of the window that governs it (R9).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

import pyoxigraph as ox

Statement = tuple[str, str, str]
"""Subject, predicate and object as SPARQL writes them, with the empty prefix."""

PREFIX = "http://ex/"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
NUMERIC = re.compile(r'"([^"]*)"\^\^<http://www\.w3\.org/2001/XMLSchema#(integer|decimal|double)>')


@dataclass(frozen=True)
class Window:
    """`RANGE width SLIDE slide`, or `ELEMS elements`; lengths are ticks."""

    width: int = 0
    slide: int = 1
    elements: int | None = None
    text: str = ""


@dataclass(frozen=True)
class Input:
    """A stream or a stored graph of a query; stored statements have no tick."""

    name: str
    rows: list[tuple[int, Statement]]
    window: Window | None = None
    named: bool = False

    @property
    def iri(self) -> str:
        """Its name in the query."""
        return f"<{PREFIX}{self.name}>"


@dataclass(frozen=True)
class Valid:
    """A statement and the interval in which it is valid; an end of None is for ever."""

    statement: Statement
    start: int
    end: int | None


def valid(rows: Iterable[tuple[int, Statement]], window: Window | None) -> list[Valid]:
    """Definitions 3 and 5 as intervals: up to floor((t + w) / d) * d, or up to the c-th later element."""
    ordered = sorted(rows, key=lambda row: row[0])
    if window is None:
        return [Valid(statement, 0, None) for _, statement in ordered]
    if window.elements is None:
        return [Valid(s, t, (t + window.width) // window.slide * window.slide) for t, s in ordered]
    ends = [t for t, _ in ordered[window.elements :]]
    return [Valid(s, t, ends[place] if place < len(ends) else None) for place, (t, s) in enumerate(ordered)]


def term(text: str) -> Any:
    """A term of pyoxigraph."""
    if text.startswith(":"):
        return ox.NamedNode(PREFIX + text[1:])
    if text.startswith("<"):
        return ox.NamedNode(text[1:-1])
    if "^^" in text:
        lexical, _, datatype = text.partition("^^")
        return ox.Literal(lexical[1:-1], datatype=ox.NamedNode(datatype[1:-1]))
    if text.startswith('"'):
        lexical, _, language = text[1:].partition('"')
        return ox.Literal(lexical, language=language[1:] or None) if language else ox.Literal(lexical)
    kind = "decimal" if "." in text else "integer"
    return ox.Literal(text, datatype=ox.NamedNode(f"http://www.w3.org/2001/XMLSchema#{kind}"))


def canonical(one: Any) -> str | None:
    """A term as text, numbers by their value."""
    if one is None:
        return None
    text = str(one)
    found = NUMERIC.fullmatch(text)
    if found is None:
        return text
    try:
        number = Decimal(found[1])
    except InvalidOperation:
        return text
    return f"{found[2]} {number.normalize() if number else 0:f}"


@dataclass
class Snapshots:
    """The statements of all windows of a query over time."""

    inputs: list[Input]
    parts: list[list[Valid]] = field(default_factory=list)
    merged: set[int] = field(default_factory=set)
    known: dict[Any, int] = field(default_factory=dict)

    def part(self, inputs: list[Input], window: Window | None, pattern: Statement | None = None) -> int:
        """The number of the statements that a pattern reads, under the window of its group or those behind FROM."""
        counts = window is not None and window.elements is not None
        key = (tuple(one.name for one in inputs), window, pattern if counts else None)
        if key not in self.known:
            streams = [one for one in inputs if one.window is not None]
            stored = [one for one in inputs if one.window is None]
            found = [one for source in stored for one in valid(source.rows, None)]
            if window is None:
                found += [one for source in streams for one in valid(source.rows, source.window)]
            else:
                rows = [row for source in streams for row in source.rows]
                if counts:
                    assert pattern is not None
                    rows = [row for row in rows if _fits(pattern, row[1])]
                found += valid(rows, window)
            self.known[key] = len(self.parts)
            self.parts.append(found)
        return self.known[key]

    def instants(self) -> list[int]:
        """Where anything may change."""
        found = {0}
        for one in (one for part in self.parts for one in part):
            found |= {one.start} if one.end is None else {one.start, one.end}
        return sorted(found)

    def at(self, instant: int) -> ox.Store:
        """The statements that are valid at an instant."""
        store = ox.Store()
        windows, of = ox.NamedNode("urn:windows"), ox.NamedNode("urn:of")
        quads = []
        for number, part in enumerate(self.parts):
            for place, one in enumerate(part):
                if one.start <= instant and (one.end is None or instant < one.end):
                    own = ox.NamedNode(f"urn:{number}/{place}")
                    s, p, o = map(term, one.statement)
                    quads += [ox.Quad(s, p, o, own), ox.Quad(own, of, ox.NamedNode(f"urn:{number}"), windows)]
                    if number in self.merged:
                        quads.append(ox.Quad(s, p, o, ox.NamedNode(f"urn:merged/{number}")))
        store.extend(quads)
        return store


def _fits(pattern: Statement, statement: Statement) -> bool:
    """Definition 7: constants are equal, and a repeated variable finds one term."""
    bound: dict[str, str] = {}
    return all(
        bound.setdefault(wanted, found) == found if wanted.startswith("?") else wanted == found
        for wanted, found in zip(pattern, statement)
    )


Interval = tuple[int, int | None]


def runs(values: Mapping[int, Counter[Any]]) -> set[tuple[Any, int, int | None, int]]:
    """What is valid from when to when and how often: maximal runs of one number."""
    instants = sorted(values)
    found = set()
    for payload in {one for counter in values.values() for one in counter}:
        start, many = 0, 0
        for instant in instants:
            now = values[instant][payload]
            if now != many:
                if many:
                    found.add((payload, start, instant, many))
                start, many = instant, now
        if many:
            found.add((payload, start, None, many))
    return found


def answers(snapshots: Snapshots, query: str) -> dict[int, list[tuple[str | None, ...]]]:
    """The solutions at every instant, each as often as it is found, in order."""
    found = {}
    text = f"PREFIX : <{PREFIX}> {query}"
    for instant in snapshots.instants():
        solutions: Any = snapshots.at(instant).query(text)
        names = [variable.value for variable in solutions.variables]
        found[instant] = [tuple(canonical(one[name]) for name in names) for one in solutions]
    return found


def expected(head: str, tail: str, template: list[Statement] | None, found: dict[int, Any]) -> tuple[str, Any]:
    """The kind of an answer, and the answer over time."""
    if head == "ASK":
        return "boolean", _steps({instant: bool(rows) for instant, rows in found.items()})
    if template is not None:
        return "triples", runs({instant: _constructed(template, rows) for instant, rows in found.items()})
    if "ORDER BY" in tail:
        return "sequences", [one for one in _steps(found) if one[0]]
    return "solutions", runs({instant: Counter(rows) for instant, rows in found.items()})


def _steps(values: dict[int, Any]) -> list[tuple[Any, int, int | None]]:
    """A function of time as maximal intervals."""
    found: list[tuple[Any, int, int | None]] = []
    for instant in sorted(values):
        if found and found[-1][0] == values[instant]:
            continue
        if found:
            found[-1] = (found[-1][0], found[-1][1], instant)
        found.append((values[instant], instant, None))
    return found


def _constructed(template: list[Statement], rows: list[tuple[str | None, ...]]) -> Counter[Any]:
    """Each solution gives its statements; what is unbound or no statement is left out (R18)."""
    made: Counter[Any] = Counter()
    for row in rows:
        bound = dict(zip(("?x", "?y", "?z"), row))
        for one in template:
            s, p, o = (bound[part] if part.startswith("?") else canonical(term(part)) for part in one)
            if s and p and o and s.startswith("<") and p.startswith("<"):
                made[s, p, o] += 1
    return made
