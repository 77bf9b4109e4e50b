"""Sources that are answers of other queries: solutions as rows, rows as statements, constructed statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from transom.algebra.composed import Behind, Composed
from transom.algebra.expressions import Expression
from transom.algebra.operator import Stream, Windows
from transom.algebra.rdf.forms import Construct, Describe
from transom.algebra.sources import StreamReceive
from transom.algebra.terms import term_call, term_literal, variable
from transom.errors import PlanError
from transom.model.rdf.terms import Literal

SUBJECT = variable("_subject")
"""The variable of the subject among the columns of a row; no column has this name."""


@dataclass(frozen=True, slots=True)
class SolutionStream(StreamReceive, Composed):
    """The solutions of a question over RDF as rows of typed columns.

    Meaning  one row for each solution that begins: at tick t, those that are valid at t and were not at t - 1, as often
             as they are more.
    Bounds   a term is read as a value of the declared type of its column, unbound is NULL; a row with a term that is no
             such value is rejected.
    Source   ours.
    State    that of the question.
    """

    inner: Behind = field()

    @property
    def question(self) -> Windows:
        """The question behind it."""
        if not isinstance(self.inner.query, Windows):
            raise PlanError("rows are made of solutions")
        return self.inner.query


@dataclass(frozen=True, slots=True)
class RowStatements(StreamReceive, Composed):
    """Statements made of the rows of a stream: one subject per row, one predicate per column.

    Meaning  each row gives, at its tick, the statements (subject, predicate, value), in the order of the predicates.
    Bounds   a NULL gives no statement, and a row without a subject gives none.
    Source   ours; after the templates of R2RML.
    State    that of the stream.
    """

    inner: Behind = field()
    subject: Expression = field()
    predicates: tuple[tuple[str, str], ...] = field()
    """Columns and the IRIs of their predicates."""

    @property
    def rows(self) -> Stream:
        """The stream of rows behind it."""
        if not isinstance(self.inner.query, Stream):
            raise PlanError("statements are made of a stream of rows")
        return self.inner.query


@dataclass(frozen=True, slots=True)
class ConstructedStream(StreamReceive, Composed):
    """The statements that a question makes, as a stream.

    Meaning  one statement for each that begins to be valid, as of solutions.
    Bounds   none.
    Source   ours.
    State    that of the question.
    """

    inner: Behind = field()

    @property
    def question(self) -> Construct | Describe:
        """The question behind it."""
        if not isinstance(self.inner.query, Construct | Describe):
            raise PlanError("statements are made by CONSTRUCT or DESCRIBE")
        return self.inner.query


def iri_pattern(parts: tuple[str, ...], columns: tuple[str, ...]) -> Expression:
    """The IRI of a pattern: its parts with the percent-encoded values of columns between them."""
    encoded = [term_call("ENCODE_FOR_URI", term_call("STR", variable(name))) for name in columns]
    texts = [term_literal(Literal(part)) for part in parts]
    mixed = [one for pair in zip(texts, encoded) for one in pair] + texts[len(encoded) :]
    return term_call("IRI", term_call("CONCAT", *mixed))
