"""Control characters of data and queries do not reach a terminal; CSV is not computed by a spreadsheet."""

from __future__ import annotations

import json
import os
import pty
import sys
from pathlib import Path

import pytest

from tests.cli.test_app import transom
from transom.errors import DataError
from transom.model.answer import Answer
from transom.model.bag import Element
from transom.printable import escape, escape_json, escape_lines

EVIL = "\x1b]0;owned\x07\x1b[2J"
CATALOG = "extents:\n  s:\n    kind: pushed\n    attributes: {n: integer, x: string}\n    source: {files: s.FORM}\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A stream with a row that would clear the screen, and a query for it."""
    (tmp_path / "catalog.yaml").write_text(CATALOG.replace("FORM", "csv"))
    (tmp_path / "s.csv").write_text(f"tick,n,x\n0,-1,{EVIL}\n1,-2,=1+1\n2,-3,-4.5\n3,-4,@a\n", newline="")
    (tmp_path / "q.sneeql").write_text("SELECT n, x FROM s;")
    return tmp_path


def on_terminal(*words: str) -> str:
    """What a command prints on a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "transom", *words])  # noqa: S606
    found = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        found += piece
    os.waitpid(child, 0)
    os.close(terminal)
    return found.decode()


def test_escapes():
    assert escape("a\x1b\n\t\x9b\u202e\ud800é \U0001f600") == "a\\x1b\\n\\t\\x9b\\u202e\\ud800é \U0001f600"
    assert escape_lines("a\n\tb\r\x07") == "a\n\tb\\r\\x07"
    line = json.dumps({"x": "\x9b\u2028\x7f"}, ensure_ascii=False)
    assert escape_json(line).isascii()
    assert json.loads(escape_json(line)) == json.loads(line)


def test_error_escapes_data():
    shown = DataError(f"'{EVIL}' is not of type integer", detail=EVIL, hint=EVIL, source=f"{EVIL}.csv").render()
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert shown.count("\\x1b[2J") == 4


@pytest.mark.parametrize("form", ["table", "csv", "jsonl"])
def test_simulate_escapes_on_terminal(folder, form):
    shown = on_terminal("simulate", str(folder / "q.sneeql"), "--format", form)
    assert "owned" in shown
    assert EVIL not in shown
    assert "\x1b]0" not in shown
    assert "\x07" not in shown


def test_simulate_keeps_data_in_pipe(folder):
    table = transom("simulate", folder / "q.sneeql").stdout
    assert "\x1b" not in table
    assert "\\x1b]0;owned\\x07\\x1b[2J" in table
    assert f"0,1,-1,{EVIL}\n" in transom("simulate", folder / "q.sneeql", "--format", "csv").stdout


def test_error_and_warning_of_command_escape_data(folder):
    (folder / "catalog.yaml").write_text(CATALOG.replace("FORM", "csv").replace("x: string", "x: integer"))
    failed = transom("simulate", folder / "q.sneeql")
    assert failed.returncode == 1
    assert "\x1b" not in failed.stderr
    assert "\\x1b]0;owned" in failed.stderr
    (folder / "q.sneeql").write_text(f"SELECT n FROM s WHERE x = '{EVIL}';")
    (folder / "catalog.yaml").write_text(CATALOG.replace("FORM", "csv"))
    shown = transom("explain", folder / "q.sneeql", "--stage", "algebra").stdout
    assert "owned" in shown
    assert "\x1b" not in shown


def test_formulas_in_csv(folder):
    guarded = transom("simulate", folder / "q.sneeql", "--format", "csv").stdout
    assert guarded.splitlines()[-3:] == ["1,2,-2,'=1+1", "2,3,-3,-4.5", "3,4,-4,'@a"]
    exact = transom("simulate", folder / "q.sneeql", "--format", "csv", "--no-csv-guard").stdout
    assert exact.splitlines()[-3:] == ["1,2,-2,=1+1", "2,3,-3,-4.5", "3,4,-4,@a"]


def test_formulas_in_python():
    texts = ("=a", "+a", "-a", "@a", "\ta", "\ra", "＝a", "a=", "+1.5e3", "-", "")
    answer = Answer(("=x",), "stream", tuple(Element(0, n, (text,)) for n, text in enumerate(texts)))
    exact, guarded = list(answer.csv_lines()), list(answer.csv_lines(guard=True))
    assert exact[1] == "0,=a"
    assert exact[0] == "tick,=x"
    assert guarded[0] == "tick,'=x"
    changed = [text for text, one, other in zip(texts, exact[1:], guarded[1:]) if one != other]
    assert changed == ["=a", "+a", "-a", "@a", "\ta", "\ra", "＝a", "-"]
