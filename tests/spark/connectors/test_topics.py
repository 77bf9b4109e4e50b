"""Messages of a topic, without a broker: Spark reads what the plain reader reads, and gives the same reasons."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import functions as F

from transom.catalog import Catalog
from transom.catalog.servers import Payload
from transom.connectors.kafka import spark as on_spark
from transom.connectors.payloads import MessageReader, RejectError
from transom.model.types import Type

DECLARED = "pushed (i:integer, f:float, d:decimal, s:string, b:boolean, at:timestamp)"
STAMP = datetime(2024, 6, 1, 0, 0, 7, tzinfo=UTC)
GOOD = {
    "t": 3,
    "i": 1,
    "body": {"f": 2.5, "d": "1.50", "list": [0, "1.50"]},
    "s": "a",
    "b": True,
    "at": "2024-06-01T00:00:00Z",
}
TIMES = """
2024-06-01T00:00:05Z 2024-06-01T00:00:05.5Z 2024-06-01T00:00:05.123456Z 2024-06-01T00:00:05.1234567Z
2024-06-01T00:00:05 2024-06-01T02:00:05+02:00 2024-06-01T00:00:60Z 2024-06-01T24:00:00Z
2024-13-01T00:00:00Z 2024-02-30T00:00:00Z 2024-6-1T0:0:5Z 0000-06-01T00:00:00Z 0001-01-01T00:00:00Z
9999-12-31T23:59:59.999999Z +2024-06-01T00:00:05Z 2024-05-31T23:59:59.999999Z 2024-06-01t00:00:05Z 2024-06-01
2024-06-01T00:00:05z 2024-06-01T00:00Z 20240601T000005Z 2024-06-01T00:00:05Z[UTC] 12 +12 -1 12.0 1e1 noon
"""
NUMBERS = """
0 -0 -0.0 1 1.0 100.0 1.5 1e3 1E-3 -1e400 9223372036854775807 9223372036854775808 1e18 1e19
12345678901234567890123456789012345678901234567890 0.1234567890123456789 1.00000000000000000000 3.0e0 01 .5 5. +1
NaN Infinity -Infinity null true "1" "" "x" "NaN" "\\n7\\n" [] {} [1] 0.000000000000000001 1e25
"""


def changed(**fields: object) -> bytes:
    return json.dumps({**GOOD, **fields}).encode()


def spelled(name: str, number: str) -> bytes:
    """The good message with a value as it is written."""
    if name in ("f", "d"):
        f, d = (number, "1") if name == "f" else ("1", number)
        body = f'{{"f": {f}, "d": {d}, "list": [0, {d}]}}'
        return changed(body="BODY").replace(b'"BODY"', body.encode())
    return changed(**{name: "VALUE"}).replace(b'"VALUE"', number.encode())


def mutated(rng: Random) -> bytes:
    text = bytearray(changed(i=rng.randrange(100), s=rng.choice(["a", "", "é", "\u2028", "{", '}"'])))
    for _ in range(rng.randrange(1, 4)):
        place = rng.randrange(max(text.find(b'"at"'), 1))
        match rng.randrange(4):
            case 0:
                del text[place]
            case 1:
                text[place:place] = rng.choice(
                    [b"{", b"}", b'"', b",", b"]", b" ", b"\\", b"0", b"-", b"null", b"\xc3"]
                )
            case 2:
                text[place] = rng.randrange(256)
            case _:
                del text[place : place + rng.randrange(1, 20)]
    return bytes(text)


PAYLOADS = [
    b"",
    b" ",
    b"null",
    b"7",
    b'"text"',
    b"[1]",
    b"{}",
    b"{",
    b"\xff",
    b"\xef\xbb\xbf" + changed(),
    b" \t\r\n" + changed() + b"\r\n ",
    b"\x0b" + changed(),
    changed() + b"\x00",
    changed() + b"}",
    changed() + b" x",
    changed() + changed(),
    changed() + b"," + changed(),
    changed() + b"]",
    changed().replace(b'"', b"'"),
    changed().replace(b'"i"', b"i"),
    changed()[:-1] + b",}",
    changed()[:-1] + b"/* */}",
    changed(s="\x00"),
    changed(s="tab\there").replace(b"\\t", b"\t"),
    changed(s="\u2028é\U0001f600"),
    changed(s=5),
    changed(s=None, i=None, b=None, at=None, body={"f": None, "d": None, "list": [None, None]}),
    *(
        changed(s=text)
        for text in ("5", "-5", "1e5", "true", "null", "[", "{}", "", "t", "5a", "-", "NaN", "\ufffd", "?")
    ),
    *(changed(s=[]).replace(b"[]", text) for text in (b"5.50", b"-0", b"1E5", b"true", b'{"a":1}', b'["x"]')),
    changed(b="true"),
    changed(b=1),
    changed(i=True),
    changed(i="1"),
    changed(body=None),
    changed(body=[]),
    changed(body={"f": 1, "list": [1]}),
    changed(body={"f": {"f": 1}, "d": 1, "list": [0, 1]}),
    changed(**{"body.f": 7}),
    changed(**{"body.f": None}),
    changed(**{"body.list.1": "7", "body.d": "8", "t.t": 5}),
    changed(**{"body.list.1": None, "body.d": None}),
    changed(more={"deep": [[[[{}]]]], "x": None}),
    json.dumps({key: value for key, value in GOOD.items() if key != "t"}).encode(),
    json.dumps({key: value for key, value in GOOD.items() if key != "s"}).encode(),
    *(changed(t=text) for text in TIMES.split()),
    *(changed(at=text) for text in TIMES.split()),
    *(spelled(name, number) for name in ("t", "i", "f", "d", "s", "b", "at") for number in NUMBERS.split()),
]


@pytest.fixture(scope="module")
def mutations() -> list[bytes]:
    rng = Random(11)
    return [mutated(rng) for _ in range(3000)]


def expected(catalog: Catalog, raw: bytes) -> object:
    extent = catalog.extent("it")
    source = extent.source
    reader = MessageReader(extent, catalog.calendar, source.fields, source.time, Payload.JSON)
    try:
        [(tick, row)] = reader.rows(raw, {}, STAMP)
    except RejectError as dead:
        return dead.reason.value
    return [catalog.calendar.tick_of(STAMP) if tick is None else tick, *map(plain, row)]


def plain(value: object) -> object:
    if isinstance(value, datetime):
        return (value - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    return str(value.normalize()) if isinstance(value, Decimal) else value


def once(raw: bytes) -> bool:
    """Whether no key comes twice: for Python the last counts, and Spark has no such objects."""

    def pairs(found: list[tuple[str, object]]) -> dict[str, object]:
        assert len(dict(found)) == len(found)
        return dict(found)

    try:
        json.loads(raw, object_pairs_hook=pairs)
    except AssertionError:
        return False
    except ValueError:
        pass
    return True


def found(spark, catalog: Catalog, payloads: list[bytes]) -> list[object]:
    rows = [(place, raw, STAMP) for place, raw in enumerate(payloads)]
    frame = spark.createDataFrame(rows, "offset long, value binary, timestamp timestamp")
    extent = catalog.extent("it")
    read = on_spark._read(frame, extent, extent.source, catalog.calendar)
    values = [f"v{place}" for place in range(len(extent.schema))]
    cells = [
        F.unix_micros(name).alias(name) if attribute.type is Type.TIMESTAMP else name
        for name, attribute in zip(values, extent.schema, strict=True)
    ]
    answers: dict[int, object] = {}
    for row in read.select("offset", "reason", "tick_number", *cells).collect():
        answers[row["offset"]] = row["reason"] or [row["tick_number"], *(plain(row[name]) for name in values)]
    return [answers[place] for place in range(len(payloads))]


@pytest.mark.parametrize("time", ["t", None])
def test_spark_reads_what_the_plain_reader_reads(spark, mutations, time):
    fields = {"f": "body.f", "d": "body.list.1"}
    kafka = {"servers": "h:1", "topic": "x", "fields": fields, **({"time": time} if time else {})}
    entry = {"declare": DECLARED, "source": {"kafka": kafka}}
    catalog = Catalog.from_dict({"epoch": "2024-06-01", "extents": {"it": entry}})
    payloads = [*PAYLOADS, *filter(once, mutations)]
    answers = found(spark, catalog, payloads)
    differing = [
        (raw, wanted, given)
        for raw, given in zip(payloads, answers, strict=True)
        if (wanted := expected(catalog, raw)) != given
    ]
    assert not differing, f"{len(differing)}\n" + "\n".join(map(str, differing[:60]))
    assert sum(isinstance(given, list) for given in answers) > 200
    assert {given for given in answers if isinstance(given, str)} >= {
        "not UTF-8",
        "not JSON",
        "no object",
        "wrong type",
    }


def test_objects_without_others_in_them(spark):
    kafka = {"servers": "h:1", "topic": "x", "time": "t"}
    entry = {"declare": "pushed (s:string, i:integer)", "source": {"kafka": kafka}}
    catalog = Catalog.from_dict({"epoch": "2024-06-01", "extents": {"it": entry}})
    row = b'{"t": 1, "s": "a", "i": 2}'
    payloads = [row, row + b" ", b" " + row, row + b"}", row + row, row + b",null", row + b"x", row[:-1], b"{" + row]
    payloads += [row.replace(b"a", text) for text in (b"}", b"{", b"{}", "é".encode(), b'\\"', b'"')]
    payloads += [b"{}", b"{}}", b"}", b"{", b"{}{}", b"[{}]", b"{},null", b"null", b"1,2", b"[],null", b"{}]"]
    assert found(spark, catalog, payloads) == [expected(catalog, raw) for raw in payloads]
