"""Graph patterns that are written twice: for Streaming SPARQL, and for pyoxigraph over snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.holdout.sparql.meaning import Input, Snapshots, Window


@dataclass
class Scope:
    """What a pattern reads: the streams and graphs around it and the nearest window."""

    snapshots: Snapshots
    inputs: list[Input]
    window: Window | None = None
    fresh: list[int] = field(default_factory=lambda: [0])

    def new(self) -> str:
        """A variable that no query has."""
        self.fresh[0] += 1
        return f"?g_{self.fresh[0]}"


@dataclass(frozen=True)
class Triple:
    """A triple pattern; its predicate may be a path."""

    s: str
    p: str
    o: str

    def stream(self) -> str:
        """As the question says it; a dot follows."""
        return f"{self.s} {self.p} {self.o} ."

    def snapshot(self, scope: Scope) -> str:
        """One graph per statement; paths by their definitions."""
        s, p, o = (f"?hidden_{one[2:]}" if one.startswith("_:") else one for one in (self.s, self.p, self.o))
        if p.startswith("!"):
            hidden = scope.new()
            listed = p[1:].strip("()").replace("|", ", ")
            return f"{{ {Triple(s, hidden, o).snapshot(scope)} FILTER ({hidden} NOT IN ({listed})) }}"
        if "/" in p:
            first, _, rest = p.partition("/")
            middle = scope.new()
            return f"{Triple(s, first, middle).snapshot(scope)} {Triple(middle, rest, o).snapshot(scope)}"
        if "|" in p:
            sides = p.strip("()").split("|")
            return " UNION ".join(f"{{ {Triple(s, side, o).snapshot(scope)} }}" for side in sides)
        if p[-1] in "+*?" and not p.startswith("?"):
            number = scope.snapshots.part(scope.inputs, scope.window)
            scope.snapshots.merged.add(number)
            return f"GRAPH <urn:merged/{number}> {{ {s} {p} {o} }}"
        if p.startswith("^"):
            return Triple(o, p[1:], s).snapshot(scope)
        number = scope.snapshots.part(scope.inputs, scope.window, (s, p, o))
        graph = scope.new()
        return f"GRAPH <urn:windows> {{ {graph} <urn:of> <urn:{number}> }} GRAPH {graph} {{ {s} {p} {o} }}"


@dataclass(frozen=True)
class Words:
    """FILTER, BIND and VALUES: the same in both."""

    text: str

    def stream(self) -> str:
        """As it is."""
        return self.text

    def snapshot(self, scope: Scope) -> str:
        """As it is."""
        return self.text


@dataclass(frozen=True)
class Group:
    """A group with perhaps a window; `word` stands in front of it: OPTIONAL, MINUS, FILTER EXISTS."""

    parts: Sequence[Any]
    window: Window | None = None
    word: str = ""

    def stream(self) -> str:
        """The window stands at the end."""
        window = f" {self.window.text}" if self.window else ""
        return f"{self.word} {{ {' '.join(part.stream() for part in self.parts)}{window} }}".strip()

    def snapshot(self, scope: Scope) -> str:
        """The nearest window governs the patterns (R9)."""
        inner = Scope(scope.snapshots, scope.inputs, self.window or scope.window, scope.fresh)
        return f"{self.word} {{ {' '.join(part.snapshot(inner) for part in self.parts)} }}".strip()


@dataclass(frozen=True)
class Union:
    """Alternatives."""

    groups: Sequence[Group]

    def stream(self) -> str:
        """With the word between them."""
        return " UNION ".join(group.stream() for group in self.groups)

    def snapshot(self, scope: Scope) -> str:
        """With the word between them."""
        return " UNION ".join(group.snapshot(scope) for group in self.groups)


@dataclass(frozen=True)
class Graph:
    """GRAPH with a name, or with a variable: the union over all named inputs (R10, Algorithm 1)."""

    name: str
    group: Group

    def stream(self) -> str:
        """As the question says it."""
        return f"GRAPH {self.name} {self.group.stream()}"

    def snapshot(self, scope: Scope) -> str:
        """The group over each named input that is meant; none is no answer."""
        named = [one for one in scope.snapshots.inputs if one.named]
        if not self.name.startswith("?"):
            named = [one for one in named if one.iri == self.name]
        texts = []
        for one in named:
            inner = Scope(scope.snapshots, [one], scope.window, scope.fresh)
            bound = f"VALUES {self.name} {{ {one.iri} }} " if self.name.startswith("?") else ""
            texts.append(f"{{ {bound}{self.group.snapshot(inner)} }}")
        return " UNION ".join(texts) or "{ FILTER (false) }"


@dataclass(frozen=True)
class Subquery:
    """A query in braces."""

    head: str
    group: Group
    tail: str = ""

    def stream(self) -> str:
        """As the question says it."""
        return f"{{ {self.head} WHERE {self.group.stream()} {self.tail} }}"

    def snapshot(self, scope: Scope) -> str:
        """Over the same inputs."""
        return f"{{ {self.head} WHERE {self.group.snapshot(scope)} {self.tail} }}"
