"""Decode RDF messages into statements with their ticks; invalid messages are rejected with a reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from transom.catalog.reading.wording import display_value
from transom.connectors.payloads import MAX_MESSAGE_BYTES, RejectError, message_tick
from transom.errors import DataError
from transom.model.rdf.answer import RejectedMessage
from transom.model.rdf.ntriples import encode_term, statement_row
from transom.model.rdf.read import FORMATS, Quad, read_quads
from transom.model.rdf.terms import IRI, BlankNode, Literal, Triple
from transom.model.rdf.well_formed import NestedTooDeeply
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("tick", "position", "s", "p", "o", "g", "reject_reason", "detail", "payload")
"""Columns on Spark: tick, position in the message and N-Triples terms; or reject reason and payload."""
SCHEMA = ", ".join(f"{name} {'bigint' if name in ('tick', 'position') else 'string'}" for name in COLUMNS)
MAX_STATEMENTS = 50_000
"""Maximum number of statements in a message."""
_MAX_DETAIL = 1000
_ROWS = 10_000
_BYTE_ORDER_MARK = "\ufeff"
"""The optional byte order mark before UTF-8 text, which is removed."""


TimedStatement: TypeAlias = tuple[int, tuple[str, str, str]]
"""A tick, and a statement as a row of terms."""


@dataclass(frozen=True, slots=True)
class MessageStatement:
    """A statement of a message, with its tick and the name of its graph, None for the default graph."""

    tick: int
    triple: Triple
    graph: IRI | BlankNode | None = None


@dataclass(frozen=True, slots=True)
class RdfReader:
    """Decodes RDF messages: their format, the calendar, and the predicate that states the time.

    A message is accepted or rejected as a whole. Blank nodes are local to a message: two messages share one only if
    they are equal and have the same time. `largest` is the maximum size in bytes.
    """

    format: str
    calendar: Calendar = field(default_factory=Calendar)
    time: str | None = None
    largest: int | None = MAX_MESSAGE_BYTES

    def __post_init__(self) -> None:
        """Raise DataError if the name of the RDF format is unknown."""
        if self.format not in FORMATS:
            raise DataError(f"no such format of RDF: {self.format}", hint=f"one of {', '.join(FORMATS)}")

    def statements(self, payload: object, arrival: object = None) -> list[MessageStatement]:
        """Decode an RDF message to statements with ticks, `arrival` for undated ones (None: unknown), or RejectError.

        `arrival` is its arrival time, as a tick or an instant. The time of a statement is the one stated for its graph,
        else for its subject, else that of the message. A message without a time takes the only one that is stated in
        it.
        """
        text = _text(payload, self.largest)
        tick = None if arrival is None else self._tick(arrival)
        digest = blake2b(f"{tick}\n{text}".encode(), digest_size=8).hexdigest()
        try:
            quads = self._quads(text, f"b{digest}n")
        except NestedTooDeeply as error:
            raise RejectError(RejectReason.DEPTH, error.detail or error.message) from None
        except DataError as error:
            raise RejectError(RejectReason.RDF, error.detail or error.message) from None
        stated = self.stated_ticks(quads)
        if tick is None and len(set(stated.values())) == 1:
            tick = next(iter(stated.values()))
        decoded: list[MessageStatement] = []
        for quad in quads:
            statement_tick = None if quad.graph is None else stated.get(quad.graph)
            statement_tick = stated.get(quad.triple.subject, tick) if statement_tick is None else statement_tick
            if statement_tick is None:
                raise no_time(quad.triple, stated)
            decoded.append(MessageStatement(statement_tick, quad.triple, quad.graph))
        return decoded

    def rows(self, payload: object, arrival: object = None) -> list[TimedStatement]:
        """Decode an RDF message to (tick, row) pairs, `arrival` for undated ones (None: unknown), or RejectError.

        `arrival` is the time of statements that do not state one.
        """
        return [(statement.tick, statement_row(statement.triple)) for statement in self.statements(payload, arrival)]

    def _quads(self, text: str, node_prefix: str) -> list[Quad]:
        """Parse the statements of an RDF message, and prefix its blank nodes; raise RejectError if it has too many."""
        limit = None if self.largest is None else MAX_STATEMENTS
        quads = list(
            islice(read_quads(text, self.format, label_prefix=node_prefix), None if limit is None else limit + 1)
        )
        if limit is not None and len(quads) > limit:
            raise RejectError(RejectReason.SIZE, f"more than {limit} statements")
        return quads

    def stated_ticks(self, quads: Iterable[Quad]) -> dict[IRI | BlankNode, int]:
        """Return each subject's tick, stated by the time predicate; raise RejectError if a subject has two."""
        ticks: dict[IRI | BlankNode, int] = {}
        for quad in quads if self.time is not None else ():
            if quad.triple.predicate.value != self.time:
                continue
            time_term, subject = quad.triple.object, quad.triple.subject
            tick = self._tick(time_term.lexical if isinstance(time_term, Literal) else str(time_term))
            if ticks.setdefault(subject, tick) != tick:
                raise RejectError(RejectReason.TIME, f"two times of {subject}")
        return ticks

    def _tick(self, moment: object) -> int:
        """Return the tick of the time in an RDF message; raise RejectError if the time is not valid."""
        try:
            return message_tick(moment, self.calendar)
        except (ValueError, OverflowError) as error:
            raise RejectError(RejectReason.TIME, str(error)) from None


def no_time(triple: Triple, stated: Mapping[IRI | BlankNode, int]) -> RejectError:
    """Build the error for a triple without a time; `stated` has the ticks of the subjects and graphs in its message.

    If the message states several ticks, the error says how to give the triple one of them.
    """
    count = len(set(stated.values()))
    remedy = f", and its message has {count} times: write one event per message, or a time for the subject"
    return RejectError(RejectReason.TIME, f"no time of {triple}{remedy if count > 1 else ''}")


def rejected_message(location: str, rejection: RejectError, payload: object) -> RejectedMessage:
    """Create the record of a rejected RDF message for reports: its location, the reason and the payload."""
    return RejectedMessage(location, rejection.reason, str(rejection)[:_MAX_DETAIL], _payload_text(payload))


def decode_batches(
    reader: RdfReader, batches: Iterable[pa.RecordBatch], *, with_times: bool
) -> Iterator[pa.RecordBatch]:
    """Decode Arrow batches of RDF messages (column 0) to statements; `with_times`: column 1 is their time of arrival.

    `mapInArrow` calls this; the columns are `COLUMNS`.
    """
    import pyarrow as pa

    kinds = [pa.int64() if name in ("tick", "position") else pa.string() for name in COLUMNS]
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    for batch in batches:
        arrivals = batch.column(1).to_pylist() if with_times else [None] * batch.num_rows
        rows = (
            _rows(reader, payload, arrival)
            for payload, arrival in zip(batch.column(0).to_pylist(), arrivals, strict=True)
        )
        yield from arrow_batches(chain.from_iterable(rows), schema)


def arrow_batches(rows: Iterator[Sequence[object]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Convert rows to Arrow batches with a schema, of at most `_ROWS` rows each."""
    import pyarrow as pa

    while chunk := list(islice(rows, _ROWS)):
        arrays = [pa.array([row[index] for row in chunk], field.type) for index, field in enumerate(schema)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _rows(reader: RdfReader, payload: object, arrival: object) -> list[tuple[object, ...]]:
    """Return rows (tick, position, s, p, o, g, reject columns): one per statement of a message, or one if rejected.

    Their columns are `COLUMNS`.
    """
    try:
        numbered = enumerate(reader.statements(payload, arrival))
        return [
            (statement.tick, position, *statement_text(statement), None, None, None) for position, statement in numbered
        ]
    except RejectError as rejection:
        return [(None,) * 6 + (rejection.reason.value, str(rejection)[:_MAX_DETAIL], _payload_text(payload))]


def statement_text(statement: MessageStatement) -> tuple[str, str, str, str | None]:
    """Format a statement as the texts of subject, predicate, object and graph (None: default) in N-Triples."""
    return *statement_row(statement.triple), None if statement.graph is None else encode_term(statement.graph)


def _text(payload: object, max_bytes: int | None) -> str:
    """Return the text of an RDF message; raise RejectError if it is None, invalid UTF-8 or too large.

    `max_bytes` is the limit in bytes, or None.
    """
    if payload is None:
        raise RejectError(RejectReason.MISSING, "no payload")
    if not isinstance(payload, str | bytes | bytearray | memoryview):
        raise RejectError(RejectReason.TYPE, f"expected text or bytes, not {display_value(payload)}")
    if max_bytes is not None and len(payload) > max_bytes:
        raise RejectError(RejectReason.SIZE, f"{len(payload)} bytes, at most {max_bytes}")
    try:
        text = payload if isinstance(payload, str) else bytes(payload).decode("utf-8")
        text.encode()
    except UnicodeError as error:
        raise RejectError(RejectReason.BYTES, str(error)) from None
    return text.removeprefix(_BYTE_ORDER_MARK)


def _payload_text(payload: object) -> str:
    """Return the text of a rejected message for the dead letters, truncated and with invalid bytes replaced."""
    if isinstance(payload, bytes | bytearray | memoryview):
        return bytes(payload[:MAX_MESSAGE_BYTES]).decode("utf-8", "replace")
    return "" if payload is None else str(payload)[:MAX_MESSAGE_BYTES].encode("utf-8", "replace").decode()
