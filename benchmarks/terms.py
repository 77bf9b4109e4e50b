"""Cost of RDF terms on Spark in three encodings: a join on a subject, a filter on a number, and both together.

    python -m benchmarks.terms [--rows 2000000] [--times 3]

`text` is the canonical spelling in one column, as in Transom. `struct` has kind, characters, datatype and language in
four fields. `hash` is a 64-bit hash, with the spelling in a separate table of terms that a filter has to join.

The filter is `?v > 50`. On `text` it has the full semantics of SPARQL. On `struct` it handles numbers of one datatype
only, which is less. On `hash` it filters the table of terms and joins the result. The task `answer` is join and filter,
with terms spelled out. The table of terms is complete beforehand; the cost of maintaining it is not measured.

All runs are Spark batch queries. One line of JSON per task; answers are compared first.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.measure import Contestant, compare, figures, options, say, session
from transom.algebra.expressions.terms import term_call, term_literal, variable
from transom.model.rdf.terms import INTEGER, IRI, Literal
from transom.spark.rdf.expressions import lower_to_column

_MORE = term_call(">", variable("v"), term_literal(Literal("50", INTEGER)))
_VALUES, _PLACES, _EACH = 100, 1000, 10
"""The number of distinct numbers and of places, and the number of statements per subject."""


def _name(kind: str, number: Column) -> Column:
    return F.concat(F.lit(f"<http://example.org/{kind}/"), number.cast("string"), F.lit(">"))


def _fields(term: Column) -> Column:
    """The `struct` encoding of an IRI or integer in text form."""
    named = F.startswith(term, F.lit("<"))
    inside = F.when(named, F.substring_index(F.substring_index(term, ">", 1), "<", -1))
    return F.struct(
        F.when(named, 0).otherwise(1).alias("k"),
        inside.otherwise(F.substring_index(F.substring_index(term, '"', 2), '"', -1)).alias("c"),
        F.when(named, "").otherwise(INTEGER).alias("d"),
        F.lit("").alias("l"),
    )


def _spelled(fields: Column) -> Column:
    """The text form of a term in `struct` encoding."""
    literal = F.concat(F.lit('"'), fields["c"], F.lit('"^^<'), fields["d"], F.lit(">"))
    return F.when(fields["k"] == 0, F.concat(F.lit("<"), fields["c"], F.lit(">"))).otherwise(literal)


def _same(term: Column) -> Column:
    return term


ENCODINGS: dict[str, Callable[[Column], Column]] = {"text": _same, "struct": _fields, "hash": F.xxhash64}
CODES: dict[str, Callable[[Column], Column]] = {
    "text": F.xxhash64,
    "struct": lambda fields: F.xxhash64(_spelled(fields)),
    "hash": _same,
}
"""A 64-bit hash for the terms of each encoding; equal terms have equal hashes in all of them."""


@dataclass(frozen=True)
class Encoded:
    """The statements in one encoding: `many` pairs of subject and number, `few` pairs of subject and place."""

    many: DataFrame
    few: DataFrame


def write(spark: SparkSession, rows: int, place: Path) -> tuple[dict[str, Encoded], DataFrame]:
    """Write and read back the statements in every encoding, and the table of all terms."""
    subjects = max(rows // _EACH, 1)
    subject = _name("station", F.pmod(F.col("id"), F.lit(subjects)))
    drawn = F.pmod(F.xxhash64("id"), F.lit(_VALUES)).cast("string")
    value = F.concat(F.lit('"'), drawn, F.lit(f'"^^{IRI(INTEGER)}'))
    many = spark.range(rows).select(subject.alias("s"), value.alias("v"))
    few = spark.range(subjects).select(subject.alias("s"), _name("place", F.col("id") % _PLACES).alias("w"))
    found = {}
    for own, encode in ENCODINGS.items():
        parts = {"many": many, "few": few}
        for kind, frame in parts.items():
            columns = [encode(F.col(name)).alias(name) for name in frame.columns]
            frame.select(*columns).write.parquet(str(place / own / kind))
        found[own] = Encoded(*(spark.read.parquet(str(place / own / kind)) for kind in parts))
    terms = few.select("s").union(few.select("w")).union(many.select("v")).toDF("term").distinct()
    terms.select(F.xxhash64("term").alias("code"), "term").write.parquet(str(place / "terms"))
    return found, spark.read.parquet(str(place / "terms"))


def join(of: Encoded) -> DataFrame:
    """Join two statements about the same subject."""
    return of.many.join(of.few.hint("shuffle_hash"), "s")


def of_text(frame: DataFrame) -> DataFrame:
    """The filter on `text`, as Transom lowers it."""
    return frame.where(lower_to_column(_MORE, {"v": F.col("v")}))


def of_struct(frame: DataFrame) -> DataFrame:
    """The filter on `struct` by hand, for numbers of one datatype only, which is less than SPARQL requires."""
    whole = F.when(F.col("v.d") == INTEGER, F.col("v.c").try_cast("decimal(38,0)"))
    return frame.where(whole > 50)


def of_hash(frame: DataFrame, terms: DataFrame) -> DataFrame:
    """The filter on `hash`: filter the table of terms, then semi-join the rows with it."""
    kept = terms.where(lower_to_column(_MORE, {"v": F.col("term")})).select(F.col("code").alias("v"))
    return frame.join(F.broadcast(kept), "v", "left_semi")


def spelled(frame: DataFrame, terms: DataFrame) -> DataFrame:
    """Replace hashes by their terms, with one join per column."""
    for name in ("s", "v", "w"):
        table = terms.select(F.col("code").alias(name), F.col("term").alias(f"{name}_term"))
        frame = frame.join(table.hint("shuffle_hash"), name).drop(name).withColumnRenamed(f"{name}_term", name)
    return frame


def tasks(encoded: dict[str, Encoded], terms: DataFrame) -> dict[str, dict[str, Callable[[], DataFrame]]]:
    """The plans of each task by encoding."""
    text, struct, hashed = (encoded[own] for own in ENCODINGS)
    every = ("s", "v", "w")
    return {
        "join": {"text": lambda: join(text), "struct": lambda: join(struct), "hash": lambda: join(hashed)},
        "filter": {
            "text": lambda: of_text(text.many),
            "struct": lambda: of_struct(struct.many),
            "hash": lambda: of_hash(hashed.many, terms),
        },
        "answer": {
            "text": lambda: of_text(join(text)),
            "struct": lambda: of_struct(join(struct)).select(*(_spelled(F.col(n)).alias(n) for n in every)),
            "hash": lambda: spelled(of_hash(join(hashed), terms), terms),
        },
    }


def digest(frame: DataFrame, code: Callable[[Column], Column], columns: Sequence[str]) -> tuple[Any, ...]:
    """The number of rows, and a digest of them that ignores their order."""
    whole = F.xxhash64(*(code(F.col(name)) for name in columns)).cast("decimal(38,0)")
    return tuple(frame.agg(F.count("*"), F.sum(whole)).first() or ())


def checked(task: str, plans: dict[str, Callable[[], DataFrame]]) -> int:
    """The number of rows of the common answer; SystemExit if the encodings disagree or the answer is empty."""
    columns = ("s", "v") if task == "filter" else ("s", "v", "w")
    codes = dict.fromkeys(plans, CODES["text"]) if task == "answer" else CODES
    answers = {own: digest(plan(), codes[own], columns) for own, plan in plans.items()}
    if len(set(answers.values())) != 1 or not answers["text"][0]:
        raise SystemExit(f"the encodings do not agree on the {task}: {answers}")
    return int(answers["text"][0])


def timed(frame: Callable[[], DataFrame]) -> Contestant:
    """A contestant that runs a batch query."""

    def run() -> float:
        begun = time.perf_counter()
        frame().write.format("noop").mode("overwrite").save()
        return time.perf_counter() - begun

    return run


def main() -> None:
    """Measure and print."""
    given = options(__doc__, 2_000_000).parse_args()
    spark = session()
    with tempfile.TemporaryDirectory() as place:
        for task, plans in tasks(*write(spark, given.rows, Path(place))).items():
            answers = checked(task, plans)
            results = compare({own: timed(plan) for own, plan in plans.items()}, given.times)
            entry = {"bench": "terms", "task": task, **figures(results, given.rows)}
            say({**entry, "rows": given.rows, "answers": answers}, given.results)


if __name__ == "__main__":
    main()
