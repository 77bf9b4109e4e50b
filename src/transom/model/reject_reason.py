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
FEW = 10
"""With fewer rejected rows, nothing is concluded from them."""


def is_mostly_rejected(counts: Mapping[str, int], used: int) -> bool:
    """Whether more than half of a source's rows, and at least 10, are rejected; `used` is the number of the others."""
    rejected = sum(counts.values())
    return rejected >= FEW and rejected > used


def most_frequent(counts: Mapping[str, int]) -> str:
    """Return the reason with the highest of the `counts`; of several, the first in alphabetical order."""
    return min(counts, key=lambda reason: (-counts[reason], reason))


def rejected_line(
    stream: str, counts: Mapping[str, int], first: Mapping[str, str], unit: str = "messages", hint: str | None = None
) -> str:
    """Return the sentence on a stream's rejected messages or rows (`unit`): counts by reason, first of each, `hint`.

    `first` has the place of the first one by reason and what is wrong with it, in the order of the input. If there are
    several reasons, each of the first five has a line of its own. `hint` is the remedy if most are rejected.
    """
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(counts.items()))
    line = f"rejected {unit} of {stream}: {reasons}; the first "
    if len(first) == 1:
        line += f"is {next(iter(first.values()))}"
    else:
        shown = list(first.items())[:MOST_REASONS]
        line += "of each reason:" + "".join(f"\n  {reason}: {text}" for reason, text in shown)
    return line if hint is None else f"{line}; most {unit} are rejected: {hint}"
