"""Every benchmark can be imported: a name that has moved shows here, not when somebody measures."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

ROOT = Path(__file__).parents[1]
FLINK = "benchmarks/peers/on_flink.py"
"""It needs a peer that the development environment does not have."""
FILES = sorted(path.relative_to(ROOT) for path in ROOT.glob("benchmarks/**/*.py") if path.name != "__init__.py")
MODULES = [".".join(path.with_suffix("").parts) for path in FILES if path.as_posix() != FLINK]


@pytest.mark.parametrize("module", MODULES)
def test_benchmark_is_importable(module: str) -> None:
    import_module(module)
