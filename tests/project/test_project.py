"""Project files: what they declare, and the errors of invalid ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_app import transom
from transom.errors import ProjectError, QueryError, TransomError, UsageError
from transom.project.entries import QueryEntry
from transom.project.project import QueryProject, find_project, read_project
from transom.project.settings import RunSettings

CATALOG = "extents: {a: 'pushed (x:integer)', b: {declare: 'pushed (x:integer)', rate: 1 per s}}\n"
AVERAGE = "SELECT AVG(x) FROM a [RANGE 10 SECONDS SLIDE 5 SECONDS]"
LIMITED = "SELECT x FROM a [NOW] WHERE x > limit"


def write_project(folder: Path, text: str) -> Path:
    (folder / "catalog.yaml").write_text(CATALOG)
    (folder / "average.cql").write_text(AVERAGE)
    (folder / "limited.cql").write_text(LIMITED)
    (folder / "transom.toml").write_text(text)
    return folder


def project(folder: Path, text: str) -> QueryProject:
    return read_project(write_project(folder, text))


def test_paths_are_relative_to_the_project(tmp_path: Path) -> None:
    declared = project(tmp_path, '[queries.one]\nfile = "average.cql"\noutput = "parquet:answers/one"\n')
    query = declared.query("one")
    assert query.file == tmp_path / "average.cql"
    assert query.catalog == tmp_path / "catalog.yaml"
    assert query.checkpoint == tmp_path / "state" / "one"
    assert query.settings.sink == f"parquet:{tmp_path}/answers/one"
    assert query.compile().text == AVERAGE


def test_settings_are_those_of_run(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    text = """
    state = "kept"
    [queries.one]
    file = "average.cql"
    start = "10 min"
    until = 2026-01-01T00:00:00Z
    since = 700
    on_change = "rebuild"
    on_data_loss = "continue"
    kernel = "off"
    approximate_sums = true
    """
    query = project(tmp_path, text).query("one")
    compiled = query.compile()
    options = query.settings.options(compiled, query.checkpoint)
    assert (options.start, options.until, options.kernel) == (600, 1767225600, "off")
    assert (options.approximate_sums, options.allow_data_loss, options.once) == (True, True, False)
    assert options.folder == tmp_path / "kept" / "one"
    beginning = query.settings.beginning(compiled, query.checkpoint)
    assert (beginning.since, beginning.on_change) == (700, "rebuild")


def test_every_key_of_a_query_has_an_effect() -> None:
    settings = set(RunSettings.__dataclass_fields__) - {"sink", "after", "once", "prefix"}
    assert settings == set(QueryEntry.model_fields) - {"file", "language", "parameters", "output"}


def test_start_now_is_that_of_the_checkpoint(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    query = project(tmp_path, '[queries.one]\nfile = "average.cql"\nstart = "now"\n').query("one")
    compiled = query.compile()
    assert query.settings.options(compiled, query.checkpoint).start > 1_700_000_000
    query.checkpoint.mkdir(parents=True)
    (query.checkpoint / "plan.json").write_text('{"start": 1717}')
    assert query.settings.options(compiled, query.checkpoint).start == 1717


def test_options_of_the_command_line_come_first() -> None:
    declared = RunSettings(sink="parquet:a", start="now", kernel="off", index=True)
    assert RunSettings(start="5", prefix="--").over(declared) == RunSettings(
        sink="parquet:a", start="5", kernel="off", index=True, prefix="--"
    )


def test_parameters(tmp_path: Path) -> None:
    text = '[queries.one]\nfile = "limited.cql"\nparameters = {limit = 5}\n'
    query = project(tmp_path, text).query("one")
    rows = {"a": [(0, 4), (1, 6), (2, 8)]}
    answers = [query.compile(parameters).simulate(rows).windows for parameters in (None, {"limit": 7})]
    assert [[row for window in windows for row in window.rows] for windows in answers] == [[(6,), (8,)], [(8,)]]


def test_a_limit_of_state(tmp_path: Path) -> None:
    text = '[limits]\nstate_rows = 100\n[queries.one]\nfile = "average.cql"\n[queries.two]\nfile = "two.cql"\n'
    declared = project(tmp_path, text)
    (tmp_path / "average.cql").write_text(AVERAGE.replace("AVG(x)", "x"))
    (tmp_path / "two.cql").write_text(AVERAGE.replace("AVG(x) FROM a", "x FROM b"))
    assert declared.query("two").compile().columns
    with pytest.raises(ProjectError, match="may keep more than 100 rows") as raised:
        declared.query("one").compile()
    assert "rate" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('[queries.a]\nfile = "a.cql"\nouput = "x"\n', "3:1: unknown entry 'ouput'"),
        ("[queries.a]\nfile = 3\n", "2:8: expected text, not 3"),
        ("[queries.a]\n", "1:2: file is missing"),
        ('[queries."a/../b"]\nfile = "a.cql"\n', "1:2: 'a/../b' is not a name for a query"),
        ('[queries."-a"]\nfile = "a.cql"\n', "1:2: '-a' is not a name for a query"),
        ('[queries.a]\nfile = "a.txt"\n', "2:8: the ending of 'a.txt' names no language"),
        ('[queries.a]\nfile = "a.cql"\nstart = true\n', "3:9: start is not a time: true"),
        ('[queries.a]\nfile = "a.cql"\nkernel = "of"\n', "3:10: expected auto, on or off, not 'of'"),
        ('[queries.a]\nfile = "a.cql"\n[queries.a.parameters]\np = [1]\n', "4:5: the parameter 'p' is a list"),
        ('[queries.a]\nfile = "a.cql"\n[queries.A]\nfile = "a.cql"\n', "3:2: 'A' and 'a' have the same name"),
        ("[limits]\nreaders = 0\n", "2:11: expected at least 1, not 0"),
        ('[limits]\nqueries = 1\n[queries.a]\nfile = "a.cql"\n[queries.b]\nfile = "a.cql"\n', "has 2 queries"),
        ("catalog = [\n", "not TOML"),
        ("queries = 5\n", "1:11: expected entries, not 5"),
    ],
)
def test_invalid_entries_are_located(tmp_path: Path, text: str, error: str) -> None:
    with pytest.raises(ProjectError) as raised:
        project(tmp_path, text)
    rendered = str(raised.value)
    assert error in rendered
    assert rendered.startswith(f"{tmp_path}/transom.toml:")
    assert raised.value.hint


def test_two_queries_with_one_sink(tmp_path: Path) -> None:
    text = '[queries.a]\nfile = "a.cql"\noutput = "jsonl:o"\n[queries.b]\nfile = "a.cql"\noutput = "jsonl:o"\n'
    with pytest.raises(ProjectError, match="6:10: 'b' and 'a' have the same output"):
        project(tmp_path, text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no project"):
        read_project(tmp_path)
    (tmp_path / "transom.toml").write_bytes(b"\xff")
    with pytest.raises(ProjectError, match="not UTF-8"):
        read_project(tmp_path)
    (tmp_path / "transom.toml").write_text("#" * (1 << 21))
    with pytest.raises(ProjectError, match="larger than"):
        read_project(tmp_path)


def test_find_project(tmp_path: Path) -> None:
    assert find_project(tmp_path) is None
    write_project(tmp_path, "")
    assert find_project(tmp_path) == find_project(tmp_path / "transom.toml") == tmp_path / "transom.toml"
    assert find_project(tmp_path / "average.cql") is None


def test_a_digest_changes_with_everything_that_a_run_depends_on(tmp_path: Path) -> None:
    text = '[queries.one]\nfile = "average.cql"\n[queries.two]\nfile = "limited.cql"\n'

    def digests() -> dict[str, str]:
        return {name: query.digest() for name, query in read_project(tmp_path).queries.items()}

    write_project(tmp_path, text)
    first = digests()
    assert digests() == first
    (tmp_path / "average.cql").write_text(AVERAGE + "\n")
    second = digests()
    assert (second["one"] != first["one"], second["two"] == first["two"]) == (True, True)
    (tmp_path / "transom.toml").write_text(text.replace('limited.cql"', 'limited.cql"\nindex = true'))
    third = digests()
    assert (third["one"] == second["one"], third["two"] != second["two"]) == (True, True)
    (tmp_path / "catalog.yaml").write_text(CATALOG + "tick: 1 min\n")
    assert all(digest != third[name] for name, digest in digests().items())
    (tmp_path / "average.cql").unlink()
    assert digests()["one"] not in (first["one"], second["one"])


def test_errors_of_a_query(tmp_path: Path) -> None:
    declared = project(tmp_path, '[queries.one]\nfile = "average.cql"\n[queries.two]\nfile = "no.cql"\n')
    with pytest.raises(UsageError, match="cannot read"):
        declared.query("two").compile()
    (tmp_path / "average.cql").write_text("SELECT y FROM a [NOW]")
    with pytest.raises(QueryError, match=r"average\.cql:1:8"):
        declared.query("one").compile()
    with pytest.raises(UsageError) as raised:
        declared.query("on")
    assert raised.value.hint == "did you mean one?"


BOTH = '[queries.one]\nfile = "average.cql"\n[queries.two]\nfile = "limited.cql"\nparameters = {limit = 5}\n'


def test_check_takes_a_project(tmp_path: Path) -> None:
    write_project(tmp_path, BOTH)
    for path in (tmp_path, tmp_path / "transom.toml"):
        checked = transom("check", path)
        assert checked.returncode == 0, checked.stderr
        assert f"{tmp_path}/transom.toml:two: " in checked.stdout
        assert checked.stdout.splitlines()[-1].startswith("2 queries: ")
    one = transom("check", f"{tmp_path}:two")
    assert (one.returncode, "transom.toml:two: fine" in one.stdout, "average" in one.stdout) == (0, True, False)
    (tmp_path / "limited.cql").write_text("SELECT y FROM a [NOW]")
    assert "limited.cql:1:8" in transom("check", tmp_path).stderr


def test_commands_for_one_query_take_its_name(tmp_path: Path) -> None:
    write_project(tmp_path, BOTH)
    both = transom("simulate", tmp_path)
    assert (both.returncode, "has 2 queries" in both.stderr, "transom.toml:two" in both.stderr) == (2, True, True)
    other = transom("run", f"{tmp_path}/transom.toml:tow")
    assert (other.returncode, "did you mean two?" in other.stderr) == (2, True)
    named = transom("explain", f"{tmp_path}:two", "--language", "cql")
    assert (named.returncode, "--language is for one query" in named.stderr) == (2, True)
    assert transom("explain", f"{tmp_path}:two").returncode == 0


def test_an_empty_project(tmp_path: Path) -> None:
    write_project(tmp_path, "")
    checked = transom("check", tmp_path)
    assert (checked.returncode, "no query in" in checked.stderr) == (2, True)


def test_test_takes_a_project(tmp_path: Path) -> None:
    write_project(tmp_path, BOTH)
    case = (
        "query_file: limited.cql\ncatalog: catalog.yaml\nparameters: {limit: 5}\n"
        "cases:\n- name: above\n  inputs: {a: [[0, 4], [1, 6]]}\n  expected: [[0, []], [1, [[6]]]]\n"
    )
    (tmp_path / "limited.test.yaml").write_text(case)
    tested = transom("test", tmp_path / "transom.toml")
    assert tested.returncode == 0, tested.stdout + tested.stderr
    assert "1 case: 1 passed" in tested.stdout


def test_run_needs_a_checkpoint_outside_a_project(tmp_path: Path) -> None:
    write_project(tmp_path, BOTH)
    refused = transom("run", tmp_path / "average.cql", "--log-format", "text")
    assert (refused.returncode, "a run needs a checkpoint" in refused.stderr) == (2, True)


def test_errors_are_errors_of_transom() -> None:
    assert issubclass(ProjectError, TransomError)
    assert ProjectError("x").exit_code == 1
