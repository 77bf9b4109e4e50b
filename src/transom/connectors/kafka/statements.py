"""Streams of statements from a topic: each message is read alone, whole or not at all."""

from __future__ import annotations

from transom.catalog.rdf import RdfExtent
from transom.catalog.servers import Kafka
from transom.connectors.kafka.read import messages
from transom.connectors.rdf_payloads import RdfReader, Stated, sift
from transom.model.rdf.answer import Aside
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar


def read_statements(
    extent: RdfExtent, source: Kafka, calendar: Calendar
) -> tuple[list[tuple[int, Triple]], list[Aside]]:
    """The statements in a topic now, by tick, then by partition and offset; and the messages that gave none."""
    statements: list[Stated] = []
    aside: list[Aside] = []
    for one in messages(source):
        found = read_message(extent, source, calendar, one.partition, one.offset, one.moment, one.value)
        statements += found[0]
        aside += found[1]
    return sorted(((one.tick, one.triple) for one in statements), key=lambda one: one[0]), aside


def read_message(
    extent: RdfExtent,
    source: Kafka,
    calendar: Calendar,
    partition: int,
    offset: int,
    moment: object,
    value: bytes | None,
) -> tuple[list[Stated], list[Aside]]:
    """What one message states, or itself with the reason; its time is the broker's stamp, unless messages state it."""
    reader = RdfReader(extent.format or "", calendar, extent.time)
    return sift(reader, [(f"{source.topic}-{partition}@{offset}", value, moment if extent.time is None else None)])
