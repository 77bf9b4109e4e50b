"""Reasons for rejected rows and for missing readings."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class RejectReason(Enum):
    """Why a row was rejected, as text for users; from DEADLINE on, why a reading is missing."""

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
    SPEED = "beyond max_speed"
    DEADLINE = "no answer in time"
    REFUSED = "no connection"
    FAULT = "error of the device"
    RESTING = "not asked after failures"
    DOWN = "the collector was down"
    CLOCK = "the clock was behind the log"


MOST_REASONS = 5
"""For how many reasons a warning shows the first rejected message or row."""


def rejected_line(stream: str, counts: Mapping[str, int], first: Mapping[str, str], unit: str = "messages") -> str:
    """Return the sentence on a stream's rejected messages or rows (`unit`): counts by reason, and the first of each.

    `first` has the text of the first one by reason, in the order of the input. If there are several reasons, each of
    the first five has a line of its own.
    """
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(counts.items()))
    line = f"rejected {unit} of {stream}: {reasons}; the first "
    if len(first) == 1:
        return f"{line}is {next(iter(first.values()))}"
    shown = list(first.items())[:MOST_REASONS]
    return f"{line}of each reason:" + "".join(f"\n  {reason}: {text}" for reason, text in shown)
