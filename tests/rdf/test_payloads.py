"""Messages of RDF: all formats say the same, times are found where they stand, what is broken is set aside."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.catalog.rdf import rdf_stream
from transom.catalog.servers import Kafka, Payload
from transom.connectors import open_stream
from transom.connectors.kafka.read import message_location, statements_of_message
from transom.connectors.payloads import RejectError
from transom.connectors.rdf.payloads import COLUMNS, RdfReader, decode_batches, rejected_message
from transom.errors import CatalogError, DataError
from transom.model.rdf.answer import RejectedMessage
from transom.model.rdf.read import FORMATS
from transom.model.rdf.terms import IRI, BlankNode, Triple, integer
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar

A, P, G = IRI("http://ex/a"), IRI("http://ex/p"), IRI("http://ex/g")
MESSAGES = {
    "nt": '<http://ex/a> <http://ex/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    "nq": '<http://ex/a> <http://ex/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> <http://ex/g> .',
    "ttl": "@prefix : <http://ex/> . :a :p 1 .",
    "trig": "@prefix : <http://ex/> . :g { :a :p 1 }",
    "rdf": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://ex/"><rdf:Description'
    ' rdf:about="http://ex/a"><e:p rdf:datatype="http://www.w3.org/2001/XMLSchema#integer">1</e:p>'
    "</rdf:Description></rdf:RDF>",
    "jsonld": '{"@id": "http://ex/a", "http://ex/p": 1}',
}


@pytest.mark.parametrize("format", FORMATS)
def test_every_format(format: str) -> None:
    [one] = RdfReader(format).statements(MESSAGES[format], 7)
    assert (one.tick, one.triple) == (7, Triple(A, P, integer(1)))
    assert one.graph == (G if format in ("nq", "trig") else None)
    assert [one] == RdfReader(format).statements(MESSAGES[format].encode(), "1970-01-01T00:00:07Z")


BROKEN = [
    ("ttl", "<http://ex/a> <http://ex/p", 0, RejectReason.RDF),
    ("ttl", b"\xff\xfe", 0, RejectReason.BYTES),
    ("ttl", "\ud800", 0, RejectReason.BYTES),
    ("ttl", None, 0, RejectReason.MISSING),
    ("ttl", 5, 0, RejectReason.TYPE),
    ("ttl", " " * (1 << 20) + " ", 0, RejectReason.SIZE),
    ("ttl", MESSAGES["ttl"], None, RejectReason.TIME),
    ("ttl", MESSAGES["ttl"], "soon", RejectReason.TIME),
    ("ttl", MESSAGES["ttl"], -1, RejectReason.EPOCH),
    ("ttl", MESSAGES["ttl"], datetime(1960, 1, 1, tzinfo=UTC), RejectReason.EPOCH),
    ("jsonld", '{"@context": "http://ex/context", "@id": "http://ex/a"}', 0, RejectReason.RDF),
    ("jsonld", "[" * 10_000, 0, RejectReason.DEPTH),
    ("rdf", "<rdf:RDF", 0, RejectReason.RDF),
    ("nt", "<< <http://ex/a> <http://ex/p> <http://ex/a> >> <http://ex/p> <http://ex/a> .", 0, RejectReason.RDF),
    ("nt", "<a> <http://ex/p> <http://ex/a> .", 0, RejectReason.RDF),
]


@pytest.mark.parametrize(("format", "payload", "moment", "reason"), BROKEN)
def test_what_is_broken(format: str, payload: object, moment: object, reason: RejectReason) -> None:
    with pytest.raises(RejectError) as dead:
        RdfReader(format).statements(payload, moment)
    assert dead.value.reason is reason
    aside = rejected_message("here", dead.value, payload)
    assert (aside.origin, aside.reason) == ("here", reason)
    assert len(aside.detail) <= 1000


@pytest.mark.parametrize("format", FORMATS)
def test_a_mark_in_front_is_none_of_the_message(format: str) -> None:
    marked = "\ufeff" + MESSAGES[format]
    assert RdfReader(format).statements(marked, 7) == RdfReader(format).statements(MESSAGES[format], 7)
    assert RdfReader(format).statements(marked.encode(), 7) == RdfReader(format).statements(marked, 7)


def test_no_such_format() -> None:
    with pytest.raises(DataError, match="no such format"):
        RdfReader("xml")


TIME = "http://ex/at"


def ticks(text: str, moment: object = None) -> list[tuple[str, int]]:
    reader = RdfReader("trig", Calendar(), TIME)
    return [(str(one.triple.object), one.tick) for one in reader.statements("PREFIX : <http://ex/> " + text, moment)]


def test_times_that_are_stated() -> None:
    graphs = ':g { :a :p :x } :h { :a :p :y } :g :at "1970-01-01T00:00:05Z" . :h :at 9 .'
    found = dict(ticks(graphs))
    assert (found["<http://ex/x>"], found["<http://ex/y>"]) == (5, 9)
    assert sorted(found.values()) == [5, 5, 9, 9], "what states a time belongs to it"
    assert dict(ticks(":a :p :x ; :at 5 . :b :p :y ; :at 6 ."))["<http://ex/y>"] == 6
    assert dict(ticks(":a :at 5 ; :p [ :q :x ] ."))["<http://ex/x>"] == 5, "the only time of a message is that of all"
    assert dict(ticks(":a :at 5 . :b :p :x .", 3))["<http://ex/x>"] == 3


@pytest.mark.parametrize("text", [":a :p :x .", ":a :at 5 , 6 .", ":a :at 5 . :b :at 6 . :c :p :x .", ":a :at :b ."])
def test_times_that_are_not(text: str) -> None:
    with pytest.raises(RejectError) as dead:
        ticks(text)
    assert dead.value.reason is RejectReason.TIME


def test_blank_nodes_belong_to_their_message() -> None:
    reader = RdfReader("ttl")
    text = "_:a <http://ex/p> _:a , _:b ."
    first, second = reader.statements(text, 1)
    assert isinstance(first.triple.subject, BlankNode)
    assert first.triple.subject == first.triple.object == second.triple.subject != second.triple.object
    assert [first, second] == reader.statements(text, 1), "the same message again says the same"
    assert reader.statements(text, 2)[0].triple != first.triple
    assert reader.statements(text + " ", 1)[0].triple != first.triple


def test_batches_tag_what_is_broken() -> None:
    batch = pa.RecordBatch.from_pydict({"payload": [MESSAGES["nq"], "x", None], "t": [3, 4, None]})
    [out] = decode_batches(RdfReader("nq"), [batch], with_times=True)
    assert tuple(out.schema.names) == COLUMNS
    good, broken, empty = out.to_pylist()
    number = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    assert [good[name] for name in COLUMNS[:7]] == [3, 0, str(A), str(P), number, str(G), None]
    assert (broken["s"], broken["reject_reason"], broken["payload"]) == (None, "not RDF", "x")
    assert (empty["reject_reason"], empty["payload"]) == ("missing field", "")
    assert list(decode_batches(RdfReader("nq"), [batch.slice(0, 0)], with_times=True)) == []


CATALOG = """
prefixes: {"": "http://ex/"}
rdf:
  s: {stream: "http://ex/s", files: FILE MORE}
"""


def stream(folder: Path, file: str, content: str, more: str = "") -> tuple[list[tuple[int, Any]], int]:
    (folder / file).write_text(content, "utf-8")
    catalog = Catalog.read(CATALOG.replace("FILE", file).replace(" MORE", more), folder=folder)
    aside: list[RejectedMessage] = []
    statements = open_stream(catalog.rdf.extents["s"], catalog.calendar, catalog.folder, rejected=aside)
    return [(one.tick, one.row) for one in statements], len(aside)


def test_streams_from_files(tmp_path: Path) -> None:
    number = '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'
    one, two = (1, (str(A), str(P), number)), (2, (str(A), str(P), '"x"@en'))
    assert stream(tmp_path, "s.csv", 't,s,p,o\n2,:a,<http://ex/p>,"""x""@EN"\n1,:a,:p,1\n') == ([one, two], 0)
    lines = [
        json.dumps({"t": 2, "s": ":a", "p": ":p", "o": '"x"@en'}),
        json.dumps({"t": 1, "s": ":a", "p": ":p", "o": 1}),
    ]
    assert stream(tmp_path, "s.jsonl", "\n".join(lines)) == ([one, two], 0)
    messages = [json.dumps({"t": t, "payload": text}) for t, text in ((1, MESSAGES["ttl"]), (2, "oops"))]
    assert stream(tmp_path, "m.jsonl", "\n".join(messages), ", format: ttl") == ([one], 1)
    timed = "@prefix : <http://ex/> . :a :p 1 ; :at 1 ."
    assert stream(tmp_path, "s.ttl", timed, f", time: '{TIME}'") == ([one, (1, (str(A), f"<{TIME}>", number))], 0)


def test_columns_that_are_missing(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no column p"):
        stream(tmp_path, "s.csv", "t,s,o\n")
    with pytest.raises(DataError, match="no column payload"):
        stream(tmp_path, "s.csv", "t,s,o\n", ", format: nt")
    with pytest.raises(DataError, match="is not an RDF term"):
        stream(tmp_path, "s.csv", "t,s,p,o\n1,:a,:p,what\n")


def of_topic(more: str) -> Extent:
    text = f"rdf:\n  s: {{stream: 'http://ex/s', {more}}}"
    return Catalog.read(text).rdf.extents["s"]


def test_a_topic_in_the_catalog() -> None:
    found = of_topic("format: ttl, lateness: 1500 ms, kafka: {servers: 'a:1', topic: t, options: {x: y}}")
    topic = Kafka("a:1", "t", (), None, (("x", "y"),), None, Payload.TURTLE)
    assert found == replace(rdf_stream("s", "http://ex/s", topic), lateness=2)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("kafka: {servers: 'a:1', topic: t}", "the format of these messages is missing"),
        ("format: nt, files: a.nt, kafka: {servers: 'a:1', topic: t}", "either files or a topic"),
        ("format: nt, kafka: {servers: 'a', topic: t}", "not a host and a port"),
        ("format: nt, kafka: {servers: 'a:1', topic: t, options: {ssl.key.password: x}}", "secrets must not"),
        ("format: nt, kafka: {servers: 'a:1', topic: t, deads: d}", "unknown entry 'deads'"),
    ],
)
def test_topics_that_are_refused(more: str, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        of_topic(more)


def test_a_graph_has_no_topic() -> None:
    for more, message in (("kafka: {servers: 'a:1', topic: t}", "no kafka"), ("lateness: 1 s", "no lateness")):
        with pytest.raises(CatalogError, match=message):
            Catalog.read(f"rdf:\n  s: {{graph: default, {more}}}")


def test_messages_of_a_topic() -> None:
    topic = of_topic("format: ttl, kafka: {servers: 'a:1', topic: t}").source
    moment = datetime(1970, 1, 1, 0, 0, 4, tzinfo=UTC)
    assert isinstance(topic, Kafka)
    found = statements_of_message(topic, Calendar(), moment, MESSAGES["ttl"].encode())
    assert found == [(4, (str(A), str(P), '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'))]
    with pytest.raises(RejectError) as dead:
        statements_of_message(topic, Calendar(), moment, None)
    assert dead.value.reason is RejectReason.MISSING
    assert message_location(topic, 1, 8) == "t-1@8"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (", format: xml", "no format 'xml'"),
        (", time: at", "not an absolute IRI"),
    ],
)
def test_catalogs_that_are_refused(more: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match=message):
        stream(tmp_path, "s.csv", "", more)
    with pytest.raises(CatalogError, match="the time of these statements is missing"):
        stream(tmp_path, "s.ttl", "")
