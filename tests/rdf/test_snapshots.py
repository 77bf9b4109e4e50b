"""The peers of the benchmark of statements: Oxigraph, asked slide by slide, against the reference engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
import pyarrow.parquet as pq
from benchmarks.triples import EACH, NAMES, SNAPSHOT, TEXT, Triples, checked
from benchmarks.triples import query as asked
from benchmarks.triples_by_hand import Store

import transom

WIDTH, SLIDE, ROWS = 60, 10, 120


@pytest.fixture
def triples(tmp_path: Path) -> Triples:
    return Triples(tmp_path, ROWS, apart=1)


def changes(triples: Triples) -> list[tuple[Any, ...]]:
    """What the reference engine answers, as Spark would write it: instants at which ticks end."""
    text = TEXT.replace("RANGE 60 S SLIDE 1 S", f"RANGE {WIDTH} SLIDE {SLIDE}")
    query = transom.compile(text, asked(local=False).catalog, language="sparql")
    answer = query.simulate({"readings": [(tick, *terms) for tick, terms in triples.statements(0, ROWS)]})
    found = []
    for one in answer.solutions:
        row = tuple(map(str, answer.terms(one.payload)))
        assert one.end is not None
        found += [((one.start + 1) * 1000, one.n, *row), ((one.end + 1) * 1000, -one.n, *row)]
    return found


def write(folder: Path, rows: list[tuple[Any, ...]]) -> Path:
    folder.mkdir()
    columns = dict(zip(("tick", "change", *NAMES), map(list, zip(*rows))))
    ticks = pa.array(columns["tick"], pa.timestamp("us")).cast(pa.timestamp("ns"))
    pq.write_table(pa.table({**columns, "tick": ticks}), folder / "0.parquet")
    return folder


def test_snapshots_are_what_the_reference_engine_says(triples: Triples, tmp_path: Path) -> None:
    peer = Store.of(triples.statements(0, ROWS), SNAPSHOT, WIDTH, SLIDE)
    rows = changes(triples)
    assert len(rows) == 2 * (ROWS // EACH - 2)
    first = write(tmp_path / "right", rows)
    assert checked(first, peer, 0, ROWS // SLIDE) > 0
    assert checked(first, peer, 8, ROWS // SLIDE) > 0
    with pytest.raises(SystemExit, match="the answers differ"):
        checked(write(tmp_path / "less", rows[:5] + rows[6:]), peer, 0, ROWS // SLIDE)
    late = [(tick + 20_000, *others) for tick, *others in rows]
    with pytest.raises(SystemExit, match="the answers differ"):
        checked(write(tmp_path / "late", late), peer, 0, ROWS // SLIDE)


def test_all_forms_say_the_same(tmp_path: Path) -> None:
    triples = Triples(tmp_path, ROWS, apart=0).write("messages", "statements", "pivoted")
    messages = pq.read_table(tmp_path / "messages").to_pylist()
    single = [(row["tick"], one["s"], one["p"], one["o"]) for row in messages for one in row["statements"]]
    assert single == [tuple(row.values()) for row in pq.read_table(tmp_path / "statements").to_pylist()]
    assert single[:-1] == [(tick, *terms) for tick, terms in triples.statements(0, ROWS)]
    wide = pq.read_table(tmp_path / "pivoted").to_pylist()
    assert [(row["tick"], row["x"]) for row in wide] == list(dict.fromkeys((tick, s) for tick, s, _, _ in single))
    told = {(s, p): o for _, s, p, o in single}
    for row in wide:
        assert all(row[own] == told.get((row["x"], f"<http://example.org/{own}>")) for own in NAMES[1:])
    assert sum(None not in row.values() for row in wide[:-1]) == ROWS // EACH - 2
