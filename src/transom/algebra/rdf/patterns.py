"""From statements to solutions: triple patterns, property paths, basic graph patterns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from transom.algebra.expressions.expression import Column
from transom.algebra.expressions.terms import STATEMENT, variable
from transom.algebra.operator import Operator, Windows
from transom.algebra.state.formula import ONE, Formula, RowCount, ceil_divide, plus, times
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.model.rdf.terms import IRI, BlankNode, Term
from transom.model.schema import Attribute, Schema
from transom.record import Record

TermPattern: TypeAlias = Term | Column
"""An item of a pattern: a term to match, a variable, or a blank node, which is a hidden variable."""


def as_variable(item: TermPattern) -> TermPattern:
    """Replace a blank node of a pattern by the hidden variable `_:label` that represents it (R11).

    Other items of a pattern stay unchanged.
    """
    return variable(f"_:{item.label}") if isinstance(item, BlankNode) else item


def pattern_variables(items: Iterable[TermPattern]) -> tuple[Column, ...]:
    """List the variables of a pattern in order of occurrence, each once, with the hidden ones of blank nodes."""
    variables = (as_variable(item) for item in items)
    return tuple(dict.fromkeys(column for column in variables if isinstance(column, Column)))


def without_blank_nodes(columns: Iterable[Attribute]) -> tuple[Attribute, ...]:
    """Drop the columns of hidden variables, which represent the blank nodes of a pattern."""
    return tuple(column for column in columns if not column.name.startswith("_:"))


def check_statements(op: Operator) -> None:
    """Raise PlanError unless an operator produces windows of RDF statements (subject, predicate and object)."""
    if not isinstance(op, Windows) or op.schema != STATEMENT:
        raise PlanError(f"a pattern matches windows of statements, not a {type(op).__name__}")


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class TriplePattern(Windows):
    """One solution for each triple that matches a triple pattern.

    Meaning  a solution has the validity interval of its triple. If a variable occurs twice in the pattern, both
             positions must contain the same term. Within a basic graph pattern, a blank node acts as a variable with
             the name `_:label` (R11).
    Bounds   if several triples give the same solution, the solution has one copy for each of them (R7).
    Source   002 Defs. 6, 7, Alg. 3.
    State    none.
    """

    input: Windows
    subject: TermPattern
    predicate: TermPattern
    object: TermPattern

    def __post_init__(self) -> None:
        """Raise PlanError unless the input produces windows of RDF statements."""
        check_statements(self.input)

    @property
    def items(self) -> tuple[TermPattern, TermPattern, TermPattern]:
        """Subject, predicate and object of the pattern, with blank nodes replaced by hidden variables."""
        return (as_variable(self.subject), as_variable(self.predicate), as_variable(self.object))

    @property
    def schema(self) -> Schema:
        """One column of RDF terms per variable of the pattern, including the hidden variables of blank nodes."""
        return Schema(tuple(column.attribute for column in pattern_variables(self.items)))


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class PredicatePath(Record):
    """A path of one statement with a predicate."""

    predicate: IRI

    def __str__(self) -> str:
        """The property path in SPARQL syntax: the IRI of the predicate in angle brackets."""
        return str(self.predicate)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class InversePath(Record):
    """A path walked backwards."""

    path: PropertyPath

    def __str__(self) -> str:
        """The property path in SPARQL syntax: `^path`."""
        return f"^{self.path}"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class SequencePath(Record):
    """One path followed by another."""

    first: PropertyPath
    second: PropertyPath

    def __str__(self) -> str:
        """The property path in SPARQL syntax: `(first/second)`."""
        return f"({self.first}/{self.second})"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class AlternativePath(Record):
    """Either of two paths."""

    first: PropertyPath
    second: PropertyPath

    def __str__(self) -> str:
        """The property path in SPARQL syntax: `(first|second)`."""
        return f"({self.first}|{self.second})"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ZeroOrMorePath(Record):
    """A path repeated zero or more times; each pair of ends counts once."""

    path: PropertyPath

    def __str__(self) -> str:
        """The property path in SPARQL syntax: `path*`."""
        return f"{self.path}*"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class OneOrMorePath(Record):
    """A path repeated one or more times; each pair of ends counts once."""

    path: PropertyPath

    def __str__(self) -> str:
        """The property path in SPARQL syntax: `path+`."""
        return f"{self.path}+"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class ZeroOrOnePath(Record):
    """A path taken once or not at all; each pair of ends counts once."""

    path: PropertyPath

    def __str__(self) -> str:
        """The property path in SPARQL syntax: `path?`."""
        return f"{self.path}?"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class NegatedPropertySet(Record):
    """A path of one statement whose predicate is not in the set; `backward` applies to statements walked backwards.

    A set with predicates of one direction only matches that direction only; the empty set matches forward.
    """

    forward: tuple[IRI, ...]
    backward: tuple[IRI, ...] = ()

    def __str__(self) -> str:
        """The property path in SPARQL syntax: `!(a|^b)`, for any predicate except `a` forwards and `b` backwards."""
        predicates = [str(iri) for iri in self.forward] + [f"^{iri}" for iri in self.backward]
        return f"!({'|'.join(predicates)})"


PropertyPath: TypeAlias = (
    PredicatePath
    | InversePath
    | SequencePath
    | AlternativePath
    | ZeroOrMorePath
    | OneOrMorePath
    | ZeroOrOnePath
    | NegatedPropertySet
)


def max_path_matches(path: PropertyPath, statements: Formula) -> Formula:
    """Return a bound on the matches of a property path in up to `statements` statements, duplicate pairs included."""
    nodes = plus(times(RowCount(2), statements), ONE)
    match path:
        case PredicatePath():
            return statements
        case NegatedPropertySet(forward=forward, backward=backward):
            return times(RowCount(2), statements) if forward and backward else statements
        case InversePath(path=inner):
            return max_path_matches(inner, statements)
        case SequencePath(first=first, second=second):
            return times(max_path_matches(first, statements), max_path_matches(second, statements))
        case AlternativePath(first=first, second=second):
            return plus(max_path_matches(first, statements), max_path_matches(second, statements))
        case ZeroOrOnePath(path=inner):
            return plus(max_path_matches(inner, statements), nodes)
        case ZeroOrMorePath() | OneOrMorePath():
            return times(nodes, nodes)
        case _:
            assert_never(path)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class PathPattern(Windows):
    """One solution for each pair of terms that a property path connects.

    Meaning  at each instant, the operator finds the paths through the valid triples. A solution contains the two ends
             of a path. Predicates, sequences and alternatives give one solution for each path through the triples. `*`,
             `+` and `?` give one solution per pair of ends, even if several paths connect them.
    Bounds   a path of length zero connects a term with itself. There is such a path for each term of the triples, and
             for each constant of the pattern. The operator reads only the triples in the window.
    Source   W3C 9, 18.4.
    State    the valid triples.
    """

    input: Windows
    subject: TermPattern
    path: PropertyPath
    object: TermPattern

    def __post_init__(self) -> None:
        """Raise PlanError unless the input produces windows of RDF statements."""
        check_statements(self.input)

    @property
    def items(self) -> tuple[TermPattern, TermPattern]:
        """Subject and object of the pattern, with blank nodes replaced by hidden variables."""
        return (as_variable(self.subject), as_variable(self.object))

    @property
    def schema(self) -> Schema:
        """One column of RDF terms per variable of the pattern, including the hidden variables of blank nodes."""
        return Schema(tuple(column.attribute for column in pattern_variables(self.items)))


def max_pattern_solutions(parts: Sequence[Windows], max_rows: Callable[[Windows], Formula]) -> Formula:
    """Return a bound on the solutions of a basic graph pattern's `parts`; `max_rows` gives that of one operator.

    A statement matches patterns with one predicate only. So if k patterns read the same statements, and m of them have
    the predicate p, the product of all matches is largest if m of k statements have the predicate p.
    """
    counts: dict[Windows, Counter[IRI]] = {}
    factors: list[Formula] = []
    for part in parts:
        if isinstance(part, TriplePattern) and isinstance(part.predicate, IRI):
            counts.setdefault(part.input, Counter())[part.predicate] += 1
        else:
            factors.append(max_rows(part))
    for statements, predicates in counts.items():
        for count in predicates.values():
            share = ceil_divide(times(RowCount(count), max_rows(statements)), predicates.total())
            factors += [share] * count
    return times(ONE, *factors)


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class BasicGraphPattern(Windows):
    """The join of all triple patterns and path patterns of a basic graph pattern.

    Meaning  blank nodes join like variables, and are then dropped. A solution has one copy for each assignment of its
             blank nodes (R11).
    Bounds   without patterns, the result is the empty solution, which is always valid.
    Source   002 Defs. 6, 11; W3C 18.3.
    State    the valid solutions of each pattern.
    """

    parts: tuple[Windows, ...]

    def __post_init__(self) -> None:
        """Raise PlanError unless every part is a triple pattern or a path pattern."""
        if any(isinstance(part, Window) for part in self.parts):
            raise PlanError("a basic graph pattern joins patterns, not statements")

    @property
    def schema(self) -> Schema:
        """One column per variable of its triple and path patterns, without hidden variables of blank nodes."""
        return Schema(without_blank_nodes(dict.fromkeys(column for part in self.parts for column in part.schema)))
