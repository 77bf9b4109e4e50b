"""Long evaluations: progress on a terminal, the hint about repeated windows, and long tables."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

import transom
from transom.cli.printing import answers

QUERY = "SELECT id, AVG(x) AS mean FROM gps [RANGE '1 hour'] GROUP BY id"
CATALOG = """extents:
  gps:
    declare: pushed (id:string, x:float)
    rate: 1 per min
    keys: 2
    source: {files: gps.csv}
"""
HINT = (
    "hint: 10,001 windows for 3 rows: at least 9,994 windows equal the one before; "
    "a longer SLIDE makes fewer windows, and so do --start and --until"
)


@pytest.fixture
def gps(tmp_path: Path) -> Path:
    """A query with a window at each of 10,001 ticks, and three rows."""
    (tmp_path / "catalog.yaml").write_text(CATALOG, "utf-8")
    (tmp_path / "gps.csv").write_text("tick,id,x\n0,a,1\n5000,b,2\n10000,a,3\n", "utf-8")
    (tmp_path / "gps.cql").write_text(QUERY, "utf-8")
    return tmp_path


def on_terminal(command: list[str], folder: Path, delay: float) -> str:
    """Run a command whose stderr is a terminal, with another delay; return what it wrote there."""
    code = "import sys; from transom.cli.printing import progress; progress.DELAY = float(sys.argv.pop(1));"
    code += "from transom.cli.app import main; main()"
    reader, writer = pty.openpty()
    pieces = []
    with subprocess.Popen(
        [sys.executable, "-c", code, str(delay), *command],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=writer,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ):
        os.close(writer)
        try:
            while piece := os.read(reader, 4096):
                pieces.append(piece)
        except OSError:  # the program has closed the terminal
            pass
    os.close(reader)
    return b"".join(pieces).decode()


@pytest.mark.parametrize("command", [["simulate", "gps.cql"], ["picture", "gps.cql", "-o", "gps.svg"]])
def test_progress_appears_on_a_terminal_after_the_delay(command: list[str], gps: Path) -> None:
    shown = on_terminal(command, gps, 0.01)
    assert "evaluating" in shown
    assert "\x1b[2K" in shown, "the line is removed at the end"
    assert "evaluating" not in on_terminal(command, gps, 60)
    assert on_terminal([*command, "--quiet"], gps, 0.01) == ""


def test_without_a_terminal_only_the_hint_is_printed(gps: Path) -> None:
    command = [sys.executable, "-m", "transom", "simulate"]
    done = subprocess.run([*command, "gps.cql"], cwd=gps, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [HINT]
    quiet = subprocess.run([*command, "gps.cql", "--quiet"], cwd=gps, capture_output=True, text=True, check=True)
    assert (quiet.stderr, quiet.stdout) == ("", done.stdout)
    (gps / "slower.cql").write_text(QUERY.replace("'1 hour'", "'1 hour', SLIDE '1 minute'"), "utf-8")
    slower = subprocess.run([*command, "slower.cql"], cwd=gps, capture_output=True, text=True, check=True)
    assert slower.stderr == ""


def test_at_least_so_many_windows_are_equal(gps: Path) -> None:
    """The hint's number is a lower bound of the repetitions in the answer: five windows differ, of at most six."""
    query = transom.compile("SELECT id, x FROM gps [RANGE '1 hour']", gps / "catalog.yaml", language="cql")
    windows = query.simulate().windows
    equal = sum(before.rows == after.rows for before, after in pairwise(windows))
    assert (len(windows), equal) == (10_001, 9_996)


@pytest.mark.parametrize("rows", [answers.MAX_STYLED_ROWS, answers.MAX_STYLED_ROWS + 1])
def test_a_long_table_looks_as_a_short_one(rows: int, capsys: pytest.CaptureFixture[str]) -> None:
    content = [(str(n), "x" * (n % 7), "日" if n % 2 else "a\tb") for n in range(rows)]
    answers.print_table([("tick", "Größe", "日本"), *content])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == rows + 2
    assert lines[:4] == [
        "tick   Größe    日本",
        "────────────────────",
        "0               a\\tb",
        "1      x        日  ",
    ]


def test_a_long_table_with_long_cells_is_folded(capsys: pytest.CaptureFixture[str]) -> None:
    answers.print_table([("x",), *[("y" * 300,)] * (answers.MAX_STYLED_ROWS + 1)])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) == answers.TABLE_WIDTH
    assert len(lines) == 2 + 2 * (answers.MAX_STYLED_ROWS + 1)
