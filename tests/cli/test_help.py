"""What `--help` says, old names of options, and the completion of shells."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest

from tests.cli.test_app import ROOT, transom
from transom.cli.app import app, app_for

QUERY = ROOT / "examples" / "roads" / "q1.sneeql"


def help_of(*words: str) -> str:
    """What `--help` prints, on lines that are not wrapped, without the frame."""
    with mock.patch.dict(os.environ, {"COLUMNS": "300"}):
        return re.sub(r"[│╭╮╰╯─]", " ", transom(*words, "--help").stdout)


@pytest.mark.parametrize("name", ["simulate", "run", "replay"])
def test_help_of_a_command_with_answers_says_that_times_are_in_utc(name: str) -> None:
    assert "All times in the answer are in UTC, also if the catalog declares a zone" in help_of(name)


def test_the_ways_to_answer_a_query_are_told_apart() -> None:
    text = help_of()
    assert re.search(r"simulate +Evaluate a query over recorded data in plain Python", text)
    assert re.search(r"replay +Evaluate a query over recorded data on Spark, as one batch", text)
    assert re.search(r"run +Evaluate a query over live streams on Spark until you stop it", text)
    assert re.search(r"verify +Compare the answers of simulate, of replay and of run", text)


@pytest.mark.parametrize("name", ["check", "fmt", "explain", "simulate", "picture", "map", "run", "replay", "verify"])
def test_help_of_a_command_on_queries(name: str) -> None:
    text = help_of(name)
    assert "<bool>" not in text + help_of()
    assert ".rq or .sparql" in text
    for option in ("--query", "--language", "--catalog", "--parameter", "--quiet", "--strict"):
        assert option in text
    assert "--sink" not in text
    assert not re.search(r"--out\b", text)


@pytest.mark.parametrize(("name", "old"), [("run", "--sink"), ("replay", "--out")])
def test_the_old_name_of_output_still_works_with_a_warning(name: str, old: str, tmp_path: Path) -> None:
    outputs: list[str] = []

    def start(query: Any, master: str | None, *more: Any) -> Any:
        outputs.append(more[0].sink)
        return SimpleNamespace()

    def answer(query: Any, master: str | None, out: str, view: Any, **more: Any) -> None:
        outputs.append(out)

    more = ["--checkpoint", tmp_path / "k", "--once"] if name == "run" else []
    with (
        mock.patch("transom.cli.run.start_run", start),
        mock.patch("transom.cli.run.watch_and_report"),
        mock.patch("transom.cli.replay.replay_query", answer),
    ):
        for option in (old, "--output", "-o"):
            done = transom(name, QUERY, option, "jsonl:new", *more)
            assert done.returncode == 0, done.stderr
            assert done.stderr == (f"warning: {old} is an old name of --output\n" if option == old else "")
        both = transom(name, QUERY, old, "jsonl:new", "-o", "jsonl:new", *more)
        assert transom(name, QUERY, *more).returncode == 0
    assert (both.returncode, "are the same option" in both.stderr) == (2, True)
    assert outputs == ["jsonl:new"] * 3 + ["console"]


@pytest.mark.parametrize(("typed", "offered"), [("transom simu", "simulate"), ("transom check --stri", "--strict")])
def test_shells_complete_commands_and_options(typed: str, offered: str) -> None:
    environment = {
        **os.environ,
        "_TRANSOM_COMPLETE": "complete_bash",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
    }
    program = "import sys; sys.argv = ['transom']; from transom.cli.app import main; main()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False)
    assert offered in done.stdout.split(), done.stderr


@pytest.mark.parametrize(
    ("words", "count"),
    [(["check", "x"], 1), (["dead-letters"], 1), (["chekc"], None), ([], None), (["--version"], None)],
)
def test_only_the_command_that_is_called_is_built(words: list[str], count: int | None) -> None:
    """All commands are there for help and for typing mistakes; the app itself stays whole."""
    every = len(app.registered_commands)
    assert len(app_for(words).registered_commands) == (count or every)
    assert len(app.registered_commands) == every > 20
