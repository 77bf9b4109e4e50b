"""Long checks that are commands, as nightly tests: each has a duration, a shard and an entry in the ledger."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.kills.shapes_rdf import ALL

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[2]
SHAPES = list(ALL)
GOLDEN = ("test_golden", "test_golden_cql", "test_golden_rdf", "test_forgetting")
FUZZ_PARTS, FUZZ_COUNT = 4, 50_000


def run(*command: str, python: str = sys.executable, **environment: str) -> str:
    """Run a Python module that must succeed within the time of a shard."""
    done = subprocess.run(
        [python, "-m", *command],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=25 * 60,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-4000:]
    return done.stdout


def environment(script: str, *words: str) -> str:
    """The Python of an environment that a script of .ci makes."""
    made = subprocess.run(["bash", f".ci/{script}", *words], cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr[-4000:]
    return made.stdout.strip()


@pytest.mark.parametrize("version", ["3.11", "3.12"])
def test_plain_tests_pass_on_python(version: str) -> None:
    """CI runs them on 3.13 as well, and on the Python that it finds."""
    run("pytest", "-q", "-n", "2", python=environment("python", version, f"build/python-{version}"))


def test_plain_tests_pass_with_the_lowest_versions() -> None:
    run("pytest", "-q", "-n", "2", python=environment("lowest", "build/lowest"))


@pytest.mark.spark
def test_golden_cases_on_spark_on_the_newest_python() -> None:
    files = [f"tests/spark/{file}.py" for file in GOLDEN]
    run("pytest", "-q", "-n", "2", "--spark", *files, python=environment("python", "3.13", "build/python-3.13"))


@pytest.mark.parametrize("part", range(FUZZ_PARTS))
@pytest.mark.parametrize("target", ["fuzz", "sparql", "rdf_payloads"])
def test_fuzzing_finds_no_crash(target: str, part: int) -> None:
    run(f"tests.fuzz.{target}", "--count", str(FUZZ_COUNT), "--seed", str(100 + part))


@pytest.mark.spark
def test_every_w3c_test_passes_on_both_engines() -> None:
    assert "spark" in run("tests.conformance").lower()


@pytest.mark.spark
@pytest.mark.parametrize("file", GOLDEN)
def test_golden_cases_in_every_split(file: str) -> None:
    """All hand-derived cases in all four splits; CI takes one-row splits of those cases that show every node."""
    run(
        "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "--spark", f"tests/spark/{file}.py", TRANSOM_GOLDEN="whole"
    )


@pytest.mark.spark
@pytest.mark.parametrize("kernel", ["on", "off"])
@pytest.mark.parametrize("shape", SHAPES)
def test_ten_kills_lose_and_double_nothing(shape: str, kernel: str) -> None:
    said = run("tests.spark.kills.chaos", "--kills", "10", "--shape", shape, "--kernel", kernel)
    assert f"{shape}, kernel {kernel}: 10 kills" in said


@pytest.mark.servers
def test_plant_survives_kills_at_random() -> None:
    run("tests.servers.soak")
