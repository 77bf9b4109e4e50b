"""Users may call attributes and variables what they like: names of ours are not among them."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from transom import Catalog
from transom.runtime.results.rdf import rdf_answer_from_intervals, rdf_difference
from transom.runtime.sinks.delivery import to_messages
from transom.runtime.verify.harness import replay_answer, stream_answer
from transom.runtime.verify.micro_batches import Split

LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
WORDS = ["tick", "seq", "empty", "index", "position", "place", "file", "row", "change", "start", "end", "beat", "dead"]
WORDS += [
    "many",
    "gone",
    "line",
    "bad",
    "statements",
    "value",
    "key",
    "one",
    "rows",
    "ask",
    "c0",
    "c1",
    "v0",
    "_unreadable",
]
TEXT = "SELECT {names} FROM STREAM <http://ex/s> WINDOW RANGE 10 SLIDE WHERE {{ ?the_subject :a ?the_value }}"
STATEMENTS = [(tick, "<http://ex/x>", "<http://ex/a>", f'"{tick}"') for tick in (1, 5)]


@pytest.mark.nightly
@pytest.mark.parametrize("capitals", [False, True])
def test_variables(spark: Any, capitals: bool) -> None:
    """Every letter and every word of ours as a variable, in a replay and in a stream."""
    names = [name.upper() if capitals else name for name in LETTERS + WORDS]
    catalog = Catalog.from_dict(
        {"tick": "1 ms", "prefixes": {"": "http://ex/"}, "rdf": {"s": {"stream": "http://ex/s"}}}
    )
    text = TEXT.format(names=" ".join(f"(?the_value AS ?{name})" for name in names))
    query = transom.compile(text, catalog, language="sparql")
    expected = query.simulate({"s": STATEMENTS})
    frame = spark.createDataFrame(STATEMENTS, "tick long, s string, p string, o string")
    replayed = rdf_answer_from_intervals(query.replay(spark, {"s": frame}).collect(), query.result_kind, query.columns)
    assert rdf_difference(expected, replayed) is None
    inputs = query.inputs({"s": STATEMENTS})
    assert rdf_difference(expected, stream_answer(query, spark, inputs, Split(1), 20)) is None


def test_attributes(spark: Any) -> None:
    """Every word of ours as an attribute of a stream and of a table."""
    names = LETTERS + WORDS
    columns = ", ".join(f"{name}:integer" for name in names)
    catalog = Catalog.from_dict(
        {"extents": {"events": {"declare": f"pushed ({columns})"}, "tables": {"declare": f"stored ({columns})"}}}
    )
    both = [f'{source}."{name}"' for source in ("events", "tables") for name in names]
    text = f"SELECT {', '.join(both)} FROM events [FROM NOW-2 TO NOW SLIDE 1 SEC], tables WHERE events.a = tables.a"
    query = transom.compile(text, catalog)
    rows = [(tick, *(tick + place for place in range(len(names)))) for tick in range(3)]
    inputs = query.inputs({"events": rows, "tables": [row[1:] for row in rows]}, 3)
    expected = query.simulate({"events": rows, "tables": [row[1:] for row in rows]}, until=3)
    assert stream_answer(query, spark, inputs, Split(2)) == expected
    assert replay_answer(query, spark, inputs) == expected


def test_columns_of_messages(spark: Any) -> None:
    """MQTT adds `_id` to the JSON of a row: a column of that name gets an underscore more."""
    frame = spark.sql("SELECT timestamp'2026-01-01 00:00:00Z' AS tick, 7 AS _id, 8 AS `a``b`")
    (row,) = to_messages(frame, "run", 0, ("_id",)).collect()
    assert json.loads(row["value"]) == {"tick": "2026-01-01T00:00:00.000Z", "_id_": 7, "a`b": 8}
    (row,) = to_messages(frame, "run", 0).collect()
    assert json.loads(row["value"])["_id"] == 7
