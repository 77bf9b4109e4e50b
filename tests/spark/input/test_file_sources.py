"""Files as streams: files of one instant, files that grow, files that go; and a run that becomes idle."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from transom.errors import CheckpointError, QueryWarning
from transom.spark.input.file_order import warn_of_file_order

CATALOG = """
extents:
  s:
    declare: pushed (n:integer)
    source: {files: 's-*.csv'}
"""
QUERY = "RSTREAM(SELECT COUNT(*) AS c, SUM(n) AS t FROM s [FROM NOW-9 TO NOW SLIDE 5 SEC])"


def write(folder: Path, number: int) -> Path:
    """Ten seconds of rows; names go against time, and all files were changed in one instant."""
    rows = "".join(f"{10 * number + second},{second}\n" for second in range(10))
    file = folder / f"s-{9 - number}.csv"
    file.write_text("tick,n\n" + rows)
    os.utime(file, (1_000, 1_000))
    return file


def test_files_of_one_instant_and_changed_files(spark: Any, tmp_path: Path) -> None:
    files = [write(tmp_path, number) for number in range(6)]
    query = transom.compile(QUERY, transom.Catalog.read(CATALOG, folder=tmp_path))

    def run() -> Any:
        running = query.start(spark, f"jsonl:{tmp_path}/out", tmp_path / "state", until=79, once=True)
        running.wait()
        return running

    assert run().changed_files() == []
    found = [json.loads(line) for file in (tmp_path / "out").glob("*.json") for line in file.read_text().splitlines()]
    expected = [element.row for element in query.simulate(until=79).elements]
    assert sorted((row["c"], row.get("t", 0)) for row in found) == sorted((c, t or 0) for c, t in expected)

    with files[0].open("a") as file:
        file.write("9,1\n")
    assert run().changed_files() == [files[0]]

    broken = write(tmp_path, 6)
    broken.write_text("tick,n\n60,many\n")
    with pytest.raises(Exception, match="is not of type integer"):
        run()
    broken.unlink()
    with pytest.raises(CheckpointError, match=r"s-3\.csv was to be read, and is gone"):
        run()
    write(tmp_path, 6)
    run()

    reader = spark.readStream.schema("tick long, n long").option("header", True)
    with pytest.warns(QueryWarning, match="5 files of s have the same modification time"):
        warn_of_file_order({"s": reader.option("maxFilesPerTrigger", 1).csv(f"{tmp_path}/s-[4-9].csv").select("n")})
    with pytest.warns(QueryWarning, match="newest files first"):
        warn_of_file_order({"s": reader.option("latestFirst", True).csv(str(tmp_path))})
    warn_of_file_order({"s": spark.readStream.text(str(tmp_path))})


RDF = """
prefixes: {"": "http://e.org/"}
rdf:
  temps: {stream: 'http://e.org/temps', files: 'm-*.csv'}
  plan: {graph: 'http://e.org/plan', files: plan.ttl}
"""
BESIDE = """
SELECT ?s ?t ?r FROM <http://e.org/plan> FROM STREAM <http://e.org/temps> WINDOW ELEMS 2
WHERE { ?s :temp ?t ; :in ?r }
"""


def test_stored_graph_beside_stream_becomes_idle(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "plan.ttl").write_text("<http://e.org/a> <http://e.org/in> <http://e.org/room> .\n")
    rows = "".join(f"{tick},<http://e.org/a>,<http://e.org/temp>,{tick}\n" for tick in range(4))
    (tmp_path / "m-0.csv").write_text("t,s,p,o\n" + rows)
    query = transom.compile(BESIDE, transom.Catalog.read(RDF, folder=tmp_path), language="sparql")
    running = query.start(spark, f"jsonl:{tmp_path}/out", tmp_path / "state", kernel="off")
    idle = threading.Thread(target=running.stream.processAllAvailable, daemon=True)
    try:
        idle.start()
        idle.join(180)
        assert not idle.is_alive(), "there is always another micro-batch"
        found = [
            json.loads(line) for file in (tmp_path / "out").glob("*.json") for line in file.read_text().splitlines()
        ]
        assert {row["r"] for row in found} == {"<http://e.org/room>"}
    finally:
        running.stop()
