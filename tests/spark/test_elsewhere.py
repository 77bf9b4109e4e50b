"""The same answers on a cluster, over Spark Connect, and on earlier versions of PySpark that are supported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.spark.elsewhere import CASES, PORTABLE, REPLAYED

ROOT = Path(__file__).parents[2]
OLDEST, MIDDLE = "TRANSOM_OLDEST_PYTHON", "TRANSOM_PYSPARK_4_2_PYTHON"
"""Variables with the Python of an environment that has an earlier PySpark."""


def run(where: str, python: str) -> str:
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("PYSPARK", "SPARK"))}
    command = [python, "-m", "tests.spark.elsewhere", "--where", where]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return done.stdout


def check(said: str, place: str, ways: Sequence[str] = ("on", "off")) -> None:
    first, *rest = said.splitlines()
    assert place in first
    assert all(": right (" in line for line in rest), said
    for kernel in ways:
        tried = CASES if kernel == "on" else PORTABLE
        assert {line[:3] for line in rest if f"kernel {kernel}:" in line} == set(tried), said
        assert {line[:3] for line in rest if f"replay, kernel {kernel}:" in line} == set(REPLAYED), said


def python_of(variable: str) -> str:
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} is not set; .ci/pyspark makes the environment and says what to set it to")
    return python


@pytest.mark.nightly
def test_on_a_cluster() -> None:
    check(run("cluster", sys.executable), "local-cluster[2,1,1024]")


@pytest.mark.covers("spark:connect")
def test_over_spark_connect() -> None:
    check(run("connect", sys.executable), "connect, ", ["auto"])


@pytest.mark.covers("spark:oldest")
def test_on_the_oldest_pyspark() -> None:
    check(run("local", python_of(OLDEST)), "local[2], PySpark 4.1.")


@pytest.mark.nightly
def test_on_pyspark_4_2() -> None:
    """Its state stores ask for a coordinator in a batch as well, which Spark starts for streams only."""
    check(run("local", python_of(MIDDLE)), "local[2], PySpark 4.2.")
