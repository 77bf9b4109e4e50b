"""What the command line costs to start: the CPU seconds of the whole process, and the modules that it imports."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from statistics import median

import pytest

import transom

ROOT = Path(__file__).parents[2]
AT_MOST = 6
"""How many times the CPU seconds of `import typer, rich` a start may cost."""
REPEATED, ROUNDS = 7, 3

BASE = ["-c", "import typer, rich"]
STARTS = {
    "help": ["-m", "transom", "--help"],
    "check": ["-m", "transom", "check", "examples/roads/q1.sneeql"],
}
ENGINES = [
    "asyncua", "confluent_kafka", "duckdb", "fastavro", "httpx", "numpy", "paho", "pandas", "psycopg", "pyais",
    "pyarrow", "pymodbus", "pyoxigraph", "pyproj", "pyspark", "shapely",
    "transom.collector", "transom.connectors", "transom.languages.sparql", "transom.picture", "transom.semantics.rdf",
    "transom.reference.rdf", "transom.runtime", "transom.spark",
]  # fmt: skip
FORBIDDEN = {
    "help": [*ENGINES, "lark", "pydantic", "transom.algebra", "transom.catalog", "transom.languages", "yaml"],
    "check": [
        *ENGINES,
        "rich.console",
        "transom.catalog.servers",
        "transom.languages.cql",
        "transom.languages.sneeql.window_texts",
        "transom.physical.nodes.keyed_windows",
        "transom.physical.nodes.rdf",
        "transom.reference.evaluate",
    ],
}
"""Packages that a start does not import. One that it must import raises the price for everybody: keep it out."""


def environment(bytecode: Path) -> dict[str, str]:
    """The environment of a user: bytecode is kept, as pip compiles it on installation, and nobody measures coverage."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTHONDONTWRITE"))}
    source = str(Path(transom.__file__).parents[1])
    return {**kept, "PYTHONPYCACHEPREFIX": str(bytecode), "PYTHONPATH": source}


def cpu_seconds(words: list[str], environ: dict[str, str]) -> float:
    """The CPU seconds of one process, from its first instruction to its last."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, cwd=ROOT, env=environ, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


@pytest.mark.skipif(
    f"typer=={version('typer')}\n" not in (ROOT / "requirements-dev.txt").read_text("utf-8"),
    reason="the figure is one of the locked versions: an older typer imports less, an older pydantic more",
)
def test_starting_costs_at_most_six_times_the_import_of_typer_and_rich(
    tmp_path: Path, record_property: pytest.RecordProperty
) -> None:
    environ = environment(tmp_path)
    commands = {"base": BASE, **STARTS}
    for words in commands.values():
        cpu_seconds(words, environ)  # compiles the bytecode
    runs: list[dict[str, float]] = []
    ratios: dict[str, float] = {}
    for _ in range(ROUNDS):
        runs += [{name: cpu_seconds(words, environ) for name, words in commands.items()} for _ in range(REPEATED)]
        # the speed of a machine changes within seconds, so each start is compared with the import beside it
        ratios = {name: round(median(run[name] / run["base"] for run in runs), 2) for name in STARTS}
        if max(ratios.values()) <= AT_MOST:
            break
    record_property("ratios", ratios)
    assert max(ratios.values()) <= AT_MOST, f"{ratios}, CPU seconds {runs}"


@pytest.mark.parametrize("start", STARTS)
def test_a_start_imports_no_engine(start: str, tmp_path: Path) -> None:
    words = STARTS[start][2:]
    code = (
        "import sys, atexit; sys.argv = ['transom', *sys.argv[1:]];"
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr));"
        "from transom.cli.app import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        check=True,
        cwd=ROOT,
        env=environment(tmp_path),
        capture_output=True,
        text=True,
    )
    imported = done.stderr.split()
    assert "transom.cli.app" in imported
    beyond = [m for m in imported if any(m == name or m.startswith(f"{name}.") for name in FORBIDDEN[start])]
    assert not beyond, f"`transom {' '.join(words)}` imports {', '.join(beyond)}"
