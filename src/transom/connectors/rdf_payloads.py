"""Messages of RDF to statements with their times; what cannot be read is set aside, with its reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice
from typing import TYPE_CHECKING, TypeAlias

from transom.catalog.wording import show
from transom.connectors.payloads import LARGEST, Dead, message_tick
from transom.errors import DataError
from transom.model.rdf.answer import Aside
from transom.model.rdf.read import FORMATS, Quad, read_quads
from transom.model.rdf.spelling import encode, statement_row
from transom.model.rdf.terms import IRI, BlankNode, Literal, Triple
from transom.model.rdf.well_formed import TooDeep
from transom.model.reasons import Reason
from transom.model.time import Calendar

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("tick", "position", "s", "p", "o", "g", "dead", "words", "payload")
"""Columns on Spark: tick, place in its message and terms as N-Triples writes them; or a payload and why it is dead."""
SCHEMA = ", ".join(f"{name} {'bigint' if name in ('tick', 'position') else 'string'}" for name in COLUMNS)
STATEMENTS = 50_000
"""How many statements a message may have."""
_LONGEST_WORDS = 1000
_ROWS = 10_000
_MARK = "\ufeff"
"""What some write in front of UTF-8; it is none of the message."""


Stamped: TypeAlias = tuple[int, tuple[str, str, str]]
"""A statement as a row of terms, with its tick."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement of a message, with its tick and the name of the graph that it stands in, None for the default one."""

    tick: int
    triple: Triple
    graph: IRI | BlankNode | None = None


@dataclass(frozen=True, slots=True)
class RdfReader:
    """How messages of RDF are read: their format, the time that comes with them, and the predicate that states one.

    A message is read whole or not at all. Its blank nodes are its own: two messages share one only if they are equal
    and come at the same time. `largest` is how many bytes one may have.
    """

    format: str
    calendar: Calendar = field(default_factory=Calendar)
    time: str | None = None
    largest: int | None = LARGEST

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise DataError(f"no such format of RDF: {self.format}", hint=f"one of {', '.join(FORMATS)}")

    def statements(self, payload: object, moment: object = None) -> list[Stated]:
        """The statements of one message; `moment` is when it came, as a tick or an instant. Dead if it has none.

        A statement belongs to the instant that is stated of its graph, else to that of its subject, else to that of the
        message; a message without a time of its own has the only one that is stated in it.
        """
        text = _text(payload, self.largest)
        tick = None if moment is None else self._tick(moment)
        digest = blake2b(f"{tick}\n{text}".encode(), digest_size=8).hexdigest()
        try:
            quads = self._quads(text, f"b{digest}n")
        except TooDeep as error:
            raise Dead(Reason.DEPTH, error.detail or error.message) from None
        except DataError as error:
            raise Dead(Reason.RDF, error.detail or error.message) from None
        stated = self._stated(quads)
        if tick is None and len(set(stated.values())) == 1:
            tick = next(iter(stated.values()))
        found: list[Stated] = []
        for quad in quads:
            own = None if quad.graph is None else stated.get(quad.graph)
            own = stated.get(quad.triple.subject, tick) if own is None else own
            if own is None:
                raise Dead(Reason.TIME, f"no time of {quad.triple}")
            found.append(Stated(own, quad.triple, quad.graph))
        return found

    def rows(self, payload: object, moment: object = None) -> list[Stamped]:
        """The statements of one message as rows of terms with their ticks."""
        return [(one.tick, statement_row(one.triple)) for one in self.statements(payload, moment)]

    def _quads(self, text: str, nodes: str) -> list[Quad]:
        """What a message states; Dead if it states too much."""
        most = None if self.largest is None else STATEMENTS
        quads = list(islice(read_quads(text, self.format, nodes=nodes), None if most is None else most + 1))
        if most is not None and len(quads) > most:
            raise Dead(Reason.SIZE, f"more than {most} statements")
        return quads

    def _stated(self, quads: Iterable[Quad]) -> dict[IRI | BlankNode, int]:
        """The ticks that the predicate of time states."""
        found: dict[IRI | BlankNode, int] = {}
        for quad in quads if self.time is not None else ():
            if quad.triple.predicate.value != self.time:
                continue
            value, subject = quad.triple.object, quad.triple.subject
            tick = self._tick(value.lexical if isinstance(value, Literal) else str(value))
            if found.setdefault(subject, tick) != tick:
                raise Dead(Reason.TIME, f"two times of {subject}")
        return found

    def _tick(self, moment: object) -> int:
        try:
            return message_tick(moment, self.calendar)
        except (ValueError, OverflowError) as error:
            raise Dead(Reason.TIME, str(error)) from None


def rejected_message(place: str, dead: Dead, payload: object) -> Aside:
    """A message that gave no statements, with the reason."""
    return Aside(place, dead.reason, str(dead)[:_LONGEST_WORDS], _kept(payload))


def batches(reader: RdfReader, given: Iterable[pa.RecordBatch], *, timed: bool) -> Iterator[pa.RecordBatch]:
    """Batches of a payload, and where `timed` its moment beside it, to batches of statements; for `mapInArrow`."""
    import pyarrow as pa

    kinds = [pa.int64() if name in ("tick", "position") else pa.string() for name in COLUMNS]
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    for batch in given:
        moments = batch.column(1).to_pylist() if timed else [None] * batch.num_rows
        found = (_rows(reader, *one) for one in zip(batch.column(0).to_pylist(), moments, strict=True))
        yield from arrow_batches(chain.from_iterable(found), schema)


def arrow_batches(rows: Iterator[Sequence[object]], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows as batches of at most so many."""
    import pyarrow as pa

    while some := list(islice(rows, _ROWS)):
        arrays = [pa.array([row[at] for row in some], field.type) for at, field in enumerate(schema)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _rows(reader: RdfReader, payload: object, moment: object) -> list[tuple[object, ...]]:
    """The rows of one message: its statements, or itself with the reason."""
    try:
        found = enumerate(reader.statements(payload, moment))
        return [(one.tick, place, *spelled(one), None, None, None) for place, one in found]
    except Dead as dead:
        return [(None,) * 6 + (dead.reason.value, str(dead)[:_LONGEST_WORDS], _kept(payload))]


def spelled(one: Stated) -> tuple[str, str, str, str | None]:
    """The terms of a statement and the name of its graph, in their canonical spelling."""
    return *statement_row(one.triple), None if one.graph is None else encode(one.graph)


def _text(payload: object, largest: int | None) -> str:
    """The text of a message."""
    if payload is None:
        raise Dead(Reason.MISSING, "no payload")
    if not isinstance(payload, str | bytes | bytearray | memoryview):
        raise Dead(Reason.TYPE, f"expected text or bytes, not {show(payload)}")
    if largest is not None and len(payload) > largest:
        raise Dead(Reason.SIZE, f"{len(payload)} bytes, at most {largest}")
    try:
        text = payload if isinstance(payload, str) else bytes(payload).decode("utf-8")
        text.encode()
    except UnicodeError as error:
        raise Dead(Reason.BYTES, str(error)) from None
    return text.removeprefix(_MARK)


def _kept(payload: object) -> str:
    """A message as text, whatever it was."""
    if isinstance(payload, bytes | bytearray | memoryview):
        return bytes(payload[:LARGEST]).decode("utf-8", "replace")
    return "" if payload is None else str(payload)[:LARGEST].encode("utf-8", "replace").decode()
