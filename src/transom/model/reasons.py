"""Why something that came from a source is no row of its stream, or why nothing came."""

from __future__ import annotations

from enum import Enum

DEAD = "dead_"
"""How Spark's count of what is no row is called: this, and the name of the reader."""
READ = "read_"
"""How our own count of what was read is called, where Spark counts something else: this, and the name of the reader."""
REJECTED = "rejected_"
"""How Spark's count of rows beyond a speed limit is called: this, the name of the extent, and a number."""


class Reason(Enum):
    """Reasons, in words that people read; from DEADLINE on, why a reading is missing."""

    BYTES = "not UTF-8"
    TEXT = "not JSON"
    SHAPE = "no object"
    RECORD = "not SenML"
    RDF = "not RDF"
    CSV = "not CSV"
    CELLS = "wrong number of cells"
    AVRO = "not Avro"
    MISSING = "missing field"
    TYPE = "wrong type"
    TIME = "no time"
    EPOCH = "before tick 0"
    LATE = "late"
    AHEAD = "ahead"
    TOPIC = "wrong topic"
    SIZE = "too large"
    DEPTH = "nested too deeply"
    DEADLINE = "no answer in time"
    REFUSED = "no connection"
    FAULT = "error of the device"
    RESTING = "not asked after failures"
    DOWN = "the collector was down"
    CLOCK = "the clock was behind the log"
