"""The evaluation tests of W3C on Spark: stored graphs as batches, several questions at a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.spark.classes import options
from transom.catalog.catalog import Catalog
from transom.catalog.rdf import Rdf, stored_graph
from transom.errors import Unsupported
from transom.languages.sparql.parse import parse
from transom.languages.sparql.translate import translate
from transom.model.time import Calendar
from transom.query import Query

from . import answers
from .evaluation import files, graph, shown
from .manifests import Entry

SETTINGS = {
    "spark.driver.extraJavaOptions": options("-XX:ReservedCodeCacheSize=256m"),
    "spark.driver.memory": "2g",
    "spark.sql.maxPlanStringLength": "2000",  # what Spark would tell of plans, and keep, is longer than they are
    "spark.sql.ui.retainedExecutions": "1",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",  # what is in one partition joins without a job of its own
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def session() -> Any:
    """A session for many small questions."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("transom conformance")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def ours(entry: Entry, spark: Any) -> answers.Expected:
    """Spark's answer to a test."""
    from transom.runtime.dataframe import dataframe
    from transom.runtime.options import RunOptions
    from transom.spark.input.statements import statement_dataframe

    syntax = parse(entry.text)
    graphs = files(entry, syntax)
    extents = {name: stored_graph(name, iri) for name, (iri, _) in graphs.items()}
    catalog = Catalog(Calendar(1000), rdf=Rdf(extents))
    plan = translate(syntax, catalog, entry.query.as_uri()).plan
    query = Query(entry.text, "sparql", catalog, syntax, plan)
    job = query.job(spark, RunOptions(kernel="off"), live=False)
    given = {
        extent.name: statement_dataframe(spark, graph(graphs[extent.name][1])).coalesce(1) for extent in query.sources
    }
    rows = job.results.plain(dataframe(job, spark, given, live=False)).collect()
    return answers.of(job.results.answer(rows))


def failure(entry: Entry, spark: Any) -> str | None:
    """Why a test does not pass, or None if it does."""
    if entry.result is None:
        return "it has no file with its answer"
    try:
        found = ours(entry, spark)
    except Unsupported as refusal:
        return f"refused: {refusal.operator}: {refusal.why}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:300] if str(error) else ''}"
    expected = answers.read(entry.result)
    if answers.same(found, expected, lax=entry.lax):
        return None
    return f"wants {shown(expected)}, got {shown(found)}"


def failures(tests: Sequence[Entry]) -> list[str | None]:
    """Of each test why it does not pass, three at a time."""
    spark = session()
    found: list[str | None] = []
    with ThreadPoolExecutor(int(os.environ.get("TRANSOM_TOGETHER", "3"))) as pool:
        for why in pool.map(lambda entry: failure(entry, spark), tests):
            found.append(why)
            print(f"\ron Spark: {len(found)} of {len(tests)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found
