"""A bad line of an N-Triples or N-Quads file is rejected with its number and its reason; the other lines are read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import transom
from transom.connectors.payloads import RejectError
from transom.connectors.rdf.lines import decode_lines
from transom.connectors.rdf.payloads import RdfReader
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar

A, B, P, T = "<http://ex/a>", "<http://ex/b>", "<http://ex/p>", "<http://ex/t>"
GOOD = [f'{A} {T} "10" .', f'{A} {P} "one" .', "# a comment", "", f'{B} {T} "20" .', f'{B} {P} "two" .']
BAD = {
    "not RDF": (b"this is no statement", RejectReason.RDF, "between columns"),
    "no end": (f'{A} {P} "x"'.encode(), RejectReason.RDF, ""),
    "not UTF-8": (f'{A} {P} "'.encode() + b'\xff" .', RejectReason.BYTES, "can't decode byte 0xff"),
    "a wrong time": (f'{A} {T} "soon" .'.encode(), RejectReason.TIME, "soon"),
    "a second time": (f'{A} {T} "11" .'.encode(), RejectReason.TIME, "two times of <http://ex/a>"),
    "no time": (f"<http://ex/c> {P} 'x' .".replace("'", '"').encode(), RejectReason.TIME, "no time of"),
}


def reader(format: str = "nt") -> RdfReader:
    """A reader of files whose statements have the time of their subject."""
    return RdfReader(format, time="http://ex/t", largest=None)


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("format", ["nt", "nq"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_only_the_bad_line_is_rejected(what: str, format: str, end: bytes) -> None:
    bad, reason, detail = BAD[what]
    good = [line.encode() for line in GOOD]
    expected = reader(format).rows(end.join(good))
    for number in range(2, len(good) + 2):
        lines = [*good[: number - 1], bad, *good[number - 1 :]]
        statements, rejected = decode_lines(reader(format), b"\xef\xbb\xbf" + end.join(lines) + end)
        assert statements == expected
        assert [(line.number, line.rejection.reason, line.content) for line in rejected] == [(number, reason, bad)]
        assert detail in str(rejected[0].rejection)
        assert "line 1" not in str(rejected[0].rejection)


def test_all_lines_of_a_subject_whose_time_is_before_the_epoch_say_so() -> None:
    lines = [*GOOD, f'<http://ex/c> {T} "-5" .', f'<http://ex/c> {P} "three" .']
    _, rejected = decode_lines(reader(), "\n".join(lines).encode())
    assert [(line.number, line.rejection.reason) for line in rejected] == [
        (7, RejectReason.EPOCH),
        (8, RejectReason.EPOCH),
    ]
    assert str(rejected[1].rejection) == "the time of <http://ex/c> is before tick 0"


def test_a_nested_node_without_a_time_says_how_it_gets_one() -> None:
    remedy = ", and its message has 2 times: write one event per message, or a time for the subject"
    nested = [*GOOD, f"{A} {P} _:n .", f'_:n {P} "inside" .']
    _, rejected = decode_lines(reader(), "\n".join(nested).encode())
    assert [line.number for line in rejected] == [8]
    assert str(rejected[0].rejection).endswith(remedy)
    with pytest.raises(RejectError) as refusal:
        reader("ttl").rows("\n".join(nested))
    assert str(refusal.value).endswith(remedy)
    event = f'{A} {T} "10" ; {P} [ {P} "inside" ] .'
    assert [tick for tick, _ in reader("ttl").rows(event)] == [10, 10, 10]


def test_a_time_without_an_offset_is_in_utc() -> None:
    dated = RdfReader("ttl", Calendar(epoch=datetime(2024, 5, 1, tzinfo=UTC)), "http://ex/t")
    rows = dated.rows(f'{A} {T} "2024-05-01T00:01:00"^^<http://www.w3.org/2001/XMLSchema#dateTime> .')
    assert [tick for tick, _ in rows] == [60]


def test_blank_nodes_keep_their_meaning_beside_a_bad_line() -> None:
    text = f'_:x {T} "10" .\n_:x {P} _:y .\n!\n_:y {T} "10" .\n'.encode()
    statements, rejected = decode_lines(reader(), text)
    (_, (x, _, _)), (_, (same_x, _, y)), (_, (same_y, _, _)) = statements
    assert (x, y) == (same_x, same_y)
    assert x != y
    assert [line.number for line in rejected] == [3]


def test_a_file_of_bad_lines_gives_no_statements() -> None:
    statements, rejected = decode_lines(reader(), b"!\n?\n")
    assert (statements, [line.number for line in rejected]) == ([], [1, 2])


def test_a_good_file_is_read_as_one_message() -> None:
    """The labels of blank nodes depend on the text of the file, so they are the same as before."""
    text = f'_:x {T} "10" .\n'.encode()
    assert decode_lines(reader(), text) == (reader().rows(text), [])
    with pytest.raises(RejectError):
        reader().rows(text + b"!\n")


def test_simulate_answers_from_the_good_lines(tmp_path: Path) -> None:
    bad = BAD["not RDF"][0].decode()
    (tmp_path / "s.nt").write_text("\n".join([*GOOD[:3], bad, *GOOD[3:]]), "utf-8")
    (tmp_path / "catalog.yaml").write_text(
        "prefixes: {'': 'http://ex/'}\nrdf: {s: {stream: 'http://ex/s', files: s.nt, time: 'http://ex/t'}}\n", "utf-8"
    )
    text = "SELECT ?y FROM STREAM <http://ex/s> WINDOW RANGE 100 S SLIDE WHERE { ?x :p ?y }"
    query = transom.compile(text, tmp_path / "catalog.yaml", language="sparql")
    with pytest.warns(transom.RejectedWarning, match=r"rejected messages of s: 1 not RDF; the first is .*s\.nt:4: "):
        answer = query.simulate()
    assert len(answer.solutions) == 2
    (message,) = answer.rejected["s"]
    assert (message.origin, message.payload) == (f"{tmp_path / 's.nt'}:4", bad)
