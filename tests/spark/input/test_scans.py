"""Tables that are scanned while a query runs: its answer is a replay of what their logs recorded."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

import transom
from tests.gate.thin import thinned
from tests.spark.input.scans_story import CATALOG, CQL, METER, NOW, QUERIES, UNTIL, Logs, story
from tests.spark.kills.chaos import ROOT, is_inside
from transom.errors import Unsupported

Said = Counter[str]


def said(rows: Iterator[Sequence[object]]) -> Said:
    return Counter(
        str([None if v is None else str(float(v)) if hasattr(v, "as_tuple") else v for v in row]) for row in rows
    )


def expected(query: transom.Query, start: int) -> Said:
    answer = query.simulate(until=UNTIL, start=start)
    if query.result_kind == "windows":
        return said((w.tick, *row) for w in answer.windows for row in w.rows or [(None,) * len(query.columns)])
    return said((e.tick, *e.row) for e in answer.elements)


def found(spark, folder: Path) -> Said:
    frame = spark.read.parquet(str(folder))
    own = [f"`{c}`" for c in frame.columns if c not in ("tick", "seq", "empty")]
    rows = frame.selectExpr("unix_seconds(cast(tick as timestamp)) - 1 as t", *own)
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    try:
        cells = [c if t != "timestamp" else f"cast(`{c}` as string) as `{c}`" for c, t in rows.dtypes]
        answer = rows.selectExpr(*cells).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    return said(tuple(NOW if v == "2024-06-01 00:00:00" else v for v in row) for row in answer)


CUTS = {
    "step by step": lambda events: [[event] for event in events],
    "in thirds": lambda events: [
        events[at : at + len(events) // 3 + 1] for at in range(0, len(events), len(events) // 3 + 1)
    ],
    # a run that is started again waits for a word of every source: that of the stream comes last
    "the table is slow": lambda events: [
        [e for e in events[:-1] if e[0] == "meter"],
        *([e] for e in events[:-1] if e[0] == "tariff"),
        events[-1:],
    ],
    "the table is early": lambda events: [
        [e for e in events if e[0] == "tariff"],
        [e for e in events if e[0] == "meter"],
    ],
}


def run(spark, tmp_path: Path, text: str, language: str, *, cut: str, seed: int, kernel: str, start: int = 0) -> None:
    """Run a query while its logs grow, stop and start it on the way, and compare."""
    catalog = transom.Catalog.read(CATALOG, folder=tmp_path)
    query = transom.compile(text, catalog, language=language)
    logs = Logs(catalog, tmp_path)
    portions = CUTS[cut](story(seed))
    running = None
    out = tmp_path / "out"

    def begin():
        return query.start(
            spark, f"parquet:{out}", tmp_path / "state", until=UNTIL, start=start, kernel=kernel, allow_unbounded=True
        )

    try:
        for number, portion in enumerate(portions):
            for event in portion:
                logs.write(*event)
            if len(portions) > 10 and number % 6 != 5 and number != len(portions) - 1:
                continue
            running = running or begin()
            running.stream.processAllAvailable()
            if number % 2 == 0:
                running.stop()
                running = None
        running = running or begin()
        running.stream.processAllAvailable()
    finally:
        if running is not None:
            running.stop()
        logs.close()
    wanted = expected(query, start)
    assert wanted.total() > 3, "the story says nothing"
    assert found(spark, out) == wanted


@pytest.mark.parametrize("name", thinned(QUERIES, 24, 23))
def test_the_answer_is_a_replay_of_what_the_log_recorded(spark, tmp_path, name):
    number = list(QUERIES).index(name)
    cut = list(CUTS)[number % len(CUTS)]
    kernel = "off" if name in ("join", "alone") else "auto"
    run(spark, tmp_path, QUERIES[name], "sneeql", cut=cut, seed=number, kernel=kernel)


@pytest.mark.nightly
@pytest.mark.parametrize("cut", CUTS)
def test_any_cut(spark, tmp_path, cut):
    run(spark, tmp_path, QUERIES["join"], "sneeql", cut=cut, seed=77, kernel="auto")


@pytest.mark.parametrize("name", thinned(CQL, 2))
def test_a_table_of_cql(spark, tmp_path, name):
    run(spark, tmp_path, CQL[name], "cql", cut="in thirds", seed=3, kernel="auto")


def test_a_table_without_scan_is_read_once_at_the_start(spark, tmp_path):
    text = f"RSTREAM(SELECT m.zone, power, price FROM {METER}, tariff WHERE m.zone = tariff.zone)"
    run(spark, tmp_path, text, "sneeql", cut="in thirds", seed=5, kernel="auto", start=10)


@pytest.mark.nightly
def test_a_start_between_two_scans(spark, tmp_path):
    run(spark, tmp_path, QUERIES["join"], "sneeql", cut="the table is early", seed=6, kernel="auto", start=9)


@pytest.mark.nightly
def test_a_relation_that_starts_late(spark, tmp_path):
    run(spark, tmp_path, CQL["relation"], "cql", cut="in thirds", seed=7, kernel="auto", start=9)


def test_answers_wait_for_the_log(spark, tmp_path):
    """The stream is far ahead; what the table holds from tick 8 on nobody knows before its log says so."""
    catalog = transom.Catalog.read(CATALOG, folder=tmp_path)
    logs = Logs(catalog, tmp_path)
    query = transom.compile(QUERIES["join"], catalog)
    running = query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "state", until=UNTIL, allow_unbounded=True)
    shown = []
    try:
        logs.write("meter", 30, [(own, "a", 1) for own in range(12)])
        for tick, price in ((0, 1), (4, 1), (8, 2)):
            logs.write("tariff", tick, [("a", price, None)])
            running.stream.processAllAvailable()
            shown.append(max((int(s[1 : s.index(",")]) for s in found(spark, tmp_path / "out")), default=-1))
        running.stop()
        running = query.start(
            spark, f"parquet:{tmp_path / 'out'}", tmp_path / "state", until=UNTIL, allow_unbounded=True
        )
        logs.write("meter", 35, [])
        running.stream.processAllAvailable()
        assert running.progress().late_rows == 0
    finally:
        running.stop()
        logs.close()
    assert shown == [2, 6, 10]  # the windows up to the next scan, and none after it
    assert found(spark, tmp_path / "out") == Counter(
        {s: n for s, n in expected(query, 0).items() if int(s[1 : s.index(",")]) < 12}
    )


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "kernel", "kills"), [("groups", "on", 1), ("groups", "on", 3), ("join", "off", 3)])
def test_killed_while_the_log_grows(spark, tmp_path, name, kernel, kills):
    """Each kill is inside a micro-batch if one can be met; the logs go on meanwhile."""
    rng = Random(name)
    catalog = transom.Catalog.read(CATALOG, folder=tmp_path)
    logs, events = Logs(catalog, tmp_path), story(11)
    part = len(events) // (kills + 1)
    command = [sys.executable, "-m", "tests.spark.input.scans_child", str(tmp_path), name, kernel]
    inside = 0
    try:
        for life in range(kills + 1):
            with open(tmp_path / "child.log", "ab") as log:
                child = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)
            try:
                for number, event in enumerate(events[life * part : (life + 1) * part if life < kills else None]):
                    logs.write(*event)
                    if number % 4 == 3:
                        _wait(lambda: (tmp_path / "state/spark/commits/0").exists(), child, tmp_path)
                        time.sleep(rng.uniform(0, 1))
                if life == kills:
                    (tmp_path / "enough").touch()
                    assert child.wait(240) == 0, (tmp_path / "child.log").read_text()[-3000:]
                    break
                end = time.monotonic() + 20
                while not is_inside(tmp_path / "state") and time.monotonic() < end:
                    time.sleep(0.005)
                time.sleep(rng.uniform(0, 0.3))
                assert child.poll() is None, (tmp_path / "child.log").read_text()[-3000:]
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
            inside += is_inside(tmp_path / "state")
    finally:
        logs.close()
    query = transom.compile(QUERIES[name], catalog)
    print(f"{name}, kernel {kernel}: {kills} kills, {inside} inside a micro-batch")
    assert found(spark, tmp_path / "out") == expected(query, 0)


def _wait(ready: Callable[[], bool], child: subprocess.Popen[bytes], folder: Path) -> None:
    end = time.monotonic() + 240
    while not ready():
        assert child.poll() is None, (folder / "child.log").read_text()[-3000:]
        assert time.monotonic() < end
        time.sleep(0.05)


def test_the_order_of_rows_is_refused(tmp_path):
    query = transom.compile(QUERIES["join"], transom.Catalog.read(CATALOG, folder=tmp_path))
    with pytest.raises(Unsupported, match="order"):
        query.physical(index=True)
    assert query.physical(index=True, user_sources=None).ordered
