"""The plugin that finds tests that cannot fail."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = """
import pytest

def check(value):
    assert value

def test_early_return():
    if check is not None:
        return
    check(1)

def test_empty_loop():
    for value in []:
        check(value)

def test_all_of_nothing():
    assert len("a") == 1
    assert all(value > 1 for value in ())

def test_none_of_nothing():
    assert not any(value > 1 for value in ())

def test_claims():
    check(1)

def test_all_of_something():
    for values in ((), (1, 2)):
        assert all(values)
        assert not any(value > 2 for value in values)

def test_raises():
    with pytest.raises(KeyError):
        {}["a"]

def test_any_beside_the_claim():
    if not any(()):
        check(2)
"""


def test_tests_without_a_claim_fail(tmp_path: Path) -> None:
    (tmp_path / "test_some.py").write_text(TESTS)
    options = ["-p", "tests.mutants.vacuous", "-p", "no:cacheprovider", "-o", "enable_assertion_pass_hook=true"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rf", "--tb=no", *options, "--rootdir", str(tmp_path), "test_some.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [line.split("::")[1].split(" ")[0] for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert failed == ["test_early_return", "test_empty_loop", "test_all_of_nothing", "test_none_of_nothing"]
