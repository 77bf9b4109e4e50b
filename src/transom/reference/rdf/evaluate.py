"""From a question over RDF to its answer: at every instant where something changes, the snapshot of each operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, assert_never

from transom.algebra.expressions import Expression
from transom.algebra.operator import Operator, Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.solutions import unextended
from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    RelationUnion,
    WindowAggregation,
    WindowDistinct,
    WindowProject,
    WindowSelect,
    restricts,
)
from transom.algebra.sequences import OrderBy, Slice, ordered
from transom.algebra.sources import Values
from transom.algebra.tree import Question, reads_streams, volatile_calls, walk
from transom.algebra.windows import Window
from transom.errors import PlanError, Unsupported
from transom.model.rdf.answer import Ordered, RdfAnswer, Truth, intervals, runs
from transom.model.rdf.solutions import Solution, Valid
from transom.model.rdf.terms import Term, Triple, in_order
from transom.reference.expressions import holds, value
from transom.reference.rdf import forms, patterns, solutions, statements
from transom.reference.rdf.expressions import SolutionScope
from transom.reference.sources import Inputs


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

    match op:
        case Ask(input=input):
            told = runs(points, [forms.ask(at(t).solutions(input)) for t in points])
            return RdfAnswer("boolean", ("ask",), truth=tuple(Truth(*run) for run in told))
        case Construct() | Describe():
            found = intervals(points, lambda t: at(t).triples(op), _triple_order)
            return RdfAnswer("triples", ("s", "p", "o"), triples=found)
        case _:
            columns = tuple(column.name for column in op.schema)
            if ordered(op):
                lists = runs(points, [tuple(at(t).solutions(op)) for t in points])
                return RdfAnswer("sequences", columns, sequences=tuple(Ordered(*run) for run in lists if run[0]))
            bags = intervals(points, lambda t: at(t).solutions(op), lambda s: s.in_order(columns))
            return RdfAnswer("solutions", columns, solutions=bags)


Known: TypeAlias = Mapping[Operator, list[Valid[Triple]] | list[Valid[Solution]]]
"""For every window and triple pattern of a question, its elements with their intervals."""


def timed(op: Operator, inputs: Inputs) -> Known:
    """The elements with intervals on which all snapshots of a question stand."""
    patterns = [part for part in walk(op) if isinstance(part, TriplePattern)]
    read = [part.input for part in walk(op) if isinstance(part, PathPattern)]
    read += [part.statements for part in walk(op) if isinstance(part, Describe)]
    return {part: elements(part, inputs) for part in (*patterns, *read)}


def changes(known: Known) -> list[int]:
    """The instants at which a snapshot may differ from the one before: where some element begins or ends."""
    ends = (end for found in known.values() for one in found for end in (one.start, one.end) if end is not None)
    return sorted({0, *ends})


def elements(op: Windows, inputs: Inputs) -> list[Valid[Triple]] | list[Valid[Solution]]:
    """Windows and triple patterns: elements with their intervals, in order of their start."""
    if isinstance(op, TriplePattern):
        return patterns.triple_pattern(op, facts(op.input, inputs))
    return facts(op, inputs)


def facts(op: Windows, inputs: Inputs) -> list[Valid[Triple]]:
    """Statements with their intervals, in order of their start."""
    match op:
        case Window():
            return statements.window(op, inputs)
        case StoredGraph():
            return statements.stored_graph(op, inputs)
        case RelationUnion(left=left, right=right):
            return statements.relation_union(facts(left, inputs), facts(right, inputs))
        case _:
            raise PlanError(f"{type(op).__name__} gives no statements")


@dataclass(frozen=True, slots=True)
class Moment:
    """One instant: what every operator gives then. `outer` is the solution around the pattern of an EXISTS."""

    inputs: Inputs
    known: Known
    t: int
    outer: Solution = field(default_factory=Solution)

    def statements(self, op: Windows) -> list[Triple]:
        """The statements that are valid."""
        return [e.payload for e in self.known[op] if e.at(self.t) and isinstance(e.payload, Triple)]

    def triples(self, op: Construct | Describe) -> list[Triple]:
        """The statements that a form makes or finds."""
        match op:
            case Construct(input=input):
                return forms.construct(op, self.solutions(input))
            case Describe(input=input, statements=about):
                return forms.describe(op, self.solutions(input), self.statements(about))
            case _:
                assert_never(op)

    def solutions(self, op: Windows) -> list[Solution]:
        """The solutions that are valid, as a sequence where the operator gives one."""
        match op:
            case TriplePattern():
                valid = [e.payload for e in self.known[op] if e.at(self.t)]
                return self._inside([one for one in valid if isinstance(one, Solution)])
            case PathPattern(input=below):
                return patterns.path_pattern(op, self.statements(below), self.outer)
            case BasicGraphPattern(parts=parts):
                return patterns.basic_graph_pattern([self.solutions(part) for part in parts])
            case WindowSelect(input=input, predicate=predicate):
                return solutions.filter(self.solutions(input), lambda s: self._holds(predicate, s))
            case RelationUnion(left=left, right=right):
                return solutions.union(self.solutions(left), self.solutions(right))
            case RelationJoin(left=left, right=right, predicate=predicate, join_type=join_type):
                sides = self.solutions(left), self.solutions(right)
                match join_type:
                    case JoinType.INNER:
                        return solutions.join(*sides)
                    case JoinType.LEFT:
                        return solutions.left_join(*sides, lambda s: self._holds(predicate, s))
                    case _:
                        return solutions.minus(*sides)
            case Values():
                return self._inside(solutions.values(op))
            case WindowAggregation(input=input):
                return solutions.aggregation(op, self.solutions(input), self._value)
            case WindowProject(input=input) if restricts(op):
                inner = replace(self, outer=self.outer.only(a.name for a in op.schema))
                return solutions.project(op, inner.solutions(input))
            case WindowProject():
                return self._extend(op)
            case WindowDistinct(input=input):
                return solutions.distinct(self.solutions(input))
            case OrderBy(input=input):
                return solutions.order_by(op, self.solutions(input), self._value)
            case Slice(input=input):
                return solutions.slice(op, self.solutions(input))
            case _:
                raise PlanError(f"{type(op).__name__} gives no solutions")

    def _inside(self, found: Sequence[Solution]) -> list[Solution]:
        """Solutions of a pattern in which variables of the solution around it stand for their terms (W3C 18.6)."""
        fitting = [solution for solution in found if solution.compatible(self.outer)]
        return [solution.only(set(solution) - set(self.outer)) for solution in fitting]

    def _exists(self, pattern: Windows, outer: Solution) -> bool:
        """Whether a pattern has a solution that fits the one around it."""
        inner = replace(self, outer=outer)
        return any(solution.compatible(outer) for solution in inner.solutions(pattern))

    def _scope(self, solution: Solution) -> SolutionScope:
        return SolutionScope(solution, self.outer, self._exists, self.inputs.now, solution)

    def _holds(self, condition: Expression | None, solution: Solution) -> bool:
        return condition is None or holds(condition, self._scope(solution))

    def _value(self, expression: Expression, solution: Solution) -> Term | None:
        return term_of(expression, self._scope(solution))

    def _extend(self, op: WindowProject) -> list[Solution]:
        """One more variable; blank nodes are new for what the solution was before the first of several extensions."""
        names = [column.name for column in unextended(op).schema]
        below = self.solutions(op.input)
        item = op.items[-1]
        name = item.attribute.name
        found = [
            term_of(item.expression, replace(self._scope(one), origin=one.only(names), copy=copy, site=name))
            for one, copy in forms.numbered(below)
        ]
        return solutions.extend(below, name, found)


def term_of(expression: Expression, scope: SolutionScope) -> Term | None:
    """The term that an expression over terms gives."""
    found = value(expression, scope)
    assert found is None or isinstance(found, Term)  # noqa: S101 - the expression is of type TERM
    return found


def _triple_order(triple: Triple) -> tuple[tuple[int, str, str, str], ...]:
    return (in_order(triple.subject), in_order(triple.predicate), in_order(triple.object))
