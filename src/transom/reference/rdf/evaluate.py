"""Evaluate queries over RDF: a snapshot of each operator at every instant where something changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from transom.algebra.expressions.expression import Expression
from transom.algebra.operator import Operator, Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.solutions import strip_binds
from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.relations import RelationUnion, WindowProject, is_column_selection
from transom.algebra.sequences import is_ordered
from transom.algebra.sources import Values
from transom.algebra.tree import RdfPlan, RelationOperator, reads_streams, volatile_calls, walk
from transom.algebra.windows import Window
from transom.errors import PlanError, Unsupported
from transom.model.bag import Row
from transom.model.rdf.answer import BooleanInterval, RdfAnswer, SequenceInterval, intervals, merge_equal_neighbours
from transom.model.rdf.solutions import Solution, Valid
from transom.model.rdf.terms import Term, Triple, term_order_key
from transom.model.schema import Schema
from transom.reference.expressions import ContextFactory, evaluate_expression
from transom.reference.rdf import forms, patterns, statements
from transom.reference.rdf.expressions import SolutionContext
from transom.reference.relations import Rows, Snapshot, as_term, snapshot
from transom.reference.sources import Inputs, values


def evaluate(op: RdfPlan, inputs: Inputs) -> RdfAnswer:
    """Evaluate a SPARQL plan to its answer, whose validity intervals begin at tick 0 or later.

    Raises Unsupported for volatile functions over streams.
    """
    if reads_streams(op) and (calls := volatile_calls(op)):
        raise Unsupported(
            calls[0].function.name, "over a stream its value would change within a solution's time", "never"
        )
    timed = timed_operators(op, inputs)
    points = change_instants(timed)

    def at(t: int) -> InstantSnapshot:
        """Return the snapshot from which the output of every operator at instant `t` is computed."""
        return InstantSnapshot(inputs, timed, t)

    columns = op.schema.names
    match op:
        case Ask(input=input):
            runs = merge_equal_neighbours(points, [forms.ask(at(t).rows(input)) for t in points])
            return RdfAnswer("boolean", columns, truth=tuple(BooleanInterval(*run) for run in runs))
        case Construct() | Describe():
            statements = intervals(points, lambda t: at(t).statements_of(op), _row_order_key)
            triples = tuple(Valid(Triple(*s.payload), s.start, s.end, s.n) for s in statements)  # type: ignore[arg-type]
            return RdfAnswer("triples", columns, triples=triples)
        case _ if is_ordered(op):
            lists = merge_equal_neighbours(
                points, [tuple(Solution.from_row(columns, row) for row in at(t).rows(op)) for t in points]
            )
            return RdfAnswer("sequences", columns, sequences=tuple(SequenceInterval(*run) for run in lists if run[0]))
        case _:
            rows = intervals(points, lambda t: at(t).rows(op), _row_order_key)
            solutions = tuple(Valid(Solution.from_row(columns, r.payload), r.start, r.end, r.n) for r in rows)
            return RdfAnswer("solutions", columns, solutions=solutions)


ValidRows: TypeAlias = Mapping[Operator, list[Valid[Row]]]
"""Solutions of triple patterns, and statements that paths and DESCRIBE read, with their intervals."""


def timed_operators(op: Operator, inputs: Inputs) -> ValidRows:
    """Map each plan node that gives rows of RDF sources directly to these rows with their validity intervals."""
    nodes = list(walk(op))
    patterns = [node for node in nodes if isinstance(node, TriplePattern)]
    sources = [node.input for node in nodes if isinstance(node, PathPattern)]
    sources += [node.statements for node in nodes if isinstance(node, Describe)]
    return {node: valid_elements(node, inputs) for node in (*patterns, *sources)}


def change_instants(timed: ValidRows) -> list[int]:
    """Return the instants at which any output can change: 0, and start and end of every validity interval."""
    ends = (end for rows in timed.values() for row in rows for end in (row.start, row.end) if end is not None)
    return sorted({0, *ends})


def valid_elements(op: Windows, inputs: Inputs) -> list[Valid[Row]]:
    """Return a source's statements, or a triple pattern's solutions, with validity intervals, by interval start."""
    match op:
        case TriplePattern(input=child):
            return patterns.triple_pattern(op, valid_elements(child, inputs))
        case Window():
            return statements.window(op, inputs)
        case StoredGraph():
            return statements.stored_graph(op, inputs)
        case RelationUnion(left=left, right=right):
            return statements.relation_union(valid_elements(left, inputs), valid_elements(right, inputs))
        case _:
            raise PlanError(f"{type(op).__name__} gives no statements")


@dataclass(frozen=True, slots=True)
class InstantSnapshot:
    """The output of every operator at one instant; `outer` has the bindings around the pattern of an EXISTS."""

    inputs: Inputs
    timed: ValidRows
    t: int
    outer: Mapping[str, Term] = field(default_factory=dict)

    def valid(self, op: Windows) -> Rows:
        """Return the source's statements, or the triple pattern's solutions, that are valid at this instant."""
        return tuple(e.payload for e in self.timed[op] if e.at(self.t))

    def statements_of(self, op: Construct | Describe) -> Rows:
        """Return the statements that a CONSTRUCT or DESCRIBE produces at this instant."""
        if isinstance(op, Construct):
            return forms.construct(op, self.rows(op.input))
        return forms.describe(op, self.rows(op.input), self.valid(op.statements))

    def rows(self, op: Windows) -> Rows:
        """Return the solutions that an operator produces at this instant, in order if the operator defines an order."""
        match op:
            case TriplePattern():
                return self._compatible_rows(op.schema, self.valid(op))
            case PathPattern(input=child):
                return patterns.path_pattern(op, self.valid(child), self.outer)
            case BasicGraphPattern(parts=parts):
                return patterns.basic_graph_pattern(op, [self.rows(part) for part in parts])
            case Values():
                return self._compatible_rows(op.schema, values(op))
            case WindowProject(input=input) if is_column_selection(op):
                visible = {name: term for name, term in self.outer.items() if name in op.schema.names}
                return snapshot(op, (replace(self, outer=visible).rows(input),), self.scopes)
            case WindowProject(input=input):
                return snapshot(op, (self.rows(input),), self._bind_contexts(op))
            case _ if isinstance(op, Snapshot):
                sides = (op.left, op.right) if isinstance(op, RelationOperator) else (op.input,)
                return snapshot(op, [self.rows(side) for side in sides], self.scopes)
            case _:
                raise PlanError(f"{type(op).__name__} gives no solutions")

    def _compatible_rows(self, schema: Schema, rows: Rows) -> Rows:
        """Inside an EXISTS, keep the solutions that agree with the bindings around it; elsewhere keep all.

        Variables that those bindings bind become NULL in the solutions.
        """
        if not self.outer:
            return rows
        bound = [name in self.outer for name in schema.names]
        compatible = (row for row in rows if _is_compatible(schema.names, row, self.outer))
        return tuple(tuple(None if is_bound else cell for cell, is_bound in zip(row, bound)) for row in compatible)

    def _exists(self, pattern: Windows, outer: Mapping[str, Term]) -> bool:
        """Whether the pattern of an EXISTS has a solution at this instant that agrees with the bindings around it."""
        inner = replace(self, outer=outer)
        return any(_is_compatible(pattern.schema.names, row, outer) for row in inner.rows(pattern))

    def scopes(self, schema: Schema) -> Callable[[Row], SolutionContext]:
        """Return a function that wraps a solution, a row of `schema`, as the evaluation context of expressions."""
        names = schema.names
        return lambda row: SolutionContext(dict(zip(names, row)), self.outer, self._exists, self.inputs.now)

    def _bind_contexts(self, op: WindowProject) -> ContextFactory:
        """Return the factory of BIND's evaluation contexts, one per row, so that BNODE() differs per solution."""
        copies: Counter[Row] = Counter()
        owner, site = strip_binds(op).schema.names, op.items[-1].attribute.name

        def scopes(schema: Schema) -> Callable[[Row], SolutionContext]:
            """Return a function that wraps an input row of the BIND as the evaluation context of its expression."""
            inner = self.scopes(schema)

            def scope(row: Row) -> SolutionContext:
                """Wrap BIND's input row as an evaluation context; equal rows get numbers, so BNODE() differs.

                Equal rows are numbered, so that they get different blank nodes.
                """
                copies[row] += 1
                return replace(inner(row), owner=owner, copy=copies[row] - 1, call_site=site)

            return scope

        return scopes


def _is_compatible(names: tuple[str, ...], row: Row, outer: Mapping[str, Term]) -> bool:
    """Whether a solution, a row with these variable names, agrees with the outer bindings; a NULL always agrees."""
    return all(cell is None or outer.get(name, cell) == cell for name, cell in zip(names, row))


def term_of(expression: Expression, scope: SolutionContext) -> Term | None:
    """Evaluate a SPARQL expression, whose variables `scope` supplies, to a term; None if it is NULL."""
    return as_term(evaluate_expression(expression, scope))


def _row_order_key(row: Row) -> tuple[tuple[int, str, str, str], ...]:
    """Return the key by which `sorted` orders rows of RDF terms, which gives answers a canonical order."""
    return tuple(term_order_key(as_term(cell)) for cell in row)
