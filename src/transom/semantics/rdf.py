"""Semantics of queries over RDF (SPARQL): solutions, triples and truth values with validity intervals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from transom.algebra.expressions.term_functions import TERM_FUNCTIONS
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.sequences import is_ordered
from transom.algebra.tree import calls
from transom.catalog.extent import Extent
from transom.compiled import ResultKind
from transom.errors import Span, Unsupported, UsageError
from transom.languages.sparql.locations import operator_span
from transom.languages.sparql.remarks import unknown_predicates
from transom.languages.sparql.translation.dataset_remarks import graph_remarks, unread_graph_patterns
from transom.languages.sparql.translation.names import NameResolver
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.formats import lines, table
from transom.model.view import PRINT_ALL, PrintOptions
from transom.physical.nodes.node import PhysicalNode
from transom.reference.rdf.evaluate import evaluate
from transom.reports import Engine, Map
from transom.semantics.semantics import Semantics
from transom.semantics.unread_graphs import (
    declared_or_read_predicates,
    declared_predicates,
    missing_clause,
    predicates_of,
)
from transom.spark.expressions.function_gaps import refuse_functions
from transom.spark.expressions.java_patterns import check_pattern

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.runtime.results.rdf import RdfResults

REGEX_FUNCTIONS = (TERM_FUNCTIONS["REGEX"], TERM_FUNCTIONS["REPLACE"])


@dataclass(frozen=True)
class RdfSemantics(Semantics):
    """A query over RDF streams and graphs; its answers have validity intervals."""

    unit: ClassVar[str] = "statements and solutions"
    flow: ClassVar[tuple[str, str]] = ("statements", "changes out")
    folder_formats: ClassVar[tuple[str, ...]] = ("json", "nq", "jsonld")
    refused: ClassVar[Mapping[str, str]] = {
        "--index": "solutions have no running index",
        "--approximate-sums": "sums of SPARQL are exact",
    }

    @property
    def result_kind(self) -> ResultKind:
        """The kind of answer: boolean (ASK), triples (CONSTRUCT, DESCRIBE), sequences (ORDER BY), else solutions."""
        match self.query.algebra:
            case Ask():
                return "boolean"
            case Construct() | Describe():
                return "triples"
            case solutions:
                return "sequences" if is_ordered(solutions) else "solutions"

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes that shorten the IRIs of an answer: those of the query and those of the catalog."""
        return self._names.prefixes

    @property
    def _names(self) -> NameResolver:
        """The object that resolves prefixed names in the query's text, also by the catalog's prefixes."""
        return NameResolver.of(self.query.syntax, self.query.catalog.rdf.prefixes)

    def locate(self, operator: str, extents: Collection[str]) -> Span | None:
        """Return the span of the query text that first yields this plan operator, or None; ignores `extents`."""
        return operator_span(self.query.syntax, operator)

    def refusals(self) -> Mapping[Engine, Unsupported]:
        """Map the engine `reference` to why it refuses the query (an unsupported regular expression), else {}."""
        for call in calls(self.query.algebra):
            if call.function in REGEX_FUNCTIONS:
                try:
                    check_pattern(call)
                except Unsupported as gap:
                    gap.span = gap.span or self.locate(call.function.name, ())
                    return {"reference": gap}
        return {}

    def physical_plan(
        self, *, start: int, index: bool, open_ticks: int | None, kernel: bool, followed_tables: Sequence[str]
    ) -> PhysicalNode:
        """Plan a Spark run from tick `start`: `index` numbers tuples, `kernel` uses Java; may raise Unsupported.

        The parameters are those of Semantics.physical_plan. Stored graphs are valid from `start` on.
        """
        plan = super().physical_plan(
            start=start, index=index, open_ticks=open_ticks, kernel=kernel, followed_tables=followed_tables
        )
        refuse_functions(self.query.algebra)
        return plan

    def results(self, plan: PhysicalNode) -> RdfResults:
        """Return the converter that turns the rows that Spark computes for `plan` into results."""
        from transom.runtime.results.rdf import RdfResults

        return RdfResults(plan, self.columns, self.result_kind, self.query.catalog.calendar)

    def remarks(self) -> tuple[Remark, ...]:
        """The warnings about GRAPH patterns that match nothing, and about predicates that the catalog does not list.

        There are no warnings about predicates if a source lists none.
        """
        catalog = self.query.catalog
        outside = tuple(graph_remarks(self.query.syntax.form, self._names, catalog.rdf, catalog.calendar))
        declared = [extent.predicates for extent in self.sources if extent.holds_statements]
        if None in declared:
            return outside
        listed = {iri for predicates in declared for iri in predicates or ()}
        return outside + self._unknown_predicate_remarks(listed, declared_predicates)

    def input_remarks(self, inputs: Any) -> tuple[Remark, ...]:
        """Warn of predicates in the query that no input statement has, unless the query's warnings include them."""
        names = self.query.catalog.rdf.extents
        streamed = (element.row for name in names for element in inputs.streams.get(name, ()))
        stored = (row for name in names for element in inputs.tables.get(name, ()) for row in element.rows)
        issued = {remark.span for remark in self.query.warnings}
        remarks = self._unknown_predicate_remarks(
            predicates_of((*streamed, *stored)), declared_or_read_predicates(self.query.catalog)
        )
        return tuple(remark for remark in remarks if remark.span not in issued)

    def _unknown_predicate_remarks(
        self, predicates: set[str], predicates_in: Callable[[Extent], Collection[str]]
    ) -> tuple[Remark, ...]:
        """Warn of predicates in the query that are not among `predicates`; if that is empty, there are no warnings.

        A warning names another extent of the catalog if that has the predicate, which `predicates_in` says.
        """
        if not predicates:
            return ()
        form, catalog = self.query.syntax.form, self.query.catalog
        read = {extent.name for extent in self.sources}
        unread = tuple(unread_graph_patterns(form, self._names, catalog.rdf, catalog.calendar))

        def elsewhere(iri: str) -> str | None:
            """Return where this predicate occurs among the extents that the query does not read, or None."""
            return missing_clause(iri, catalog, read, predicates_in, has_from=bool(form.sources))

        return tuple(unknown_predicates(self.query.syntax, self._names, predicates, unread, elsewhere))

    def evaluate(self, inputs: Any) -> Any:
        """Evaluate the query with the reference engine on `inputs`; the answer begins at `inputs.start`, open-ended."""
        answer, calendar = evaluate(self.query.algebra, inputs), self.query.catalog.calendar
        return replace(answer, rejected=inputs.rejected, calendar=calendar).since(inputs.start)

    def empty_answer(self) -> RdfAnswer:
        """Build an answer without solutions, triples or truth values, by which output formats are checked."""
        return RdfAnswer(self.result_kind, self.columns)  # type: ignore[arg-type]

    def table(
        self, answer: Any, start: int, until: int | None, view: PrintOptions = PRINT_ALL
    ) -> Iterator[tuple[str, ...]]:
        """Yield the answer from `start` to `until` (None: no end) as rows (interval, count, terms); `view`: style."""
        return table(answer.during(max(start, view.first), until), self.prefixes, view)

    def lines(
        self,
        answer: Any,
        form: str,
        start: int,
        until: int | None,
        view: PrintOptions = PRINT_ALL,
        *,
        escape_formulas: bool,
    ) -> Iterator[str]:
        """Yield the answer from `start` to `until` (None: no end) as `form` lines; `escape_formulas` is ignored."""
        return lines(form, answer, max(start, view.first), until, view)

    def picture(self, inputs: Any, start: int, until: int | None) -> str:
        """Draw the answer from tick `start` to `until` (None: the last change) as SVG, a bar per validity interval."""
        from transom.picture.timeline.intervals import draw_answer

        calendar, answer, text = self.query.catalog.calendar, self.evaluate(inputs), self.query.text
        return draw_answer(answer, calendar, start, until, prefixes=self.prefixes, title=self.title, query_text=text)

    def map(self, inputs: Any, at: int | None, colour: Any) -> Map:
        """Raise UsageError, because SPARQL answers cannot be drawn as a map: solutions have no positions."""
        raise UsageError("`map` takes no SPARQL", hint="`picture` shows when solutions are valid")
