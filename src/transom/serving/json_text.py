"""Values of queries and of their runs as JSON, and as server-sent events."""

from __future__ import annotations

import json
import math
from datetime import date, datetime, time
from typing import Any


def to_json(document: Any) -> bytes:
    """Return a document as JSON; numbers that JSON lacks, such as NaN, become texts as in Spark's JSON."""
    return json.dumps(plain_value(document), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def plain_value(value: Any) -> Any:
    """Replace the values that JSON lacks: instants, decimals, bytes and numbers without a value."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        case dict():
            return {str(name): plain_value(item) for name, item in value.items()}
        case list() | tuple():
            return [plain_value(item) for item in value]
        case datetime() | date() | time():
            return value.isoformat()
        case bytes():
            return value.hex()
        case _:
            return str(value)


def frame(kind: str, data: Any, number: int | None = None) -> bytes:
    """Return one server-sent event; JSON has no line breaks, so it is one line."""
    lines = [b"event: " + kind.encode(), b"data: " + to_json(data)]
    if number is not None:
        lines.insert(0, b"id: " + str(number).encode())
    return b"\n".join(lines) + b"\n\n"
