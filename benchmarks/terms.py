"""What a term of RDF costs on Spark in three encodings: a join on a subject, and a filter on a number.

    python -m benchmarks.terms [--rows 2000000] [--times 3]

`text` is the canonical spelling in one column, as Transom has it; `struct` has kind, characters, datatype and language
in four fields; `hash` has 64 bits of a hash, with the spelling in a table beside it that a filter has to join. The
filter is `?v > 50` with all that SPARQL asks for; of the hash it runs on the table of terms, and its rows are joined.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.measure import Contestant, compare, figures, options, say, session
from transom.algebra.rdf.expressions import Call, Constant, Variable
from transom.model.rdf.terms import INTEGER, IRI, Literal
from transom.spark.terms import truth

_MORE = Call(">", (Variable("v"), Constant(Literal("50", INTEGER))))
_VALUES = 100


def _subject(number: Column) -> Column:
    return F.concat(F.lit("<http://example.org/station/"), number.cast("string"), F.lit(">"))


def write(spark: SparkSession, rows: int, place: Path) -> dict[str, DataFrame]:
    """The same statements in every encoding: a subject, and a whole number below 100."""
    subjects = max(rows // 10, 1)
    number = F.pmod(F.xxhash64("id"), F.lit(_VALUES)).cast("string")
    plain = spark.range(rows).select(
        _subject(F.pmod(F.col("id"), F.lit(subjects))).alias("s"),
        F.concat(F.lit('"'), number, F.lit(f'"^^{IRI(INTEGER)}')).alias("v"),
    )
    name = F.struct(F.lit(0).alias("k"), F.col("s").alias("c"), F.lit("").alias("d"), F.lit("").alias("l"))
    figures_of = F.substring_index(F.substring_index("v", '"', 2), '"', -1)
    value = F.struct(F.lit(1).alias("k"), figures_of.alias("c"), F.lit(INTEGER).alias("d"), F.lit("").alias("l"))
    frames = {
        "text": plain,
        "struct": plain.select(name.alias("s"), value.alias("v")),
        "hash": plain.select(F.xxhash64("s").alias("s"), F.xxhash64("v").alias("v")),
        "terms": plain.select(F.col("v").alias("term")).distinct().select(F.xxhash64("term").alias("v"), "term"),
    }
    for own, frame in frames.items():
        frame.write.parquet(str(place / own))
    return {own: spark.read.parquet(str(place / own)) for own in frames}


def _timed(frame: Callable[[], DataFrame]) -> Contestant:
    def run() -> float:
        begun = time.perf_counter()
        frame().write.format("noop").mode("overwrite").save()
        return time.perf_counter() - begun

    return run


def _joined(frame: DataFrame) -> DataFrame:
    """Two statements about one subject, of which one is among few."""
    few = frame.groupBy("s").agg(F.max("v").alias("w"))
    return frame.join(few.hint("shuffle_hash"), "s")


def _of_struct(frame: DataFrame) -> DataFrame:
    """The filter by hand on the fields: numbers of one datatype only, which is less than SPARQL asks for."""
    whole = F.when(F.col("v.d") == INTEGER, F.col("v.c").try_cast("decimal(38,0)"))
    return frame.where(whole > 50)


def main() -> None:
    """Measure and print."""
    given = options(__doc__, 2_000_000).parse_args()
    spark = session()
    with tempfile.TemporaryDirectory() as place:
        frames = write(spark, given.rows, Path(place))
        text, struct, hashed, terms = (frames[name] for name in ("text", "struct", "hash", "terms"))
        kept = terms.where(truth(_MORE, {"v": F.col("term")}))
        tasks: dict[str, dict[str, Callable[[], DataFrame]]] = {
            "join": {
                "text": lambda: _joined(text),
                "struct": lambda: _joined(struct),
                "hash": lambda: _joined(hashed),
            },
            "filter": {
                "text": lambda: text.where(truth(_MORE, {"v": F.col("v")})),
                "struct": lambda: _of_struct(struct),
                "hash": lambda: hashed.join(kept, "v"),
            },
        }
        for task, plans in tasks.items():
            answers = {plan().count() for plan in plans.values()}
            if len(answers) != 1:
                raise SystemExit(f"the encodings do not agree on the {task}: {answers}")
            results = compare({name: _timed(plan) for name, plan in plans.items()}, given.times)
            say({"bench": "terms", "task": task, **figures(results, given.rows), "rows": given.rows}, given.results)


if __name__ == "__main__":
    main()
