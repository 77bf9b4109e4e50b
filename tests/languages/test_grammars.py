"""Parse tables in the package: they belong to the grammars, and give the parsers that the grammars give."""

from __future__ import annotations

import re
from pathlib import Path

import lark
import pytest

from transom.languages import grammars

ROOT = Path(__file__).parents[2]
TABLES = {name: ROOT / "src" / "transom" / "languages" / name / "grammar.tables" for name in grammars.GRAMMARS}
LOCKED = re.search(r"^lark==(\S+)$", (ROOT / "requirements-dev.txt").read_text("utf-8"), re.MULTILINE)[1]  # type: ignore[index]
AGAIN = "write them again: pytest tests/languages/test_grammars.py --rewrite"

locked_lark = pytest.mark.skipif(
    lark.__version__ != LOCKED, reason="the tables are those of the locked version of Lark"
)


@locked_lark
@pytest.mark.parametrize("language", grammars.GRAMMARS)
def test_tables_belong_to_the_grammar_and_to_the_locked_version_of_lark(language: str, rewrite: bool) -> None:
    if rewrite:
        with TABLES[language].open("wb") as file:
            grammars.save(language, file)
    loaded = grammars.load(language)
    assert loaded is not None, f"the tables of {language} are those of another grammar or version of Lark; {AGAIN}"
    assert tables(loaded) == tables(grammars.build(language)), AGAIN


def tables(parser: lark.Lark) -> object:
    """Terminals and parse table, with states numbered as they are reached: Lark's numbers vary from run to run."""
    table = parser.parser.parser._parse_table  # type: ignore[attr-defined]
    numbers = {state: n for n, state in enumerate(table.start_states.values())}
    rows = []
    for state in (reached := list(numbers)):
        row = []
        for token, (action, goal) in sorted(table.states[state].items()):
            if str(action) == "Shift" and goal not in numbers:
                numbers[goal] = len(numbers)
                reached.append(goal)
            row.append((token, str(action), numbers[goal] if str(action) == "Shift" else str(goal)))
        rows.append(row)
    assert len(rows) == len(table.states)
    return rows, sorted((terminal.name, str(terminal.pattern), terminal.priority) for terminal in parser.terminals)


@pytest.mark.parametrize("header", ["lark 0.0.0 grammar none", "", "no line at all"])
def test_tables_of_another_grammar_or_version_are_not_loaded(
    header: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sneeql").mkdir()
    assert with_tables(monkeypatch, tmp_path) is None, "no file"
    (tmp_path / "sneeql" / "grammar.tables").write_bytes(f"{header}\n".encode() + b"not a pickle")
    assert with_tables(monkeypatch, tmp_path) is None


def with_tables(monkeypatch: pytest.MonkeyPatch, folder: Path) -> lark.Lark | None:
    key = grammars.key("sneeql")
    with monkeypatch.context() as patch:
        patch.setattr(grammars, "files", lambda _: folder)
        patch.setattr(grammars, "key", lambda _: key)
        return grammars.load("sneeql")
