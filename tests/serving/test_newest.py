"""The newest answer of each key: which rows count, in which order, how many, and for which queries."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.serving.recorded import Served, tick_end, write_lines, write_project, write_table
from transom.errors import DataError, UsageError
from transom.serving import answers
from transom.serving.answers import AnswerFolder
from transom.serving.newest import KeyColumns, NewestRows, newest_of_each

ROAD = "RSTREAM(SELECT site, temp FROM road [NOW])"
WINDOWS = "SELECT site, temp FROM road [RANGE 4 SECONDS SLIDE 2 SECONDS]"
Rows = Iterable[Mapping[str, Any]]


def columns_of(folder: Path, text: str, columns: str, ending: str = "cql") -> KeyColumns:
    folder.mkdir(exist_ok=True)
    served = Served(write_project(folder, {}))
    if ending == "rq":
        with (folder / "catalog.yaml").open("a") as catalog:
            catalog.write("rdf:\n  told: {stream: 'http://ex/told', files: told/*.csv, rate: 9 per s}\n")
    (folder / f"q.{ending}").write_text(text)
    project = folder / "transom.toml"
    project.write_text(f'[queries.q]\nfile = "q.{ending}"\noutput = "parquet:out"\n')
    served.steps()
    member = served.supervisor.members["q"]
    assert member.last is not None, member.error
    return KeyColumns(member.last, columns)


@pytest.fixture
def by_site(tmp_path: Path) -> KeyColumns:
    return columns_of(tmp_path / "project", ROAD, "site")


def newest(columns: KeyColumns, rows: Rows, limit: int = 100, most: int = 1000) -> list[tuple[Any, ...]]:
    """The newest rows, as tick, site and temp; `run` of a row is the number of its run."""
    collected = NewestRows(columns, limit, most)
    for row in rows:
        collected.add({**row, "tick": tick_end(row["tick"])}, row.get("run", 0))
    ticks = {tick_end(tick): tick for tick in range(10_000)}
    return [(ticks[row["tick"]], row["site"], row["temp"]) for row in collected.rows()]


def row(tick: int, site: Any, temp: Any = None, **more: Any) -> dict[str, Any]:
    return {"tick": tick, "site": site, "temp": temp, **more}


def test_all_rows_of_the_newest_tick_count(by_site: KeyColumns) -> None:
    rows = [row(1, "a", 1), row(2, "b", 2), row(3, "a", 3), row(3, "a", 4), row(2, "a", 5)]
    assert newest(by_site, rows) == [(2, "b", 2), (3, "a", 3), (3, "a", 4)]


def test_several_columns_and_values_that_do_not_equal_themselves(tmp_path: Path) -> None:
    columns = columns_of(tmp_path, ROAD, "site,temp")
    rows = [row(tick, site, temp) for tick in (1, 2) for site in (None, 1) for temp in (math.nan, None, [1], {"x": 2})]
    kept = newest(columns, rows)
    assert [(tick, site) for tick, site, _ in kept] == [(2, None)] * 4 + [(2, 1)] * 4


def test_a_newer_run_counts_at_the_same_tick(by_site: KeyColumns) -> None:
    """A new checkpoint answers the ticks again, into the same folder."""
    assert newest(by_site, [row(1, "a", "new", run=1), row(1, "a", "old", run=0)]) == [(1, "a", "new")]
    assert newest(by_site, [row(1, "a", "new", run=1), row(2, "a", "old", run=0)]) == [(2, "a", "old")]


def test_windows_count_in_their_order_and_empty_ones_not(tmp_path: Path) -> None:
    columns = columns_of(tmp_path, WINDOWS, "site")
    rows = [row(1, 1, 10, seq=2, empty=False), row(1, 1, 20, seq=1, empty=False), row(5, None, None, seq=1, empty=True)]
    assert newest(columns, rows) == [(1, 1, 10)]


def test_the_newest_keys_are_kept_exactly(by_site: KeyColumns) -> None:
    """Whatever the order of the rows is: as many keys as the limit needs, each with all rows of its newest tick."""
    generator = random.Random(7)
    left_out = 0
    for _ in range(300):
        limit, keys = generator.randint(1, 6), generator.randint(1, 30)
        ticks = generator.sample(range(200), generator.randint(1, 60))
        rows = [row(tick, tick % keys, n) for tick in ticks for n in range(generator.randint(1, 3))]
        generator.shuffle(rows)
        last = {site: max(r["tick"] for r in rows if r["site"] == site) for site in {r["site"] for r in rows}}
        expected = sorted((r["tick"], r["site"]) for r in rows if r["tick"] == last[r["site"]])
        collected = NewestRows(by_site, limit, 1000)
        for r in rows:
            collected.add({**r, "tick": tick_end(r["tick"])}, 0)
        kept = [(r["tick"], r["site"]) for r in collected.rows()]
        assert kept == [(tick_end(tick), site) for tick, site in expected[-limit:]]
        assert collected.left_out == (len(expected) > limit)
        left_out += collected.left_out
    assert 50 < left_out < 300


def test_few_rows_are_in_memory(by_site: KeyColumns) -> None:
    collected, most = NewestRows(by_site, 10, 1000), 0
    for number in range(5000):
        collected.add({"tick": tick_end(number), "site": number, "temp": 0}, 0)
        most = max(most, sum(len(rows) for _, rows in collected._groups.values()))
    assert (most, len(collected.rows())) == (20, 10)


def test_too_many_rows_of_one_tick_are_an_error(by_site: KeyColumns) -> None:
    assert len(newest(by_site, [row(1, "a", n) for n in range(20)], limit=5, most=10)) == 5
    with pytest.raises(DataError, match="more than 20 rows"):
        newest(by_site, [row(1, "a", n) for n in range(21)], limit=5, most=10)


@pytest.mark.parametrize(
    ("text", "ending", "hint"),
    [
        ("ISTREAM(SELECT site FROM road [NOW])", "cql", "RSTREAM"),
        ("DSTREAM(SELECT site FROM road [RANGE 5 SECONDS])", "cql", "RSTREAM"),
        (
            "SELECT ?site FROM STREAM <http://ex/told> WINDOW RANGE 5 S SLIDE WHERE { ?site <http://ex/n> ?o }",
            "rq",
            "change",
        ),
    ],
)
def test_answers_that_are_changes_are_refused(tmp_path: Path, text: str, ending: str, hint: str) -> None:
    (tmp_path / "project").mkdir()
    with pytest.raises(UsageError, match="answers that are changes") as raised:
        columns_of(tmp_path / "project", text, "site", ending)
    assert hint in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("columns", "message", "hint"),
    [
        ("sight", "no column of the answers is called sight", "did you mean site?"),
        ("site,", "is called ", "write one of tick, site, temp"),
        ("", "names no column", "write one of tick, site, temp"),
        ("site temp", "is called site temp", "did you mean"),
        ("a\nb", "no list of columns", "write newest=a,b"),
        ("site\n", "no list of columns", "write newest=a,b"),
        ('"site', "no list of columns", "write newest=a,b"),
        ("\0", "no list of columns", "write newest=a,b"),
    ],
)
def test_columns_that_do_not_exist(tmp_path: Path, columns: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        columns_of(tmp_path, ROAD, columns)
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")


def test_a_column_whose_name_has_a_comma(tmp_path: Path) -> None:
    text = 'RSTREAM(SELECT site AS "a, b", temp FROM road [NOW])'
    assert columns_of(tmp_path, text, '"a, b",tick').names == ["a, b", "tick"]


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_files_are_read(tmp_path: Path, by_site: KeyColumns, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    sizes = []
    for batch in range(4):
        if kind == "parquet":
            sizes.append(write_table(out, batch, [row(batch, batch % 3, batch)]).stat().st_size)
        else:
            path = write_lines(out, batch, [(batch, batch)])
            path.write_text(path.read_text().replace('"x"', f'"site": {batch % 3}, "x"'))
            sizes.append(path.stat().st_size)
    folder = AnswerFolder(f"{kind}:{out}")

    def read(**more: Any) -> tuple[list[Any], bool]:
        found = newest_of_each(folder, NewestRows(by_site, 100, 100), **more)
        return [(r["site"], answers.tick_end(r)) for r in found.rows], found.more

    assert read() == ([(1, tick_end(1)), (2, tick_end(2)), (0, tick_end(3))], False)
    assert read(first=tick_end(2)) == ([(2, tick_end(2)), (0, tick_end(3))], False)
    monkeypatch.setattr(answers, "MOST_BYTES", sizes[2] + sizes[3])
    assert read() == ([(2, tick_end(2)), (0, tick_end(3))], True)
    monkeypatch.setattr(answers, "MOST_BYTES", 1)
    assert read() == ([(0, tick_end(3))], True)


def test_a_folder_that_does_not_exist_yet(tmp_path: Path, by_site: KeyColumns) -> None:
    found = newest_of_each(AnswerFolder(f"parquet:{tmp_path / 'none'}"), NewestRows(by_site, 1, 1))
    assert (found.rows, found.more) == ([], False)


@pytest.mark.parametrize("content", ["", "PAR1 and no more"])
def test_a_damaged_file_is_an_error(tmp_path: Path, by_site: KeyColumns, content: str) -> None:
    path = write_table(tmp_path, 0, [row(0, 1)])
    path.write_text(content)
    for read in (lambda f: f.newest(1), lambda f: newest_of_each(f, NewestRows(by_site, 1, 1))):
        with pytest.raises(UsageError, match="cannot read part"):
            read(AnswerFolder(f"parquet:{tmp_path}"))


@pytest.mark.parametrize("line", ["{", "5", "\x80"])
def test_a_damaged_line_is_an_error(tmp_path: Path, line: str) -> None:
    path = write_lines(tmp_path, 0, [(0, 1)])
    path.write_bytes(line.encode("latin-1") + b"\n")
    with pytest.raises(UsageError, match="cannot read part"):
        AnswerFolder(f"jsonl:{tmp_path}").newest(1)


def test_a_file_that_is_removed_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_table(tmp_path, 0, [row(0, 1)])
    folder = AnswerFolder(f"parquet:{tmp_path}")
    files = folder.files()
    os.unlink(path)
    with pytest.raises(UsageError, match="was removed"):
        folder.rows(files, 1)
