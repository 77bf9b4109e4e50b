"""Rows that a sink refuses, as files."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from decimal import Decimal

from transom.runtime.sinks.dead_letters import RefusedRow, SinkDeadLetters


def test_dead_letters_of_a_repeated_batch(tmp_path):
    letters = SinkDeadLetters(tmp_path, "postgresql")
    row = {"n": 1, "s": "a\0", "t": datetime(2024, 1, 1, tzinfo=UTC), "d": Decimal("1.50"), "f": math.nan}
    letters.write(0, [RefusedRow(row, "bad"), RefusedRow({}, "worse")])
    letters.write(1, [])
    letters.write(2, [RefusedRow({"n": 2}, "bad")])
    letters.write(2, [RefusedRow({"n": 3}, "bad")])
    assert letters.counts() == {"postgresql sink: refused": 3}
    found = [json.loads(line) for file in sorted(letters.folder.iterdir()) for line in file.read_text().splitlines()]
    assert [one["batch"] for one in found] == [0, 0, 2]
    plain = {"n": 1, "s": "a\0", "t": "2024-01-01T00:00:00+00:00", "d": "1.50", "f": "nan"}
    assert found[0] == {"sink": "postgresql", "batch": 0, "reason": "bad", "row": plain}
    assert found[2]["row"] == {"n": 3}
    letters.write(2, [])
    assert [file.name for file in letters.folder.iterdir()] == ["batch-000000000.jsonl"]
    assert letters.counts() == {"postgresql sink: refused": 2}
