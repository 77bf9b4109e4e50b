"""Local times of a time zone on Spark, by the same table as in plain Python.

Spark's session time zone and the JVM's own rules of time zones are not used.
"""

from __future__ import annotations

from bisect import bisect_right

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.model.local_times import BEGIN, END, ClockProblem, LocalSpan, LocalTimes
from transom.model.periods import DAY_LENGTH
from transom.model.types import Type
from transom.spark.expressions.types import let, read_common_instant, read_text, timestamp_from_micros

_BLOCK = 400 * DAY_LENGTH
"""The length of a block of the table: a row is looked up among the few spans of its block."""
_HAS_OFFSET = r"\A[^0-9]*[0-9-]+[Tt ][0-9:.,]+(Z|[+-])"


def zoned_instant(text: Column, times: LocalTimes) -> Column:
    """Parse text (local if without UTC offset) to a struct: `instant`, or NULL, and `problem` of a local time.

    Its fields are the `instant`, NULL if there is not exactly one, and the `problem` in words of a local time that
    denotes none, else NULL.
    """
    parsed = F.coalesce(read_common_instant(text), read_text(text, Type.TIMESTAMP))
    has_offset = F.rlike(text, F.lit(_HAS_OFFSET))
    return let([parsed, has_offset], lambda instant, is_exact: _zoned(instant, is_exact, times))


def _zoned(parsed: Column, has_offset: Column, times: LocalTimes) -> Column:
    """Return a struct (`instant`, `problem` as text or NULL) for a parsed time, local unless `has_offset`."""
    micros = F.unix_micros(parsed)
    unknown = F.lit(ClockProblem.UNKNOWN.text(times.zone))
    block = F.get(F.expr(_blocks_as_sql(times)), F.call_function("div", micros, F.lit(_BLOCK)).cast("int"))
    inside = (micros >= F.lit(BEGIN)) & (micros < F.lit(END))
    span = F.when(inside, F.try_element_at(F.filter(block, lambda item: item["start"] <= micros), F.lit(-1)))
    local = let(
        [span],
        lambda match: F.struct(
            timestamp_from_micros(micros - match["offset"]).alias("instant"),
            F.when(match.isNull(), unknown).otherwise(match["problem"]).alias("problem"),
        ),
    )
    absolute = F.struct(parsed.alias("instant"), F.lit(None).cast("string").alias("problem"))
    return F.when(parsed.isNull() | has_offset, absolute).otherwise(local)


def _blocks_as_sql(times: LocalTimes) -> str:
    """Write a time zone's spans (start, UTC offset, problem) as a SQL array with an array per 400 days.

    A block has the spans that begin in it, and before them the one that is valid at its beginning.
    """
    spans = times.spans
    blocks = []
    for begin in range(BEGIN, END, _BLOCK):
        first = bisect_right(spans, begin, key=lambda span: span.start) - 1
        last = bisect_right(spans, begin + _BLOCK - 1, key=lambda span: span.start)
        blocks.append(f"array({', '.join(_span_as_sql(span, times.zone) for span in spans[first:last])})")
    return f"array({', '.join(blocks)})"


def _span_as_sql(span: LocalSpan, zone: str) -> str:
    """Write a span of local times as a SQL struct: its start, and its UTC offset or why there is none."""
    offset = "CAST(NULL AS BIGINT)" if span.offset is None else f"{span.offset}L"
    problem = "CAST(NULL AS STRING)" if span.problem is None else f"'{span.problem.text(zone)}'"
    return f"named_struct('start', {span.start}L, 'offset', {offset}, 'problem', {problem})"
