"""The payload formats of messages."""

from __future__ import annotations

from enum import Enum


class Payload(Enum):
    """The payload format of a message."""

    JSON = "json"
    SENML = "senml"
    VALUE = "value"
    CSV = "csv"
    AVRO = "avro"
    N_TRIPLES = "nt"
    N_QUADS = "nq"
    TURTLE = "ttl"
    TRIG = "trig"
    RDF_XML = "rdf"
    JSON_LD = "jsonld"

    @property
    def is_rdf(self) -> bool:
        """Whether messages hold RDF statements instead of rows with named fields."""
        return self in RDF_PAYLOADS


RDF_PAYLOADS = (
    Payload.N_TRIPLES,
    Payload.N_QUADS,
    Payload.TURTLE,
    Payload.TRIG,
    Payload.RDF_XML,
    Payload.JSON_LD,
)
"""The RDF syntaxes; their values are the file extensions."""
