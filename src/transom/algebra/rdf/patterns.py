"""From statements to solutions: triple patterns, property paths, basic graph patterns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from transom.algebra.expressions import Column
from transom.algebra.operator import Operator, Windows
from transom.algebra.state import ONE, Formula, Number, plus, times
from transom.algebra.terms import STATEMENT, variable
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.model.rdf.terms import IRI, BlankNode, Term
from transom.model.schema import Attribute, Schema

Place: TypeAlias = Term | Column
"""What stands in a pattern: a term that must be there, a variable, or a blank node, which is a hidden variable."""


def hidden(place: Place) -> Place:
    """A blank node of a pattern as the variable that it is; everything else as it stands (R11)."""
    return variable(f"_:{place.label}") if isinstance(place, BlankNode) else place


def of_places(places: Iterable[Place]) -> tuple[Column, ...]:
    """The variables of a pattern, each once, in the order in which they stand."""
    found = (hidden(place) for place in places)
    return tuple(dict.fromkeys(place for place in found if isinstance(place, Column)))


def visible(columns: Iterable[Attribute]) -> tuple[Attribute, ...]:
    """The columns of variables without those of blank nodes."""
    return tuple(one for one in columns if not one.name.startswith("_:"))


def check_statements(op: Operator) -> None:
    """A pattern reads windows of statements."""
    if not isinstance(op, Windows) or op.schema != STATEMENT:
        raise PlanError(f"a pattern matches windows of statements, not a {type(op).__name__}")


@dataclass(frozen=True, slots=True)
class TriplePattern(Windows):
    """The statements that fit a triple pattern, as solutions.

    Meaning  one solution per statement that fits, with the interval of the statement; a variable that stands twice must
             find the same term twice; a blank node is a variable `_:label` until its basic graph pattern is done (R11).
    Bounds   different statements that give the same solution add up (R7).
    Source   002 Defs. 6, 7, Alg. 3.
    State    none.
    """

    input: Windows
    subject: Place
    predicate: Place
    object: Place

    def __post_init__(self) -> None:
        check_statements(self.input)

    @property
    def places(self) -> tuple[Place, Place, Place]:
        """Subject, predicate and object, blank nodes as the variables that they are."""
        return (hidden(self.subject), hidden(self.predicate), hidden(self.object))

    @property
    def schema(self) -> Schema:
        return Schema(tuple(column.attribute for column in of_places(self.places)))


@dataclass(frozen=True, slots=True)
class Link:
    """One statement with this predicate."""

    predicate: IRI

    def __str__(self) -> str:
        return str(self.predicate)


@dataclass(frozen=True, slots=True)
class Inverse:
    """A path walked backwards."""

    path: Path

    def __str__(self) -> str:
        return f"^{self.path}"


@dataclass(frozen=True, slots=True)
class Steps:
    """One path after the other."""

    first: Path
    second: Path

    def __str__(self) -> str:
        return f"({self.first}/{self.second})"


@dataclass(frozen=True, slots=True)
class Either:
    """One path or the other."""

    first: Path
    second: Path

    def __str__(self) -> str:
        return f"({self.first}|{self.second})"


@dataclass(frozen=True, slots=True)
class ZeroOrMore:
    """A path any number of times; each end once."""

    path: Path

    def __str__(self) -> str:
        return f"{self.path}*"


@dataclass(frozen=True, slots=True)
class OneOrMore:
    """A path once or more; each end once."""

    path: Path

    def __str__(self) -> str:
        return f"{self.path}+"


@dataclass(frozen=True, slots=True)
class ZeroOrOne:
    """A path or no step at all; each end once."""

    path: Path

    def __str__(self) -> str:
        return f"{self.path}?"


@dataclass(frozen=True, slots=True)
class NoneOf:
    """One statement whose predicate is none of these; with `backward` also walked backwards.

    A set of names only one way looks only that way; the empty set looks forward.
    """

    forward: tuple[IRI, ...]
    backward: tuple[IRI, ...] = ()

    def __str__(self) -> str:
        said = [str(iri) for iri in self.forward] + [f"^{iri}" for iri in self.backward]
        return f"!({'|'.join(said)})"


Path: TypeAlias = Link | Inverse | Steps | Either | ZeroOrMore | OneOrMore | ZeroOrOne | NoneOf


def ways(path: Path, statements: Formula) -> Formula:
    """The most pairs, each as often as there are ways, that a path finds in so many statements."""
    nodes = plus(times(Number(2), statements), ONE)
    match path:
        case Link():
            return statements
        case NoneOf(forward=forward, backward=backward):
            return times(Number(2), statements) if forward and backward else statements
        case Inverse(path=inner):
            return ways(inner, statements)
        case Steps(first=first, second=second):
            return times(ways(first, statements), ways(second, statements))
        case Either(first=first, second=second):
            return plus(ways(first, statements), ways(second, statements))
        case ZeroOrOne(path=inner):
            return plus(ways(inner, statements), nodes)
        case ZeroOrMore() | OneOrMore():
            return times(nodes, nodes)
        case _:
            assert_never(path)


@dataclass(frozen=True, slots=True)
class PathPattern(Windows):
    """Pairs of terms between which a path leads.

    Meaning  at each instant, the ends of the paths through the statements valid then; one solution per way for links,
             steps and alternatives, one per pair for `*`, `+` and `?`.
    Bounds   a path of no step leads from each term of the statements, and from a term that is given, to itself. It
             reads statements that have their windows.
    Source   W3C 9, 18.4.
    State    the statements that are valid.
    """

    input: Windows
    subject: Place
    path: Path
    object: Place

    def __post_init__(self) -> None:
        check_statements(self.input)

    @property
    def places(self) -> tuple[Place, Place]:
        """Both ends, blank nodes as the variables that they are."""
        return (hidden(self.subject), hidden(self.object))

    @property
    def schema(self) -> Schema:
        return Schema(tuple(column.attribute for column in of_places(self.places)))


@dataclass(frozen=True, slots=True)
class BasicGraphPattern(Windows):
    """Patterns that are matched together, with one meaning for each of their blank nodes.

    Meaning  the join of the parts, where blank nodes join as variables do, and are gone from the result; the number of
             ways in which they can be chosen is its multiplicity (R11).
    Bounds   without parts it is the empty solution, always valid.
    Source   002 Defs. 6, 11; W3C 18.3.
    State    what is valid of each part.
    """

    parts: tuple[Windows, ...]

    def __post_init__(self) -> None:
        if any(isinstance(part, Window) for part in self.parts):
            raise PlanError("a basic graph pattern joins patterns, not statements")

    @property
    def schema(self) -> Schema:
        return Schema(visible(dict.fromkeys(column for part in self.parts for column in part.schema)))
