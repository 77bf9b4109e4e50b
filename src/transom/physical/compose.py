"""Queries over answers of other queries: the plan of the inner query takes the place of the source that reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from transom.algebra.composed import Composed
from transom.algebra.composed_sources import SUBJECT, ConstructedStream, RowStatements, SolutionStream
from transom.algebra.expressions import Item
from transom.algebra.operator import Windows
from transom.algebra.rdf.forms import Construct, Describe, Template
from transom.algebra.state import Number, times
from transom.algebra.terms import variable
from transom.algebra.tree import reads_streams, volatile_calls
from transom.errors import PlanError, Unsupported
from transom.model.rdf.terms import IRI
from transom.physical import arrange, choices, gaps, rdf_arrange, rdf_choices
from transom.physical.bridges import TermRows, TypedRows
from transom.physical.choices import STATELESS, Span
from transom.physical.forms import Choice, Form, Path
from transom.physical.lines import Net
from transom.physical.node import Physical
from transom.physical.plan import Read
from transom.physical.rdf_join import bound_to, moving
from transom.physical.rdf_plan import Make, solutions
from transom.physical.walk import rewrite

_TYPED = Choice(Path.NATIVE, "terms as values", "each row by itself", STATELESS.state)
_TERMS = Choice(Path.NATIVE, "values as terms", "each row by itself", STATELESS.state)


@dataclass(frozen=True, slots=True)
class Composer:
    """Puts the plans of inner queries into a plan; all of them have the same start, slack and kernel."""

    inner: Mapping[str, Composed]
    start: int
    slack: int
    kernel: bool
    keys: Mapping[str, int]
    growing: frozenset[str]
    given: frozenset[str] = frozenset()
    local: frozenset[str] = frozenset()

    def composed(self, plan: Physical) -> Physical:
        """A plan without sources that are answers of other queries; those whose rows are `given` stay."""
        return rewrite(plan, self._source)

    def _source(self, node: Physical) -> Physical:
        if not isinstance(node, Read) or node.extent not in self.inner or node.extent in self.given:
            return node
        op = self.inner[node.extent]
        if node.ordered:
            raise gaps.ANSWER_ORDER.refusal("Read" if isinstance(op, SolutionStream) else "ElementWindow")
        try:
            found = self._planned(op, node)
        except Unsupported as gap:
            if gap.span is None:
                gap.detail = f"{gap.detail} (in the query of {node.extent})"
            raise
        return rewrite(found, lambda n: replace(n, choice=choices.in_kernel(n.choice))) if self.kernel else found

    def _planned(self, op: Composed, node: Read) -> Physical:
        if isinstance(op, RowStatements):
            return self._statements(op)
        if isinstance(op, ConstructedStream):
            return self._begun(op.question, op.question.input)
        if not isinstance(op, SolutionStream):
            raise PlanError(f"{type(op).__name__} is no answer of a query")
        return TypedRows(self._begun(op.question, op.question), op.extent, node.schema, _TYPED)

    def _begun(self, question: Windows | Construct | Describe, solved: Windows) -> Physical:
        """What begins to be valid: the changes of each tick added up, of which those above 0 stay."""
        if calls := volatile_calls(question):
            raise gaps.VOLATILE.refusal(calls[0].function.name)
        planner = replace(self._planner, streams=reads_streams(question))
        plan = planner.windows(question) if isinstance(question, Windows) else rdf_arrange.question(planner, question)
        changes = self.composed(moving(planner, plan))
        state = times(Number(2), rdf_choices.within(solved, self.slack))
        why = "a row for each solution that begins: comings and goings of equal ones add up per tick"
        return Net(changes, "came", changes.schema, Choice(Path.NATIVE, "beginnings", why, state))

    @property
    def _planner(self) -> arrange.Planner:
        return arrange.Planner(self.start, Span(self.slack), self.kernel, self.keys, self.growing, self.local)

    def _statements(self, op: RowStatements) -> Physical:
        rows = self.composed(self._planner.unordered(op.rows))
        names = tuple(attribute.name for attribute in op.rows.schema)
        terms = TermRows(rows, solutions(names), _TERMS)
        subject = bound_to(terms, [Item(op.subject, SUBJECT.attribute)])
        template = tuple(Template(SUBJECT, IRI(iri), variable(column)) for column, iri in op.predicates)
        return Make(subject, template, Form.STREAM, STATELESS)
