"""How the rows of a message are written."""

from __future__ import annotations

from enum import Enum


class Payload(Enum):
    """How the rows of a message are written."""

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
    def statements(self) -> bool:
        """Whether a message is RDF, whose rows are its statements."""
        return self in STATEMENTS


STATEMENTS = (
    Payload.N_TRIPLES,
    Payload.N_QUADS,
    Payload.TURTLE,
    Payload.TRIG,
    Payload.RDF_XML,
    Payload.JSON_LD,
)
"""The syntaxes of RDF; their values are the endings of files."""
