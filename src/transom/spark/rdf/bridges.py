"""Conversions between RDF terms and typed values on Spark; terms are in canonical spelling."""

from __future__ import annotations

from typing import assert_never

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.errors import PlanError
from transom.model.rdf.terms import DATE_TIME, DECIMAL, INTEGER
from transom.model.rdf.values import NumericKind
from transom.model.reject_reason import RejectReason
from transom.model.types import Type
from transom.physical.nodes.bridges import TermsToValues, ValuesToTerms
from transom.spark.expressions.sql import F as S
from transom.spark.expressions.sql import Sql, SqlInputs
from transom.spark.expressions.types import read_text
from transom.spark.frames import LoweringContext, carried_columns
from transom.spark.input.balance import CountingPoint, Metric
from transom.spark.rdf.terms import numerals, spelling
from transom.spark.rdf.terms.spelling import datatype_suffix
from transom.spark.rdf.terms.values import ValueClass, value_struct

_DAY = 86_400_000_000


def terms_to_values(node: TermsToValues, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Convert columns of RDF terms to typed values; drop rows that do not fit and, in a live run, count them."""
    texts = [_lexical_text(f"c{n}").alias(f"t{n}") for n in range(len(node.schema))]
    rows = frame.select(*carried_columns(frame), *texts)
    fits, cells = F.lit(True), []
    for n, attribute in enumerate(node.schema):
        text = F.col(f"t{n}")
        value = read_text(text, attribute.type)
        fits = fits & (text.isNull() | _is_null_text(text, attribute.type) | value.isNotNull())
        cells.append(value.alias(f"c{n}"))
    converted = rows.select(*carried_columns(rows), *cells, fits.alias("fits"))
    if not run.live:
        return converted.where("fits").drop("fits")
    reader = run.counts.reader()
    rejected = F.count_if(~F.col("fits")).alias(RejectReason.TYPE.name)
    read = F.count(F.lit(1)).alias("read")
    counted = run.counts.observe(converted, Metric(node.extent, CountingPoint.DECODED, reader), read, rejected)
    used = F.count(F.lit(1)).alias("used")
    return run.counts.observe(
        counted.where("fits").drop("fits"), Metric(node.extent, CountingPoint.ENTRY, reader), used
    )


def _lexical_text(name: str) -> Column:
    """The text of the term in a column: a literal's characters, an IRI, or the N-Triples text of a blank node."""
    inputs = SqlInputs()
    term = inputs.name(F.col(name))
    literal = spelling.lexical(term, spelling.literal_suffix(term))
    text = (
        S.when(spelling.is_literal(term), literal).when(spelling.is_iri(term), spelling.iri_text(term)).otherwise(term)
    )
    return inputs.column(text)


def _is_null_text(text: Column, kind: Type) -> Column:
    """Whether a string means NULL when it is read as type `kind`, as NaN does for floats and decimals."""
    if kind not in (Type.FLOAT, Type.DECIMAL):
        return F.lit(False)
    return F.lower(F.btrim(text, F.lit(" \t\r\n"))) == F.lit("nan")


def values_to_terms(node: ValuesToTerms, frame: DataFrame) -> DataFrame:
    """Convert the typed value columns of rows to RDF terms as N-Triples text."""
    kinds = [attribute.type for attribute in node.input.schema]
    cells = [_term_column(f"c{n}", kind).alias(f"c{n}") for n, kind in enumerate(kinds)]
    return frame.select(*carried_columns(frame), *cells)


def _term_column(name: str, kind: Type) -> Column:
    """Convert the typed value in a column to an RDF term as N-Triples text; NULL (unbound) stays NULL."""
    inputs = SqlInputs()
    value = inputs.name(F.col(name))
    return inputs.column(S.when(value.isNotNull(), _term_text(value, kind)))


def _term_text(value: Sql, kind: Type) -> Sql:
    """Write the N-Triples text of the RDF term for a value of type `kind`; raise PlanError for points and lines."""
    match kind:
        case Type.INTEGER | Type.TIME:
            return spelling.literal_term(value.cast("string"), datatype_suffix(INTEGER), needs_escape=False)
        case Type.FLOAT:
            return numerals.number_term(
                value_struct(ValueClass.NUMBER, kind=int(NumericKind.DOUBLE), float_number=value)
            )
        case Type.DECIMAL:
            # unlike cast, try_cast writes 0.0000001 without an exponent in every mode
            figures = S.regexp_replace(value.try_cast("string"), S.lit(r"\.?0+\z"), S.lit(""))
            return spelling.literal_term(figures, datatype_suffix(DECIMAL), needs_escape=False)
        case Type.STRING:
            return spelling.literal_term(value)
        case Type.BOOLEAN:
            return spelling.boolean_term(value)
        case Type.TIMESTAMP:
            return spelling.literal_term(_instant_text(value), datatype_suffix(DATE_TIME), needs_escape=False)
        case Type.TERM:
            return value
        case Type.POINT | Type.LINE | Type.NULL:
            raise PlanError(f"a {kind} is no term")
        case _:
            assert_never(kind)


def _instant_text(value: Sql) -> Sql:
    """Format a timestamp as ISO 8601 in UTC, independent of the session's time zone."""
    micros = S.unix_micros(value)
    micros_of_day = S.pmod(micros, S.lit(_DAY))
    days = S.div(micros - micros_of_day, S.lit(_DAY))
    seconds = S.div(micros_of_day, S.lit(1_000_000))
    micros_of_second = S.pmod(micros_of_day, S.lit(1_000_000))
    clock = [S.div(seconds, S.lit(3600)), S.pmod(S.div(seconds, S.lit(60)), S.lit(60)), S.pmod(seconds, S.lit(60))]
    hour, minute, second = (S.lpad(part.cast("string"), 2, "0") for part in clock)
    fraction = S.when(micros_of_second == 0, S.lit("")).otherwise(
        S.concat(S.lit("."), S.lpad(micros_of_second.cast("string"), 6, "0"))
    )
    date = S.date_from_unix_date(days.cast("int")).cast("string")
    return S.concat(date, S.lit("T"), hour, S.lit(":"), minute, S.lit(":"), second, fraction, S.lit("Z"))
