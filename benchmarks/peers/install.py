"""Environments of the peers, each in a folder of its own, made once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PLACE = ROOT / "build" / "peers"


class Problem(Exception):
    """Why a peer cannot be had, in a line."""


def flink(place: Path) -> list[str]:
    """Python with Flink in it."""
    folder = place / "flink"
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _do([sys.executable, "-m", "venv", str(folder)], "make an environment for Flink")
        _do([str(python), "-m", "pip", "install", "-q", "setuptools<81", "apache-flink"], "install apache-flink")
        (folder / "ready").touch()
    return [str(python), "-m", "benchmarks.peers.on_flink"]


def esper(place: Path) -> list[str]:
    """Java with Esper and the small program beside it."""
    folder = place / "esper"
    if shutil.which("mvn") is None or shutil.which("javac") is None:
        raise Problem("Esper needs Maven and a JDK of 17 or later")
    shutil.rmtree(folder / "classes", ignore_errors=True)
    if not (folder / "ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        fetch = ["dependency:copy-dependencies", f"-DoutputDirectory={folder / 'jars'}"]
        _do(["mvn", "-q", "-B", "-f", str(HERE / "esper" / "pom.xml"), *fetch], "fetch Esper")
        (folder / "ready").touch()
    sources = sorted(map(str, (HERE / "esper").rglob("*.java")))
    jars = f"{folder / 'jars'}/*"
    _do(["javac", "-d", str(folder / "classes"), "-cp", jars, "-proc:none", *sources], "compile the program for Esper")
    return ["java", "-Xmx4g", "-cp", f"{folder / 'classes'}:{jars}", "peers.OnEsper"]


def _do(command: Sequence[str], what: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own commands
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise Problem(f"could not {what}: {said[-1][:200] if said else done.returncode}")
