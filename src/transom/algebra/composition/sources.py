"""Sources that are answers of other queries: solutions as rows, rows as statements, constructed statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from transom.algebra.composition.composed_source import ComposedSource, InnerQuery
from transom.algebra.expressions.expression import Expression
from transom.algebra.expressions.terms import term_call, term_literal, variable
from transom.algebra.operator import Stream, Windows
from transom.algebra.rdf.forms import Construct, Describe
from transom.algebra.sources import StreamReceive
from transom.errors import PlanError
from transom.model.rdf.terms import Literal

SUBJECT = variable("_subject")
"""The variable that holds the subject of a row; no column has this name."""


@dataclass(frozen=True, slots=True)
class SolutionStream(StreamReceive, ComposedSource):
    """The solutions of an inner RDF query as rows of typed columns.

    Meaning  one row per solution that becomes valid: at tick t, the bag difference of the solutions at t and those at
             t - 1.
    Bounds   a term becomes a value of the declared type of its column, an unbound variable NULL; a row with a term
             that cannot be converted is rejected.
    Source   ours.
    State    that of the inner query.
    """

    inner: InnerQuery = field()

    @property
    def inner_query(self) -> Windows:
        """The inner RDF query whose solutions become rows; raises PlanError if it produces no solutions."""
        if not isinstance(self.inner.query, Windows):
            raise PlanError("the inner query of a stream of rows must produce solutions")
        return self.inner.query


@dataclass(frozen=True, slots=True)
class RowStatements(StreamReceive, ComposedSource):
    """The rows of a stream as statements: one subject per row, one predicate per column.

    Meaning  each row gives, at its tick, the statements (subject, predicate, value), in the order of the predicates.
    Bounds   a NULL gives no statement, and a row without a subject gives none.
    Source   ours; after the templates of R2RML.
    State    that of the stream.
    """

    inner: InnerQuery = field()
    subject: Expression = field()
    predicates: tuple[tuple[str, str], ...] = field()
    """Columns and the IRIs of their predicates."""

    @property
    def rows(self) -> Stream:
        """The inner stream whose rows become RDF statements; raises PlanError if the inner query produces no stream."""
        if not isinstance(self.inner.query, Stream):
            raise PlanError("statements are made of a stream of rows")
        return self.inner.query


@dataclass(frozen=True, slots=True)
class ConstructedStream(StreamReceive, ComposedSource):
    """The statements of an inner CONSTRUCT or DESCRIBE query as a stream.

    Meaning  one element per statement that becomes valid, as for SolutionStream.
    Bounds   none.
    Source   ours.
    State    that of the inner query.
    """

    inner: InnerQuery = field()

    @property
    def inner_query(self) -> Construct | Describe:
        """The inner query whose statements are read; raises PlanError if it is not a CONSTRUCT or DESCRIBE."""
        if not isinstance(self.inner.query, Construct | Describe):
            raise PlanError("statements are made by CONSTRUCT or DESCRIBE")
        return self.inner.query


def iri_pattern(parts: tuple[str, ...], columns: tuple[str, ...]) -> Expression:
    """Build an expression for an IRI: parts[0], then the encoded value of columns[0], then parts[1], and so on.

    The result is `parts[0]`, the encoded value of `columns[0]`, `parts[1]`, and so on.
    """
    encoded = [term_call("ENCODE_FOR_URI", term_call("STR", variable(name))) for name in columns]
    texts = [term_literal(Literal(part)) for part in parts]
    mixed = [item for pair in zip(texts, encoded) for item in pair] + texts[len(encoded) :]
    return term_call("IRI", term_call("CONCAT", *mixed))
