"""Fuzzing of the reader of messages: JSON, SenML, CSV and bare values; what cannot be read is dead, with a reason."""

from __future__ import annotations

import json
import time
import traceback
from datetime import UTC, datetime
from functools import cache
from random import Random

from transom.catalog import Catalog
from transom.catalog.servers import Payload
from transom.connectors.payloads import MessageReader, RejectError

from .fuzz import SLOWEST, Tally
from .mutate import mutate

NOW = datetime(2024, 6, 1, 0, 0, 30, tzinfo=UTC)
TYPES = {"n": "integer", "f": "float", "d": "decimal", "s": "string", "b": "boolean", "t": "timestamp"}
NUMBERS = (0, -1, 1.5, 1e308, 2**63, 10**400, 1e-320, -0.0, True, None)
TEXTS = ("a", "", "1e999999", "NaN", "2024-06-01T00:00:07Z", "9999-12-31", "\x00", "\ud800", "é", "${HOME}", "1_0", "٣")
WORDS = (
    "NaN",
    "Infinity",
    "1e400",
    "9" * 5000,
    '"\\ud800"',
    "[" * 2000,
    '{"n":',
    "null",
    "\\u0000",
    "\ufeff",
    ",,",
    '""',
)


def message(kind: Payload, dice: Random) -> str:
    """A message that is right, or nearly so."""
    content = {"at": dice.choice((7, "2024-06-01T00:00:07Z", *NUMBERS, *TEXTS))}
    content |= {name: dice.choice((*NUMBERS, *TEXTS)) for name in TYPES}
    right = {"at": 7, "n": 1, "f": 1.5, "d": "1.5", "s": "a", "b": True, "t": "2024-06-01"}
    content = {name: content[name] if dice.random() < 0.1 else value for name, value in right.items()}
    match kind:
        case Payload.SENML:
            keys = ("bn", "n", "v", "vs", "bv", "bt", "t")
            records = [
                {key: dice.choice((*NUMBERS, *TEXTS, "n")) for key in keys if dice.random() < 0.4} for _ in "abc"
            ]
            return json.dumps([{"n": "n", "v": 1}, *records][dice.randrange(2) :])
        case Payload.CSV:
            return ",".join("" if cell is None else str(cell) for cell in content.values())
        case Payload.VALUE:
            return str(dice.choice((*NUMBERS[:5], *NUMBERS[6:], *TEXTS)))
        case _:
            return json.dumps(content)


@cache
def readers() -> dict[Payload, MessageReader]:
    """A reader of each kind."""
    declared = ", ".join(f"{name}:{kind}" for name, kind in TYPES.items())
    catalog = Catalog.read(f"epoch: 2024-06-01T00:00:00Z\nextents: {{m: 'pushed ({declared})', v: 'pushed (n:float)'}}")
    every, one = catalog.extents["m"], catalog.extents["v"]
    fields = tuple((name, name) for name in TYPES)
    return {
        Payload.JSON: MessageReader(every, catalog.calendar, fields, "at", Payload.JSON),
        Payload.CSV: MessageReader(every, catalog.calendar, fields, "at", Payload.CSV, ("at", *TYPES)),
        Payload.SENML: MessageReader(one, catalog.calendar, (("n", "n"),), None, Payload.SENML),
        Payload.VALUE: MessageReader(one, catalog.calendar, (("n", "n"),), None, Payload.VALUE),
    }


def input_of(seed: int, number: int) -> tuple[Payload, bytes]:
    """One message and its kind: words put into it, and then all that is done to texts and bytes."""
    dice = Random(f"messages-{seed}-{number}")
    kind = dice.choice(list(readers()))
    text = message(kind, dice)
    for _ in range(dice.choice((0, 0, 0, 1, 2))):
        place = dice.randrange(len(text) + 1)
        text = text[:place] + dice.choice(WORDS) + text[place + dice.choice((0, 0, 1, 5)) :]
    if dice.random() < 0.3:
        text = mutate(text, (text, message(kind, dice)), dice)
    raw = bytearray(text.encode("utf-8", "surrogatepass"))
    if raw and dice.random() < 0.2:
        raw[dice.randrange(len(raw))] = dice.randrange(256)
    return kind, bytes(raw)


def check(seed: int, number: int) -> Tally:
    """What became of one message."""
    tally = Tally()
    kind, raw = input_of(seed, number)
    began = time.process_time()
    try:
        try:
            rows = readers()[kind].rows(raw, {}, NOW)
            outcome = "read"
            assert all(read.tick is None or read.tick >= 0 for read in rows), "a tick before 0"
        except RejectError as dead:
            outcome = dead.reason.value if dead.detail else "without words"
        assert outcome != "without words"
        took = time.process_time() - began
        tally.slowest = (took, number, repr(raw))
        assert took < SLOWEST, f"took {took:.2f} s"
    except Exception:
        outcome = "failed"
        tally.failures.append((number, f"{kind}: {raw!r}", traceback.format_exc(limit=-4)))
    tally.outcomes[outcome] += 1
    return tally


def check_all(seed: int, numbers: range) -> Tally:
    """What became of some messages, one after the other."""
    return Tally.of(check(seed, number) for number in numbers)
