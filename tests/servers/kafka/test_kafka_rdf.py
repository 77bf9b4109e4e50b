"""Messages of RDF in a topic of Kafka: live, as a replay and in plain Python the same, and the broken ones aside."""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest
from confluent_kafka import Producer

import transom
from tests.servers.counted import rejected
from tests.servers.start import make_topic
from transom.runtime.results.rdf import RdfResults, rdf_answer_from_intervals, rdf_answer_from_rows, rdf_difference
from transom.runtime.results.results import plain_frame
from transom.spark.input.rejected import RejectedRows

pytestmark = pytest.mark.spark

EX = "http://ex/"
CATALOG = """
epoch: 2024-06-01T00:00:00Z
prefixes: {{"": "http://ex/"}}
rdf:
  readings:
    stream: http://ex/readings
    format: {form}
    lateness: 1 min
    kafka: {{servers: '127.0.0.1:{port}', topic: {topic}, dead: dead}}
{more}
"""
QUERIES = {
    "join": "SELECT ?room ?temp FROM STREAM :readings WINDOW RANGE 10 S SLIDE "
    "WHERE { ?s :temp ?temp . ?s :in ?room FILTER (?temp > 20) }",
    "latest": "SELECT ?s ?temp FROM STREAM :readings WINDOW ELEMS 5 WHERE { ?s :temp ?temp }",
    "warm": "SELECT DISTINCT ?room FROM STREAM :readings WINDOW RANGE 6 S SLIDE 2 S "
    "WHERE { ?s :in ?room . ?s :temp ?temp FILTER (?temp > 26) }",
}
BROKEN = {b"\xff": "not UTF-8", b"<http://ex/a> <": "not RDF", None: "missing field"}
LAST = 90


def written(form: str, sensor: int, temp: int, tick: int) -> str:
    """One message in a format; TriG states its time, and in Turtle each is about another sensor."""
    if form == "nt":
        kind = "<http://www.w3.org/2001/XMLSchema#integer>"
        return f'<{EX}s{sensor}> <{EX}temp> "{temp}"^^{kind} .\n<{EX}s{sensor}> <{EX}in> <{EX}r{sensor % 2}> .\n'
    if form == "jsonld":
        context = {"@vocab": EX, "in": {"@type": "@id"}}
        return json.dumps({"@context": context, "@id": f"{EX}s{sensor}", "temp": temp, "in": f"{EX}r{sensor % 2}"})
    said = f"<s{sensor}> <temp> {temp} ; <in> <r{sensor % 2}> ."
    if form == "ttl":
        return f"@base <{EX}> . {said}"
    return f"@base <{EX}> . <g> {{ {said} }} <g> <at> {tick} ."


def publish(place: str, topic: str, form: str) -> None:
    rng = Random(7)
    sender = Producer({"bootstrap.servers": place, "enable.idempotence": True})
    for number in range(200):
        tick = number // 3 + rng.randrange(4)
        sensor = number if form == "ttl" else rng.randrange(4)
        text = written(form, sensor, rng.randrange(15, 30), tick)
        stamp = 1717200000000 + tick * 1000 + 250
        sender.produce(topic, text.encode(), partition=number % 2, timestamp=stamp)
    for number, value in enumerate(BROKEN):
        sender.produce(topic, value, partition=number % 2, timestamp=1717200000000)
    sender.flush(20)


@pytest.mark.parametrize(
    ("form", "more", "question"),
    [
        ("nt", "", "join"),
        ("ttl", "    subjects: local", "join"),
        pytest.param("jsonld", "", "latest", marks=pytest.mark.nightly),
        pytest.param("trig", "    time: http://ex/at", "warm", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.covers("source:rdf messages")
def test_statements_of_a_topic(kafka, spark, tmp_path, form, more, question):
    place = f"127.0.0.1:{kafka}"
    make_topic(place, f"rdf-{form}")
    publish(place, f"rdf-{form}", form)
    text = CATALOG.format(form=form, port=kafka, topic=f"rdf-{form}", more=more)
    query = transom.compile(QUERIES[question], transom.Catalog.read(text, folder=tmp_path), language="sparql")
    whole = query.simulate()
    assert len(whole.solutions) > 5
    assert Counter(one.reason.value for one in whole.rejected["readings"]) == Counter(BROKEN.values())

    rejects = RejectedRows()
    replayed = rdf_answer_from_intervals(
        query.replay(spark, rejected=rejects).collect(), query.result_kind, query.columns
    )
    assert rdf_difference(whole, replayed) is None
    found = rejects.messages()["readings"]
    assert found.counts == Counter(BROKEN.values())
    first: dict[str, str] = {}
    for one in whole.rejected["readings"]:
        first.setdefault(one.reason.value, f"{one.origin}: {one.detail}")
    assert list(found.first.items()) == list(first.items())
    rejects.release()

    sink = tmp_path / "out"
    running = query.start(spark, f"parquet:{sink}", tmp_path / "state", until=LAST, once=True)
    running.wait()
    schema, calendar = query.physical(kernel=True).schema, query.catalog.calendar
    told = plain_frame(spark.read.parquet(str(sink)), schema, calendar, RdfResults.meta_columns).collect()
    live = rdf_answer_from_rows(told, query.physical(kernel=True), query.result_kind, query.columns)
    assert rdf_difference(whole.up_to(LAST), live) is None
    assert rejected(running) == {f"readings: {k}": v for k, v in Counter(BROKEN.values()).items()}
    letters = spark.read.parquet(str(tmp_path / "dead"))
    assert letters.columns == [
        "source",
        "topic",
        "partition",
        "offset",
        "timestamp",
        "key",
        "value",
        "reason",
        "headers",
    ]
    kept = [(row["source"], row["topic"], row["partition"], row["value"], row["reason"]) for row in letters.collect()]
    wanted = [("readings", f"rdf-{form}", n % 2, value, why) for n, (value, why) in enumerate(BROKEN.items())]
    assert sorted(kept, key=str) == sorted(wanted, key=str)
