"""Between rows and RDF on Spark: terms as values of typed columns, and values as terms in canonical spelling."""

from __future__ import annotations

from typing import assert_never

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.errors import PlanError
from transom.model.rdf.terms import DATE_TIME, DECIMAL, INTEGER
from transom.model.rdf.values import Kind
from transom.model.reasons import Reason
from transom.model.types import Type
from transom.physical.bridges import TermRows, TypedRows
from transom.spark import term_figures, term_spelling
from transom.spark.balance import Metric, Place
from transom.spark.frames import LoweringContext, carried
from transom.spark.sql import F as S
from transom.spark.sql import Inputs, Sql
from transom.spark.term_spelling import ending
from transom.spark.term_values import Class, packed
from transom.spark.types import read_text

_DAY = 86_400_000_000


def typed_rows(node: TypedRows, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Rows of values; a live run counts those that are rejected, and those that are used."""
    texts = [_characters(f"c{place}").alias(f"t{place}") for place in range(len(node.schema))]
    rows = frame.select(*carried(frame), *texts)
    fits, cells = F.lit(True), []
    for place, attribute in enumerate(node.schema):
        text = F.col(f"t{place}")
        value = read_text(text, attribute.type)
        fits = fits & (text.isNull() | _says_nothing(text, attribute.type) | value.isNotNull())
        cells.append(value.alias(f"c{place}"))
    made = rows.select(*carried(rows), *cells, fits.alias("fits"))
    if not run.live:
        return made.where("fits").drop("fits")
    reader = run.counts.reader()
    rejected = F.count_if(~F.col("fits")).alias(Reason.TYPE.name)
    read = F.count(F.lit(1)).alias("read")
    counted = run.counts.observe(made, Metric(node.extent, Place.DECODED, reader), read, rejected)
    used = F.count(F.lit(1)).alias("used")
    return run.counts.observe(counted.where("fits").drop("fits"), Metric(node.extent, Place.ENTRY, reader), used)


def _characters(name: str) -> Column:
    """The characters of a literal or an IRI; a blank node as it is spelled."""
    inputs = Inputs()
    term = inputs.name(F.col(name))
    literal = term_spelling.lexical(term, term_spelling.end(term))
    text = (
        S.when(term_spelling.is_literal(term), literal)
        .when(term_spelling.is_name(term), term_spelling.name_of(term))
        .otherwise(term)
    )
    return inputs.column(text)


def _says_nothing(text: Column, kind: Type) -> Column:
    """Whether a text is NULL as a value of its type: NaN, and a float without a finite value, are."""
    if kind not in (Type.FLOAT, Type.DECIMAL):
        return F.lit(False)
    return F.lower(F.btrim(text, F.lit(" \t\r\n"))) == F.lit("nan")


def term_rows(node: TermRows, frame: DataFrame) -> DataFrame:
    """The values of rows as terms."""
    kinds = [attribute.type for attribute in node.input.schema]
    cells = [_term(f"c{place}", kind).alias(f"c{place}") for place, kind in enumerate(kinds)]
    return frame.select(*carried(frame), *cells)


def _term(name: str, kind: Type) -> Column:
    """The term of a value; NULL is unbound."""
    inputs = Inputs()
    value = inputs.name(F.col(name))
    return inputs.column(S.when(value.isNotNull(), _spelled(value, kind)))


def _spelled(value: Sql, kind: Type) -> Sql:
    match kind:
        case Type.INTEGER | Type.TIME:
            return term_spelling.literal(value.cast("string"), ending(INTEGER), escape=False)
        case Type.FLOAT:
            return term_figures.number_term(packed(Class.NUMBER, k=int(Kind.DOUBLE), f=value))
        case Type.DECIMAL:
            # try_cast alone writes 0.0000001 without an exponent in every mode
            figures = S.regexp_replace(value.try_cast("string"), S.lit(r"\.?0+\z"), S.lit(""))
            return term_spelling.literal(figures, ending(DECIMAL), escape=False)
        case Type.STRING:
            return term_spelling.literal(value)
        case Type.BOOLEAN:
            return term_spelling.said(value)
        case Type.TIMESTAMP:
            return term_spelling.literal(_instant(value), ending(DATE_TIME), escape=False)
        case Type.TERM:
            return value
        case Type.POINT | Type.LINE | Type.NULL:
            raise PlanError(f"a {kind} is no term")
        case _:
            assert_never(kind)


def _instant(value: Sql) -> Sql:
    """An instant in ISO 8601 and UTC, whatever the time zone of the session."""
    micros = S.unix_micros(value)
    of_day = S.pmod(micros, S.lit(_DAY))
    days = S.div(micros - of_day, S.lit(_DAY))
    seconds = S.div(of_day, S.lit(1_000_000))
    rest = S.pmod(of_day, S.lit(1_000_000))
    clock = [S.div(seconds, S.lit(3600)), S.pmod(S.div(seconds, S.lit(60)), S.lit(60)), S.pmod(seconds, S.lit(60))]
    hour, minute, second = (S.lpad(part.cast("string"), 2, "0") for part in clock)
    fraction = S.when(rest == 0, S.lit("")).otherwise(S.concat(S.lit("."), S.lpad(rest.cast("string"), 6, "0")))
    date = S.date_from_unix_date(days.cast("int")).cast("string")
    return S.concat(date, S.lit("T"), hour, S.lit(":"), minute, S.lit(":"), second, fraction, S.lit("Z"))
