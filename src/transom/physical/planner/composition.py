"""Queries over the answers of other queries: the plan of the inner query replaces the source that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from transom.algebra.composition.composed_source import ComposedSource
from transom.algebra.composition.sources import SUBJECT, ConstructedStream, RowStatements, SolutionStream
from transom.algebra.expressions.expression import NamedExpression
from transom.algebra.expressions.terms import variable
from transom.algebra.operator import Windows
from transom.algebra.rdf.forms import Construct, Describe, TripleTemplate
from transom.algebra.state.formula import RowCount, times
from transom.algebra.tree import reads_streams, volatile_calls
from transom.errors import PlanError, Unsupported
from transom.model.rdf.terms import IRI
from transom.physical import decisions, gaps
from transom.physical.decisions import STATELESS, EventTimeSlack
from transom.physical.forms import Decision, Executor, Form
from transom.physical.nodes.bridges import TermsToValues, ValuesToTerms
from transom.physical.nodes.keyed_windows import ChangesToStream
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.rdf import ConstructExec, solution_schema
from transom.physical.nodes.walk import rewrite
from transom.physical.nodes.windows import ReadStream
from transom.physical.planner.planner import Planner
from transom.physical.rdf import decisions as rdf_decisions
from transom.physical.rdf import relations
from transom.physical.rdf.joins import add_variables, as_changes

_TERMS_TO_VALUES = Decision(Executor.NATIVE, "terms as values", "each row on its own", STATELESS.state)
_VALUES_TO_TERMS = Decision(Executor.NATIVE, "values as terms", "each row on its own", STATELESS.state)


@dataclass(frozen=True, slots=True)
class Composer:
    """Inlines the plans of inner queries into the plan of an outer query; all have the same planner settings."""

    inner: Mapping[str, ComposedSource]
    start: int
    slack: int
    kernel: bool
    keys: Mapping[str, int]
    growing: frozenset[str]
    provided: frozenset[str] = frozenset()
    local: frozenset[str] = frozenset()

    def inline(self, plan: PhysicalNode) -> PhysicalNode:
        """Replace each source that reads the answer of another query by the plan of that query.

        Sources in `provided` are not replaced: the caller passes their rows.
        """
        return rewrite(plan, self._inline_source)

    def _inline_source(self, node: PhysicalNode) -> PhysicalNode:
        """Replace a source that reads another query's answer by that query's plan; return other nodes unchanged."""
        if not isinstance(node, ReadStream) or node.extent not in self.inner or node.extent in self.provided:
            return node
        op = self.inner[node.extent]
        if node.ordered:
            raise gaps.RESULT_ORDER.refusal("Window" if isinstance(op, SolutionStream) else "ElementWindow")
        try:
            plan = self._plan_inner(op, node)
        except Unsupported as gap:
            if gap.span is None:
                gap.detail = f"{gap.detail} (in the query of {node.extent})"
            raise
        return (
            rewrite(plan, lambda n: replace(n, decision=decisions.move_to_kernel(n.decision))) if self.kernel else plan
        )

    def _plan_inner(self, op: ComposedSource, node: ReadStream) -> PhysicalNode:
        """Plan the inner query `op`, whose answers become the rows or statements of the source `node`."""
        if isinstance(op, RowStatements):
            return self._statements(op)
        if isinstance(op, ConstructedStream):
            return self._plan_beginnings(op.inner_query, op.inner_query.input)
        if not isinstance(op, SolutionStream):
            raise PlanError(f"{type(op).__name__} cannot be the answer of a query")
        return TermsToValues(
            self._plan_beginnings(op.inner_query, op.inner_query), op.extent, node.schema, _TERMS_TO_VALUES
        )

    def _plan_beginnings(self, inner_query: Windows | Construct | Describe, solved: Windows) -> PhysicalNode:
        """Plan `inner_query` as a stream: each result when it becomes valid; `solved` is its relation of solutions.

        Retractions of equal results are subtracted. The state bound is derived from the solutions `solved`.
        """
        if calls := volatile_calls(inner_query):
            raise gaps.VOLATILE_FUNCTION.refusal(calls[0].function.name)
        planner = replace(self._planner, streams=reads_streams(inner_query))
        plan = (
            planner.plan_windows(inner_query)
            if isinstance(inner_query, Windows)
            else relations.plan_rdf_query(planner, inner_query)
        )
        changes = self.inline(as_changes(planner, plan))
        state = times(RowCount(2), rdf_decisions.max_valid_rows(solved, self.slack))
        why = "one row per solution that begins: insertions and retractions of equal solutions are summed per tick"
        return ChangesToStream(changes, "inserted", changes.schema, Decision(Executor.NATIVE, "beginnings", why, state))

    @property
    def _planner(self) -> Planner:
        """A planner for inner queries that has the settings of this composer."""
        return Planner(self.start, EventTimeSlack(self.slack), self.kernel, self.keys, self.growing, self.local)

    def _statements(self, op: RowStatements) -> PhysicalNode:
        """Plan an RDF stream that is made from rows: each mapped column of a row becomes one statement."""
        rows = self.inline(self._planner.unordered(op.rows))
        names = tuple(attribute.name for attribute in op.rows.schema)
        terms = ValuesToTerms(rows, solution_schema(names), _VALUES_TO_TERMS)
        subject = add_variables(terms, [NamedExpression(op.subject, SUBJECT.attribute)])
        template = tuple(TripleTemplate(SUBJECT, IRI(iri), variable(column)) for column, iri in op.predicates)
        return ConstructExec(subject, template, Form.STREAM, STATELESS)
