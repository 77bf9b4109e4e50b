"""Decode N-Triples and N-Quads line by line, so that a bad line is rejected and the other lines are read."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from transom.connectors.payloads import RejectError
from transom.connectors.rdf.payloads import RdfReader, TimedStatement, no_time
from transom.errors import DataError
from transom.model.rdf.read import Quad, read_quads
from transom.model.rdf.terms import IRI, BlankNode
from transom.model.rdf.well_formed import NestedTooDeeply
from transom.model.reject_reason import RejectReason

LINE_FORMATS = ("nt", "nq")
"""The RDF formats with one statement per line."""
_LINE_END = re.compile(rb"\r\n|\n|\r")
_LINE_ONE = re.compile(r"\bat line 1\b ?")


class RejectedLine(NamedTuple):
    """A line that gives no statement: its number from 1, the reason, and its bytes."""

    number: int
    rejection: RejectError
    content: bytes


def decode_lines(reader: RdfReader, content: bytes) -> tuple[list[TimedStatement], list[RejectedLine]]:
    """Decode the lines of a file into statements with ticks, and the lines that are rejected, in order.

    Rejected are lines that are not RDF, lines with a wrong time or a second time of a subject, and statements without a
    time. Blank nodes are local to the file.
    """
    try:
        return reader.rows(content), []
    except RejectError:
        lines = _LINE_END.split(content.removeprefix(b"\xef\xbb\xbf"))
    rejected: dict[int, RejectError] = {}
    quads: dict[int, Quad] = {}
    for number, line in enumerate(lines, 1):
        try:
            quads.update((number, quad) for quad in _line_quads(reader.format, line))
        except RejectError as rejection:
            rejected[number] = rejection
    rejected |= _wrong_times(reader, quads)
    kept = {number: quad for number, quad in quads.items() if number not in rejected}
    early = {quads[number].triple.subject for number, error in rejected.items() if error.reason is RejectReason.EPOCH}
    rejected |= _without_time(reader, kept, early)
    text = b"\n".join(lines[number - 1] for number in kept if number not in rejected)
    bad_lines = [RejectedLine(number, rejected[number], lines[number - 1]) for number in sorted(rejected)]
    return reader.rows(text), bad_lines


def _line_quads(rdf_format: str, line: bytes) -> list[Quad]:
    """Parse a line in `rdf_format`, such as `nt`; [] for a comment or empty line, RejectError if it is invalid."""
    try:
        return list(read_quads(line.decode("utf-8"), rdf_format))
    except UnicodeDecodeError as error:
        raise RejectError(RejectReason.BYTES, str(error)) from None
    except NestedTooDeeply as error:
        raise RejectError(RejectReason.DEPTH, error.detail or error.message) from None
    except DataError as error:
        raise RejectError(RejectReason.RDF, _LINE_ONE.sub("", error.detail or error.message)) from None


def _wrong_times(reader: RdfReader, quads: dict[int, Quad]) -> dict[int, RejectError]:
    """Return errors by line number: times that are invalid or differ from an earlier time of the same subject."""
    rejected: dict[int, RejectError] = {}
    ticks: dict[IRI | BlankNode, int] = {}
    for number, quad in quads.items():
        try:
            for subject, tick in reader.stated_ticks([quad]).items():
                if ticks.setdefault(subject, tick) != tick:
                    rejected[number] = RejectError(RejectReason.TIME, f"two times of {subject}")
        except RejectError as rejection:
            rejected[number] = rejection
    return rejected


def _without_time(
    reader: RdfReader, quads: dict[int, Quad], early: Collection[IRI | BlankNode]
) -> dict[int, RejectError]:
    """Return errors, by line, of statements without a time; {} if the file states a single time for all.

    `early` are the subjects whose time is before tick 0.
    """
    stated = reader.stated_ticks(quads.values())
    if len(set(stated.values())) == 1:
        return {}
    return dict(_lines_without_time(stated, quads, early))


def _lines_without_time(
    stated: dict[IRI | BlankNode, int], quads: dict[int, Quad], early: Collection[IRI | BlankNode]
) -> Iterator[tuple[int, RejectError]]:
    """Yield line number and error of each statement whose graph and subject both have no time in `stated`.

    The time of the subjects `early` is before tick 0.
    """
    for number, quad in quads.items():
        subject = quad.triple.subject
        if subject not in stated and (quad.graph is None or quad.graph not in stated):
            if subject in early:
                yield number, RejectError(RejectReason.EPOCH, f"the time of {subject} is before tick 0")
            else:
                yield number, no_time(quad.triple, stated)
