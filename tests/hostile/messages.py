"""Hostile messages: JSON, CSV, SenML, bare values, Avro and RDF; an accepted one has a stated value."""

from __future__ import annotations

import json
from typing import NamedTuple

from transom.connectors.payloads import MAX_MESSAGE_BYTES
from transom.connectors.payloads import RejectError as Rejected
from transom.model.reject_reason import RejectReason

from .case import Accepted, Case, Refused


class Message(NamedTuple):
    """What came, and how it is read."""

    kind: str
    raw: bytes


def Dead(reason: RejectReason, phrase: str) -> Refused:  # noqa: N802 - a table reads better so
    """A dead letter: its reason, and a phrase of its words."""
    return Refused(Rejected, phrase, reason)


GOOD = {"at": 7, "n": 1, "f": 1.5, "d": "1.5", "s": "a", "b": True}
ROW = {"n": 1, "f": 1.5, "d": "1.5", "s": "a", "b": True}


def _case(why: str, kind: str, raw: bytes, outcome: object) -> Case:
    return Case(why, Message(kind, raw), outcome if isinstance(outcome, Refused) else Accepted(outcome))


def field(why: str, name: str, written: str, outcome: object) -> Case:
    """A field of a JSON object as it is written; a value if it is taken."""
    text = json.dumps({**GOOD, name: "@"}).replace('"@"', written)
    stated = outcome if isinstance(outcome, Refused) else (7, *{**ROW, name: outcome}.values())
    return _case(f"JSON, {name}: {why}", "json", text.encode("utf-8", "surrogatepass"), stated)


def whole(why: str, raw: bytes, outcome: object) -> Case:
    return _case(f"JSON: {why}", "json", raw, outcome)


def line(why: str, raw: bytes, outcome: object) -> Case:
    return _case(f"CSV: {why}", "csv", raw, outcome)


def pack(why: str, raw: bytes, outcome: object) -> Case:
    return _case(f"SenML: {why}", "senml", raw, outcome)


def value(why: str, raw: bytes, outcome: object) -> Case:
    return _case(f"value: {why}", "value", raw, outcome)


def record(why: str, raw: bytes, outcome: object) -> Case:
    return _case(f"Avro: {why}", "avro", raw, outcome)


def rdf(why: str, format: str, raw: bytes, outcome: object) -> Case:
    """A message of RDF; its number of statements if it is taken."""
    return _case(f"RDF {format}: {why}", format, raw, outcome)


SENT = json.dumps(GOOD).encode()
TAKEN = (7, *ROW.values())
NO_TYPE, NO_TIME, NO_JSON, NO_CSV = RejectReason.TYPE, RejectReason.TIME, RejectReason.TEXT, RejectReason.CSV
DEEP = Dead(RejectReason.DEPTH, "nested too deeply")

JSON = (
    whole("nothing", b"", Dead(NO_JSON, "Expecting value")),
    whole("only NUL", b"\0", Dead(NO_JSON, "Expecting value")),
    whole("no object", b"[1]", Dead(RejectReason.SHAPE, "expected a JSON object")),
    whole("a byte order mark", b"\xef\xbb\xbf" + SENT, Dead(NO_JSON, "BOM")),
    whole("UTF-16", SENT.decode().encode("utf-16"), Dead(RejectReason.BYTES, "can't decode")),
    whole("an overlong slash gets past a filter", b'{"s": "\xc0\xaf"}', Dead(RejectReason.BYTES, "invalid start byte")),
    whole("half of a character as bytes", b'{"s": "\xed\xa0\x80"}', Dead(RejectReason.BYTES, "invalid continuation")),
    whole("90,000 lists", b'{"x": ' + b"[" * 90_000 + b"]" * 90_000 + b"}", DEEP),
    whole("50,000 objects", b'{"a":' * 50_000 + b"1" + b"}" * 50_000, DEEP),
    whole("500,000 brackets without an end", b"[" * 500_000, DEEP),
    whole("a second object behind the first", SENT + SENT, Dead(NO_JSON, "Extra data")),
    whole("a comment", b"/* */" + SENT, Dead(NO_JSON, "Expecting value")),
    whole("single quotes", SENT.replace(b'"', b"'"), Dead(NO_JSON, "double quotes")),
    whole("a comma too many", SENT[:-1] + b",}", Dead(NO_JSON, "line 1 column")),
    whole("cut off", SENT[:-3], Dead(NO_JSON, "Expecting")),
    whole("compressed", b"\x1f\x8b\x08\x00" + b"\0" * 20, Dead(RejectReason.BYTES, "can't decode")),
    whole("larger than a message may be", b" " * (MAX_MESSAGE_BYTES + 1), Dead(RejectReason.SIZE, "at most 1048576")),
    whole("60,000 other fields", json.dumps({**{f"k{i}": i for i in range(60_000)}, **GOOD}).encode(), TAKEN),
    whole("a field of objects in JavaScript", SENT[:-1] + b', "__proto__": {"n": 2}}', TAKEN),
    whole("a key twice: the last counts, as for Spark", SENT[:-1] + b', "n": 2}', (7, 2, *TAKEN[2:])),
    field("NaN is no JSON", "f", "NaN", Dead(NO_JSON, "NaN is no JSON")),
    field("Infinity is no JSON", "f", "-Infinity", Dead(NO_JSON, "-Infinity is no JSON")),
    field("a float that is infinite", "f", "1e400", Dead(NO_TYPE, "inf is not of type float")),
    field("a float below the smallest", "f", "1e-400", 0.0),
    field("2**63", "n", "9223372036854775808", Dead(NO_TYPE, "is not of type integer")),
    field("more digits than Python converts", "n", "9" * 5000, Dead(NO_JSON, "4300 digits")),
    field("true is no number", "n", "true", Dead(NO_TYPE, "is not of type integer")),
    field("a number as text", "n", '"1"', Dead(NO_TYPE, "is not of type integer")),
    field("an object where text is expected", "s", '{"$ne": 1}', Dead(NO_TYPE, "is not of type string")),
    field("half of a character", "s", '"\\ud800"', Dead(NO_TYPE, "the text is not Unicode")),
    field("halves in the wrong order", "s", '"\\ude00\\ud83d"', Dead(NO_TYPE, "the text is not Unicode")),
    field("a line break in a string", "s", '"a\nb"', Dead(NO_JSON, "Invalid control character")),
    field("NUL is kept", "s", '"a\\u0000b"', "a\0b"),
    field("a reference is text", "s", '"${file:/etc/passwd}"', "${file:/etc/passwd}"),
    field("SQL is text", "s", '"\'; DROP TABLE x; --"', "'; DROP TABLE x; --"),
    field("an escape sequence is text", "s", '"\\u001b[2J"', "\x1b[2J"),
    field(
        "a decimal whose digits would fill the memory", "d", '"1e999999999"', Dead(NO_TYPE, "is not of type decimal")
    ),
    field("an infinite decimal", "d", '"Infinity"', Dead(NO_TYPE, "is not of type decimal")),
    field("a signalling NaN raises when it is compared", "d", '"sNaN"', Dead(NO_TYPE, "is not of type decimal")),
    field("digits of another script", "d", '"\u0661"', Dead(NO_TYPE, "is not of type decimal")),
    field("an underscore in a number", "d", '"1_000"', Dead(NO_TYPE, "is not of type decimal")),
    field("1 is no truth", "b", "1", Dead(NO_TYPE, "is not of type boolean")),
    field("before tick 0", "at", "-1", Dead(RejectReason.EPOCH, "lies before tick 0")),
    field("a tick of more than 64 bits", "at", "1e300", Dead(NO_TIME, "larger than any tick")),
    field("half a tick", "at", "7.5", Dead(NO_TIME, "neither a tick nor an instant")),
    field("no time", "at", "null", Dead(NO_TIME, "neither a tick nor an instant")),
    field("a zone of 99 hours", "at", '"2024-06-01T00:00:07+99:99"', Dead(NO_TIME, "is not an instant")),
    field("a year of five digits", "at", '"99999-01-01"', Dead(NO_TIME, "is not an instant")),
    field("a digit of another script", "at", '"\u0667"', Dead(NO_TIME, "is not an instant")),
    field("NUL behind a number", "at", '"7\\u0000"', Dead(NO_TIME, "is not an instant")),
)

OTHERS = (
    line("a quote without an end", b'7,1,1.5,1.5,"a,true', Dead(NO_CSV, "a quote is not closed")),
    line("two lines", b"7,1,1.5,1.5,a,true\n8,2,1.5,1.5,a,true\n", Dead(NO_CSV, "more than one line")),
    line("a line break in quotes", b'7,1,1.5,1.5,"a\nb",true', Dead(NO_CSV, "more than one line")),
    line("NUL, which stands between cells for Spark", b"7,1,1.5,1.5,a\0b,true", Dead(NO_CSV, "more than one line")),
    line("100,000 commas", b"," * 100_000, Dead(RejectReason.CELLS, "100001 cells, not 6")),
    line("300,001 quotes", b'"' * 300_001, Dead(NO_CSV, "a quote is not closed")),
    line("a byte order mark", b"\xef\xbb\xbf7,1,1.5,1.5,a,true", Dead(NO_TIME, "is not an instant")),
    line("hexadecimal digits", b"7,0x1f,1.5,1.5,a,true", Dead(NO_TYPE, "is not of type integer")),
    line("infinity", b"7,1,inf,1.5,a,true", Dead(NO_TYPE, "is not of type float")),
    line("a formula is text", b"7,1,1.5,1.5,=1+1,true", (7, 1, 1.5, "1.5", "=1+1", True)),
    pack("a time outside of the calendar", b'[{"n":"temp","t":1e300,"v":1}]', Dead(NO_TIME, "is no time")),
    pack(
        "a base that no float holds",
        b'[{"n":"temp","bv":' + b"9" * 400 + b',"v":1.5}]',
        Dead(RejectReason.RECORD, "too large"),
    ),
    pack(
        "a time that no float holds",
        b'[{"n":"temp","bt":' + b"9" * 400 + b',"t":0.5,"v":1}]',
        Dead(RejectReason.RECORD, "too large"),
    ),
    pack("a sum that is infinite", b'[{"n":"temp","bv":1e308,"v":1e308}]', Dead(NO_TYPE, "is not of type float")),
    pack("a time that is a truth", b'[{"n":"temp","bt":true,"v":1}]', Dead(RejectReason.RECORD, "no number")),
    pack("a name that is a list", b'[{"n":["temp"],"v":1}]', Dead(RejectReason.MISSING, "0 records called temp")),
    pack("100,000 brackets", b"[" * 100_000, DEEP),
    value("not a number", b"0x1p3", Dead(NO_TYPE, "is not of type float")),
    value("two numbers", b"1\n2", Dead(NO_TYPE, "is not of type float")),
    value("200,000 digits", b"1" * 200_000, Dead(NO_TYPE, "is not of type float")),
    record("nothing", b"", Dead(RejectReason.AVRO, "")),
    record("a string that says it is 2**60 long", b"\x02" + b"\xfe" * 8 + b"\x0f", Dead(RejectReason.AVRO, "")),
    record("a number that does not end", b"\xff" * 200, Dead(RejectReason.AVRO, "")),
    record("a negative length", b"\x02\x01a", Dead(RejectReason.AVRO, "")),
    record("text that is not UTF-8", b"\x02\x04\xff\xfe", Dead(RejectReason.BYTES, "")),
)

_XML = b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://ex/">'
_A = b'<rdf:Description rdf:about="http://ex/a">'
_END = b"</rdf:Description></rdf:RDF>"
_BOMB = b'<!ENTITY a "aaaaaaaaaa">' + b"".join(b'<!ENTITY %c "%s">' % (c, b"&%c;" % (c - 1) * 10) for c in b"bcdefghij")
NO_RDF = RejectReason.RDF

RDF = (
    rdf(
        "entities of entities fill the memory",
        "rdf",
        b"<!DOCTYPE r [" + _BOMB + b"]>" + _XML + _A + b"<e:p>&j;</e:p>" + _END,
        Dead(NO_RDF, "is not plain text"),
    ),
    rdf(
        "one long entity, used often",
        "rdf",
        b'<!DOCTYPE r [<!ENTITY a "'
        + b"a" * 100_000
        + b'">]>'
        + _XML
        + _A
        + b"<e:p>"
        + b"&a;" * 10_000
        + b"</e:p>"
        + _END,
        Dead(NO_RDF, "characters"),
    ),
    rdf(
        "entities in a comment of the DTD",
        "rdf",
        b'<!DOCTYPE r SYSTEM "x" [<!-- ' + _BOMB + b" -->]>" + _XML + _A + b"<e:p>&j;</e:p>" + _END,
        Dead(NO_RDF, "unexpected position"),
    ),
    rdf(
        "an entity reads a file",
        "rdf",
        b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + _XML + _A + b"<e:p>&x;</e:p>" + _END,
        Dead(NO_RDF, "is not plain text"),
    ),
    rdf(
        "a DTD of another host is not fetched",
        "rdf",
        b'<!DOCTYPE r SYSTEM "http://127.0.0.1:1/x.dtd">' + _XML + _A + b"<e:p>x</e:p>" + _END,
        1,
    ),
    rdf("cut off between two statements", "rdf", _XML + _A + b"<e:p>x</e:p><e:q>y", Dead(NO_RDF, "no element found")),
    rdf(
        "9,000 elements in each other",
        "rdf",
        _XML + b"<rdf:Description><e:p>" * 9000,
        Dead(RejectReason.DEPTH, "more than 100 levels"),
    ),
    rdf(
        "4,000 objects overflow the stack",
        "jsonld",
        b'{"@id":"http://ex/a","http://ex/p":' * 4000 + b"1" + b"}" * 4000,
        Dead(RejectReason.DEPTH, "more than 100 levels"),
    ),
    rdf(
        "lists in lists",
        "jsonld",
        b'{"@id":"http://ex/a","http://ex/p":' + b'{"@list":[' * 4000 + b"]}" * 4000 + b"}",
        Dead(RejectReason.DEPTH, "more than 100 levels"),
    ),
    rdf("brackets in a string are text", "jsonld", b'{"@id":"http://ex/a","http://ex/p":"' + b"[" * 4000 + b'"}', 1),
    rdf(
        "a context of another host",
        "jsonld",
        b'{"@context": "http://127.0.0.1:1/c", "@id": "http://ex/a", "p": 1}',
        Dead(NO_RDF, "remote contexts"),
    ),
    rdf(
        "a context in a file",
        "jsonld",
        b'{"@context": "file:///etc/passwd", "@id": "http://ex/a", "p": 1}',
        Dead(NO_RDF, "remote contexts"),
    ),
    rdf(
        "a key twice",
        "jsonld",
        b'{"@id":"http://ex/a","@id":"http://ex/b","http://ex/p":1}',
        Dead(NO_RDF, "defined twice"),
    ),
    rdf(
        "terms that define each other",
        "jsonld",
        b'{"@context": {"a":"b:c","b":"a:d"}, "@id": "http://ex/a", "a": 1}',
        Dead(NO_RDF, "Cyclic"),
    ),
    rdf(
        "200,000 statements in 400 kB",
        "ttl",
        b"<http://ex/a> <http://ex/p> " + b"1," * 200_000 + b"1 .",
        Dead(RejectReason.SIZE, "more than 50000 statements"),
    ),
    rdf(
        "20,000 nodes in each other",
        "ttl",
        b"<http://ex/a> <http://ex/p> " + b"[<http://ex/p> " * 20_000 + b"1" + b"]" * 20_000 + b" .",
        20_001,
    ),
    rdf("a relative name", "ttl", b"<../../etc/passwd> <http://ex/p> 1 .", Dead(NO_RDF, "No scheme found")),
    rdf("half of a character as an escape", "ttl", b'<http://ex/a> <http://ex/p> "\\uD800" .', Dead(NO_RDF, "D800")),
    rdf("an escape closes an IRI", "nt", b'<http://ex/\\u003e> <http://ex/p> "a" .', Dead(NO_RDF, "Invalid IRI")),
    rdf("a string without an end", "ttl", b'<http://ex/a> <http://ex/p> """a', Dead(NO_RDF, "Unexpected end")),
    rdf("an update", "ttl", b"LOAD <file:///etc/passwd>", Dead(NO_RDF, "LOAD is not a valid subject")),
    rdf(
        "a graph in Turtle",
        "ttl",
        b"<http://ex/g> { <http://ex/a> <http://ex/p> 1 }",
        Dead(NO_RDF, "is not a valid predicate"),
    ),
    rdf(
        "a statement about a statement",
        "nt",
        b'<< <http://ex/a> <http://ex/p> "1" >> <http://ex/q> "2" .',
        Dead(NO_RDF, "subject"),
    ),
    rdf(
        "larger than a message may be", "nt", b" " * (MAX_MESSAGE_BYTES + 1), Dead(RejectReason.SIZE, "at most 1048576")
    ),
)

CASES = (*JSON, *OTHERS, *RDF)
