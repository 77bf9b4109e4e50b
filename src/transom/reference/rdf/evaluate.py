"""From a question over RDF to its answer: at every instant where something changes, the snapshot of each operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from transom.algebra.expressions import Expression
from transom.algebra.operator import Operator, Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.solutions import unextended
from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.relations import RelationUnion, WindowProject, restricts
from transom.algebra.sequences import ordered
from transom.algebra.sources import Values
from transom.algebra.tree import Question, Relations, reads_streams, volatile_calls, walk
from transom.algebra.windows import Window
from transom.errors import PlanError, Unsupported
from transom.model.bag import Row
from transom.model.rdf.answer import Ordered, RdfAnswer, Truth, intervals, runs
from transom.model.rdf.solutions import Solution, Valid
from transom.model.rdf.terms import Term, Triple, in_order
from transom.model.schema import Schema
from transom.reference.expressions import Scopes, value
from transom.reference.rdf import forms, patterns, statements
from transom.reference.rdf.expressions import SolutionScope
from transom.reference.relations import Rows, Snapshot, snapshot, term_in
from transom.reference.sources import Inputs, values


def evaluate(op: Question, inputs: Inputs) -> RdfAnswer:
    """The whole answer, from instant 0 for ever."""
    if reads_streams(op) and (calls := volatile_calls(op)):
        raise Unsupported(
            calls[0].function.name, "over a stream its value would change within a solution's time", "never"
        )
    known = timed(op, inputs)
    points = changes(known)

    def at(t: int) -> Moment:
        return Moment(inputs, known, t)

    columns = op.schema.names
    match op:
        case Ask(input=input):
            told = runs(points, [forms.ask(at(t).rows(input)) for t in points])
            return RdfAnswer("boolean", columns, truth=tuple(Truth(*run) for run in told))
        case Construct() | Describe():
            made = intervals(points, lambda t: at(t).statements_of(op), _in_order)
            triples = tuple(Valid(Triple(*one.payload), one.start, one.end, one.n) for one in made)  # type: ignore[arg-type]
            return RdfAnswer("triples", columns, triples=triples)
        case _ if ordered(op):
            lists = runs(points, [tuple(Solution.row(columns, row) for row in at(t).rows(op)) for t in points])
            return RdfAnswer("sequences", columns, sequences=tuple(Ordered(*run) for run in lists if run[0]))
        case _:
            bags = intervals(points, lambda t: at(t).rows(op), _in_order)
            found = tuple(Valid(Solution.row(columns, one.payload), one.start, one.end, one.n) for one in bags)
            return RdfAnswer("solutions", columns, solutions=found)


Known: TypeAlias = Mapping[Operator, list[Valid[Row]]]
"""For every triple pattern its solutions with their intervals, and for what paths and DESCRIBE read its statements."""


def timed(op: Operator, inputs: Inputs) -> Known:
    """The elements with intervals on which all snapshots of a question stand."""
    parts = list(walk(op))
    found = [part for part in parts if isinstance(part, TriplePattern)]
    read = [part.input for part in parts if isinstance(part, PathPattern)]
    read += [part.statements for part in parts if isinstance(part, Describe)]
    return {part: elements(part, inputs) for part in (*found, *read)}


def changes(known: Known) -> list[int]:
    """The instants at which a snapshot may differ from the one before: where some element begins or ends."""
    ends = (end for found in known.values() for one in found for end in (one.start, one.end) if end is not None)
    return sorted({0, *ends})


def elements(op: Windows, inputs: Inputs) -> list[Valid[Row]]:
    """Statements, or the solutions of a triple pattern, with their intervals, in order of their start."""
    match op:
        case TriplePattern(input=below):
            return patterns.triple_pattern(op, elements(below, inputs))
        case Window():
            return statements.window(op, inputs)
        case StoredGraph():
            return statements.stored_graph(op, inputs)
        case RelationUnion(left=left, right=right):
            return statements.relation_union(elements(left, inputs), elements(right, inputs))
        case _:
            raise PlanError(f"{type(op).__name__} gives no statements")


@dataclass(frozen=True, slots=True)
class Moment:
    """One instant: what every operator gives then. `outer` are the bindings around the pattern of an EXISTS."""

    inputs: Inputs
    known: Known
    t: int
    outer: Mapping[str, Term] = field(default_factory=dict)

    def valid(self, op: Windows) -> Rows:
        """The statements that are valid, or the solutions of a triple pattern."""
        return tuple(e.payload for e in self.known[op] if e.at(self.t))

    def statements_of(self, op: Construct | Describe) -> Rows:
        """The statements that a form makes or finds."""
        if isinstance(op, Construct):
            return forms.construct(op, self.rows(op.input))
        return forms.describe(op, self.rows(op.input), self.valid(op.statements))

    def rows(self, op: Windows) -> Rows:
        """The solutions that are valid, as a sequence where the operator gives one."""
        match op:
            case TriplePattern():
                return self._inside(op.schema, self.valid(op))
            case PathPattern(input=below):
                return patterns.path_pattern(op, self.valid(below), self.outer)
            case BasicGraphPattern(parts=parts):
                return patterns.basic_graph_pattern(op, [self.rows(part) for part in parts])
            case Values():
                return self._inside(op.schema, values(op))
            case WindowProject(input=input) if restricts(op):
                kept = {name: term for name, term in self.outer.items() if name in op.schema.names}
                return snapshot(op, (replace(self, outer=kept).rows(input),), self.scopes)
            case WindowProject(input=input):
                return snapshot(op, (self.rows(input),), self._extending(op))
            case _ if isinstance(op, Snapshot):
                sides = (op.left, op.right) if isinstance(op, Relations) else (op.input,)
                return snapshot(op, [self.rows(side) for side in sides], self.scopes)
            case _:
                raise PlanError(f"{type(op).__name__} gives no solutions")

    def _inside(self, schema: Schema, rows: Rows) -> Rows:
        """Solutions of a pattern in which variables of the solution around it stand for their terms (W3C 18.6)."""
        if not self.outer:
            return rows
        places = [name in self.outer for name in schema.names]
        fitting = (row for row in rows if _fits(schema.names, row, self.outer))
        return tuple(tuple(None if hidden else cell for cell, hidden in zip(row, places)) for row in fitting)

    def _exists(self, pattern: Windows, outer: Mapping[str, Term]) -> bool:
        """Whether a pattern has a solution that fits the one around it."""
        inner = replace(self, outer=outer)
        return any(_fits(pattern.schema.names, row, outer) for row in inner.rows(pattern))

    def scopes(self, schema: Schema) -> Callable[[Row], SolutionScope]:
        """What expressions see of solutions."""
        names = schema.names
        return lambda row: SolutionScope(dict(zip(names, row)), self.outer, self._exists, self.inputs.now)

    def _extending(self, op: WindowProject) -> Scopes:
        """What BIND sees: blank nodes are new for what the solution was before the first of several extensions."""
        copies: Counter[Row] = Counter()
        owner, site = unextended(op).schema.names, op.items[-1].attribute.name

        def scopes(schema: Schema) -> Callable[[Row], SolutionScope]:
            below = self.scopes(schema)

            def scope(row: Row) -> SolutionScope:
                copies[row] += 1
                return replace(below(row), owner=owner, copy=copies[row] - 1, site=site)

            return scope

        return scopes


def _fits(names: tuple[str, ...], row: Row, outer: Mapping[str, Term]) -> bool:
    """Whether a solution gives no variable another term than the one around it."""
    return all(cell is None or outer.get(name, cell) == cell for name, cell in zip(names, row))


def term_of(expression: Expression, scope: SolutionScope) -> Term | None:
    """The term that an expression over terms gives."""
    return term_in(value(expression, scope))


def _in_order(row: Row) -> tuple[tuple[int, str, str, str], ...]:
    """A key that puts rows of terms in one fixed order, column by column."""
    return tuple(in_order(term_in(cell)) for cell in row)
