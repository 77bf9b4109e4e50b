"""Every benchmark can be imported: a name that has moved shows here, not when somebody measures."""

from __future__ import annotations

from importlib import import_module
from itertools import islice
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.conformance.as_stream import every
from transom.model.rdf.ntriples import decode_term

ROOT = Path(__file__).parents[1]
FLINK = "benchmarks/peers/on_flink.py"
"""It needs a peer that the development environment does not have."""
FILES = sorted(path.relative_to(ROOT) for path in ROOT.glob("benchmarks/**/*.py") if path.name != "__init__.py")
MODULES = [".".join(path.with_suffix("").parts) for path in FILES if path.as_posix() != FLINK]


@pytest.mark.parametrize("module", MODULES)
def test_benchmark_is_importable(module: str) -> None:
    import_module(module)


def test_start_asks_golden_and_w3c_questions() -> None:
    from benchmarks import start

    found = [next(start.golden()), *islice(start.w3c(), 1)]
    assert len(found) == 2 or not every()  # the tests of W3C are not part of a checkout
    for one in found:
        rows = [row for rows in one["streams"].values() for row in rows]
        assert 1 <= len(rows) <= start.ROWS
        assert all(isinstance(tick, int) and decode_term(subject) for tick, subject, _, _ in rows)
