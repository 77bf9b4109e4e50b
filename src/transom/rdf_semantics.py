"""Queries over RDF: solutions, statements and truth values over time, in SPARQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.sequences import ordered
from transom.algebra.term_functions import TERM_FUNCTIONS
from transom.algebra.tree import calls
from transom.compiled import ResultKind
from transom.errors import Span, Unsupported, UsageError
from transom.languages.sparql.names import Names
from transom.languages.sparql.places import place_of
from transom.languages.sparql.remarks import unknown_predicates
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.formats import lines, table
from transom.model.rdf.spelling import decode
from transom.model.rdf.terms import IRI
from transom.physical.node import Physical
from transom.reference.rdf.evaluate import evaluate
from transom.semantics import Semantics
from transom.shown import Engine, Map
from transom.spark.function_gaps import refuse_functions
from transom.spark.java_patterns import read_by_reference

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.runtime.rdf_answers import RdfResults

PATTERNS = (TERM_FUNCTIONS["REGEX"], TERM_FUNCTIONS["REPLACE"])


@dataclass(frozen=True)
class RdfSemantics(Semantics):
    """A query over streams and graphs of RDF: its answers are valid for a time."""

    unit: ClassVar[str] = "statements and solutions"
    flow: ClassVar[tuple[str, str]] = ("statements", "changes out")
    folder_formats: ClassVar[tuple[str, ...]] = ("json", "nq", "jsonld")
    refused: ClassVar[Mapping[str, str]] = {
        "--index": "solutions have no running index",
        "--approximate-sums": "sums of SPARQL are exact",
    }

    @property
    def result_kind(self) -> ResultKind:
        """What the form of the query asks for."""
        match self.query.algebra:
            case Ask():
                return "boolean"
            case Construct() | Describe():
                return "triples"
            case solutions:
                return "sequences" if ordered(solutions) else "solutions"

    @property
    def prefixes(self) -> Mapping[str, str]:
        """The prefixes of the query, and those of the catalog that it does not declare anew."""
        return self._names.prefixes

    @property
    def _names(self) -> Names:
        return Names.of(self.query.syntax, self.query.catalog.rdf.prefixes)

    def place_of(self, operator: str, extents: Collection[str]) -> Span | None:
        """Where the text has an operator or a function."""
        return place_of(self.query.syntax, operator)

    def refusals(self) -> Mapping[Engine, Unsupported]:
        """The reference engine refuses the first constant regular expression that it does not read."""
        for call in calls(self.query.algebra):
            if call.function in PATTERNS:
                try:
                    read_by_reference(call)
                except Unsupported as gap:
                    gap.span = gap.span or self.place_of(call.function.name, ())
                    return {"reference": gap}
        return {}

    def arrange(self, *, start: int, index: bool, slack: int | None, kernel: bool, growing: Sequence[str]) -> Physical:
        """The plan for Spark; what is stored is there from `start` on."""
        plan = super().arrange(start=start, index=index, slack=slack, kernel=kernel, growing=growing)
        refuse_functions(self.query.algebra)
        return plan

    def results(self, plan: Physical) -> RdfResults:
        """How the runtime reports the results of a plan."""
        from transom.runtime.rdf_answers import RdfResults

        return RdfResults(plan, self.columns, self.result_kind, self.query.catalog.calendar)

    def remarks(self) -> tuple[Remark, ...]:
        """The predicates of patterns that the catalog does not declare, where it declares those of all that is read."""
        declared = [extent.predicates for extent in self.sources if extent.holds_statements]
        if None in declared:
            return ()
        return self._unknown({iri for predicates in declared for iri in predicates or ()})

    def unmatched(self, inputs: Any) -> tuple[Remark, ...]:
        """The predicates of patterns that no statement of some inputs has."""
        known = self.query.catalog.rdf.extents
        streamed = (one.row for name in known for one in inputs.streams.get(name, ()))
        stored = (row for name in known for one in inputs.tables.get(name, ()) for row in one.rows)
        said = {(remark.message, remark.span) for remark in self.query.warnings}
        found = self._unknown({_iri(text) for text in {row[1] for row in (*streamed, *stored)}})
        return tuple(remark for remark in found if (remark.message, remark.span) not in said)

    def _unknown(self, known: set[str]) -> tuple[Remark, ...]:
        """The predicates of patterns that are not among those that are known; none where nothing is known."""
        return tuple(unknown_predicates(self.query.syntax, self._names, known)) if known else ()

    def evaluate(self, inputs: Any) -> Any:
        """What is valid at every tick from the start on, for ever."""
        return replace(evaluate(self.query.algebra, inputs), aside=inputs.aside).since(inputs.start)

    def nothing(self) -> RdfAnswer:
        """Nothing is ever valid."""
        return RdfAnswer(self.result_kind, self.columns)  # type: ignore[arg-type]

    def table(self, answer: Any, start: int, until: int | None) -> Iterator[tuple[str, ...]]:
        """What is valid, when, and how often, with short names."""
        return table(answer.during(start, until), self.prefixes)

    def lines(self, answer: Any, form: str, start: int, until: int | None, *, guard: bool) -> Iterator[str]:
        """Any format of answers over RDF."""
        return lines(form, answer, start, until)

    def rejected(self, answer: Any) -> Mapping[str, tuple[Mapping[str, int], str]]:
        """The messages that are set aside in an answer."""
        return {
            stream: (Counter(one.reason.value for one in aside), f"{aside[0].place}: {aside[0].words}")
            for stream, aside in answer.aside.items()
        }

    def picture(self, inputs: Any, start: int, until: int | None) -> str:
        """One lane per solution, with bars for the times in which it is valid."""
        from transom.picture.intervals import draw_answer

        calendar, answer, text = self.query.catalog.calendar, self.evaluate(inputs), self.query.text
        return draw_answer(answer, calendar, start, until, prefixes=self.prefixes, title=self.title, text=text)

    def map(self, inputs: Any, at: int | None, colour: Any) -> Map:
        """Solutions have no places."""
        raise UsageError("`map` takes no SPARQL", hint="`picture` shows when solutions are valid")


def _iri(text: str) -> str:
    """The IRI of a predicate."""
    term = decode(text)
    return term.value if isinstance(term, IRI) else text
