"""Where a command takes its queries from: files, folders, stdin and the command line; several at once."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path
from unittest import mock

import pytest

from tests.cli.test_app import ROOT, Result, transom
from transom.cli.files import detect_language, queries_below
from transom.errors import UsageError

WINDOWS = ROOT / "examples" / "windows"
CATALOG = str(WINDOWS / "catalog.yaml")
SLIDING = "SELECT weight FROM gate [FROM NOW-10 TO NOW SLIDE 20 SEC]"


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder with a query that is right, one with a warning, one that is wrong, and files that are no queries."""
    folder = Path(shutil.copytree(ROOT / "examples" / "roads", tmp_path / "mixed"))
    for file in folder.glob("*.sneeql"):
        file.unlink()
    (folder / "fine.sneeql").write_text("SELECT road.site FROM road WHERE road.temp < 50")
    (folder / "deep").mkdir()
    shutil.copy(folder / "catalog.yaml", folder / "deep")
    (folder / "deep" / "odd.sneeql").write_text("SELECT temp FROM road [FROM NOW TO NOW-1 SLIDE 5 MIN]")
    (folder / ".hidden").mkdir()
    (folder / ".hidden" / "lost.sneeql").write_text("no query")
    return folder


def from_stdin(text: bytes, *words: str | Path) -> Result:
    """Run the command line with a text on stdin."""
    with mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(text))):
        return transom(*words)


def test_queries_of_a_folder_are_those_below_it_but_in_hidden_folders(mixed: Path) -> None:
    assert [path.name for path in queries_below(mixed)] == ["odd.sneeql", "fine.sneeql"]
    (mixed / "empty").mkdir()
    with pytest.raises(UsageError, match="no query in the folder"):
        queries_below(mixed / "empty")


def test_check_of_several_queries_ends_with_their_highest_code(mixed: Path) -> None:
    checked = transom("check", mixed)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert checked.stdout.splitlines()[-1] == "2 queries: 1 fine, 1 with warnings"
    (mixed / "wrong.sneeql").write_text("SELECT road.site FROM road WHERE road.tmep < 50")
    checked = transom("check", mixed)
    assert checked.returncode == 1
    assert checked.stdout.splitlines()[-1] == "3 queries: 1 fine, 1 with warnings, 1 wrong"
    assert f"error: {mixed}/wrong.sneeql:1:34: no attribute is called road.tmep" in checked.stderr
    (mixed / "other").mkdir()
    (mixed / "other" / "alone.sneeql").write_text("SELECT site FROM road")
    checked = transom("check", mixed)
    assert checked.returncode == 2
    assert f"error: {mixed}/other/alone.sneeql: no catalog.yaml beside" in checked.stderr


def test_a_query_that_is_named_twice_is_checked_once(mixed: Path) -> None:
    checked = transom("check", mixed / "fine.sneeql", mixed / "fine.sneeql")
    assert checked.stdout.count("fine.sneeql: fine") == 1


def test_check_of_a_single_query_has_no_totals(mixed: Path) -> None:
    assert "queries" not in transom("check", mixed / "fine.sneeql").stdout


@pytest.mark.parametrize("name", ["check", "explain", "simulate"])
def test_a_query_from_stdin_gives_what_the_file_gives(name: str) -> None:
    file = WINDOWS / "sliding.sneeql"
    expected = transom(name, file).stdout.replace(str(file), "<stdin>")
    assert from_stdin(file.read_bytes(), name, "-", "--catalog", CATALOG).stdout == expected
    assert transom(name, "-q", file.read_text(), "--catalog", CATALOG).stdout == expected.replace("<stdin>", "<query>")


def test_stdin_is_utf_8() -> None:
    refused = from_stdin("SELECT 'ü'".encode("latin-1"), "check", "-", "--catalog", CATALOG)
    assert refused.returncode == 1
    assert "<stdin>: the query is not UTF-8 text" in refused.stderr


def test_the_catalog_of_a_query_without_a_file_is_in_the_current_folder() -> None:
    assert transom("check", "-q", SLIDING, cwd=WINDOWS).returncode == 0
    refused = transom("check", "-q", SLIDING, cwd=ROOT)
    assert refused.returncode == 2
    assert "no catalog.yaml in this folder" in refused.stderr


def test_the_language_is_that_of_the_only_grammar_that_accepts_the_query() -> None:
    assert detect_language(SLIDING) == "sneeql"
    assert detect_language("SELECT weight FROM gate [RANGE 10 SECONDS]") == "cql"
    assert detect_language("ASK { ?s ?p ?o }") == "sparql"
    with pytest.raises(UsageError, match="the query is both sneeql and cql"):
        detect_language("SELECT weight FROM gate")
    with pytest.raises(UsageError, match="follows the grammar of no language"):
        detect_language("SELECT FROM")


def test_language_decides_before_the_ending(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("SELECT weight FROM gate [RANGE 10 SECONDS]")
    refused = transom("check", tmp_path / "q.txt", "--catalog", CATALOG)
    assert refused.returncode == 2
    assert "name the language with --language" in refused.stderr
    assert transom("check", tmp_path / "q.txt", "--language", "cql", "--catalog", CATALOG).returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check"], "no query"),
        (["simulate"], "no query"),
        (["check", "q.sneeql", "-q", SLIDING], "--query takes the place of a file"),
        (["explain", "examples/roads", "--format", "json"], "explain writes one query as json"),
        (["picture", "examples/roads", "-o", "all.svg"], "all.svg is no folder for 3 pictures"),
        (["simulate", "examples/roads"], "cannot read examples/roads"),
    ],
)
def test_queries_that_a_command_does_not_take(words: list[str], message: str) -> None:
    refused = transom(*words, cwd=ROOT)
    assert refused.returncode == 2
    assert message in refused.stderr


def test_fmt_of_several_files_and_of_stdin(mixed: Path) -> None:
    (mixed / "tidy.sneeql").write_text("SELECT road.site\nFROM road\nWHERE road.temp < 50\n")
    first = transom("fmt", "--check", mixed)
    assert first.returncode == 1
    assert first.stdout.splitlines()[-1] == "3 queries: 1 in canonical form, 2 would change"
    assert transom("fmt", mixed).stdout.splitlines()[-1] == "3 queries: 1 in canonical form, 2 written anew"
    assert transom("fmt", "--check", mixed).returncode == 0
    words = ["--language", "cql", "--catalog", CATALOG]
    written = from_stdin(b"select weight from gate [now]", "fmt", "-", *words)
    assert written.stdout == "SELECT weight\nFROM gate [NOW]\n"
    would = from_stdin(
        b"select weight from gate [now]", "fmt", "-", "--check", "--language", "cql", "--catalog", CATALOG
    )
    assert (would.returncode, would.stdout) == (1, "<stdin>: would change\n")


def test_explain_of_several_queries_names_each(mixed: Path) -> None:
    lines = transom("explain", mixed).stdout.splitlines()
    assert [line for line in lines if line.endswith(".sneeql:")] == [
        f"{mixed}/deep/odd.sneeql:",
        f"{mixed}/fine.sneeql:",
    ]
    assert json.loads(transom("explain", mixed / "fine.sneeql", "--format", "json").stdout)


def test_pictures_of_several_queries_go_into_a_folder(tmp_path: Path) -> None:
    queries = [WINDOWS / "sliding.sneeql", ROOT / "examples" / "roads" / "q1.sneeql"]
    drawn = transom("picture", *queries, "--until", "40", "-o", tmp_path / "drawn")
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stdout.splitlines()[-1] == "2 queries: 2 drawn"
    for name in ("windows/sliding.sneeql.svg", "roads/q1.sneeql.svg"):
        assert (tmp_path / "drawn" / name).read_text("utf-8").startswith("<svg")


def test_an_error_in_the_catalog_is_printed_once(tmp_path: Path) -> None:
    """Four queries with one wrong catalog are four wrong queries, and one error to mend."""
    (tmp_path / "catalog.yaml").write_text("extents: {a: pushed (x:whole)}", "utf-8")
    for number in range(1, 5):
        (tmp_path / f"r{number}.sneeql").write_text("SELECT x FROM a", "utf-8")
    done = transom("check", tmp_path)
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[0].startswith(f"error: {tmp_path / 'catalog.yaml'}:1:")
    assert [line for line in lines if line.startswith("error: ")][1:] == [
        f"error: {tmp_path / f'r{number}.sneeql'}: not read, because of the error in the catalog above"
        for number in (2, 3, 4)
    ]
    assert done.stdout.splitlines()[-1] == "4 queries: 4 wrong"
