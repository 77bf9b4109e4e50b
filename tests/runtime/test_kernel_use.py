"""Which path a query takes, and how its user learns of it; without a JVM."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

import transom
from tests.cli.test_app import ROOT
from transom.errors import KernelWarning, UsageError
from transom.runtime import kernel as runtime
from transom.spark.stateful import kernel

CATALOG = "road: sensed (site:integer, temp:integer) RATE 1 MIN SITES (1, 2)"
NATIVE = "SELECT site FROM road WHERE temp < 5"
SLIDING = "RSTREAM(SELECT site, MAX(temp) AS most FROM road [FROM NOW-5 TO NOW SLIDE 1 MIN] GROUP BY site)"
ROWS = "SELECT MAX(temp) FROM road [FROM NOW-5 TO NOW SLIDE 1 ROW]"
REFUSED = "the session refuses the jar: no"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A session that refuses the jar."""
    monkeypatch.delenv("TRANSOM_KERNEL", raising=False)
    monkeypatch.setattr(runtime, "load_kernel", lambda spark: REFUSED)
    return MagicMock()


def line(session: Any, text: str, asked: Any = "auto") -> str:
    """The line of the command line for a query."""
    query = transom.compile(text, transom.Catalog.read(CATALOG))
    return runtime.plan_for_session(session, asked, lambda kernel: query.physical(kernel=kernel))[0].line


def planned(session: Any, text: str, asked: Any = "auto") -> bool:
    """Plan a query as `to_df` and `start` do."""
    query = transom.compile(text, transom.Catalog.read(CATALOG))
    choice, plan = runtime.plan_for_session(session, asked, lambda kernel: query.physical(kernel=kernel))
    choice.warn()
    assert plan == query.physical(kernel=choice.used)
    return choice.used


def test_the_kernel_is_used_and_named(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "load_kernel", lambda spark: None)
    for asked in ("auto", "on"):
        for text in (SLIDING, ROWS):
            assert line(session, text, asked) == "kernel: stateful operators run in Java (transom-kernel 3)"
            assert planned(session, text, asked)
    assert line(session, NATIVE) == "kernel: not needed, Spark's own operators run the whole plan"


def test_a_session_that_refuses_the_jar_is_named(session: Any) -> None:
    assert line(session, ROWS) == f"kernel: off, stateful operators run in Python: {REFUSED}"
    assert line(session, SLIDING) == f"kernel: off, stateful operators run as Spark's own operators: {REFUSED}"
    assert line(session, NATIVE) == "kernel: not needed, Spark's own operators run the whole plan"
    with pytest.raises(UsageError, match="the kernel cannot be used") as refused:
        line(session, ROWS, "on")
    assert refused.value.detail == REFUSED


def test_python_is_warned_where_the_kernel_could_be_had(session: Any) -> None:
    with pytest.warns(KernelWarning) as caught:
        assert not planned(session, ROWS)
    remedy = "Write --kernel off (kernel='off') to accept it"
    words = f"the kernel is not used: {REFUSED}; stateful operators run in Python. {remedy}"
    assert [str(warning.message) for warning in caught] == [words]
    assert caught[0].filename == __file__, "the warning names the caller's line"


def test_python_is_not_warned_without_need(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not planned(session, NATIVE)
        assert not planned(session, ROWS, "off")
        monkeypatch.setenv("TRANSOM_KERNEL", "off")
        assert not planned(session, ROWS)
        monkeypatch.delenv("TRANSOM_KERNEL")
        connect = MagicMock(_jvm=None)
        assert not planned(connect, ROWS)


def test_asked_away(session: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (
        line(session, ROWS, "off")
        == "kernel: off, stateful operators run in Python: --kernel off (kernel='off') was requested"
    )
    monkeypatch.setenv("TRANSOM_KERNEL", "off")
    assert line(session, ROWS) == "kernel: off, stateful operators run in Python: TRANSOM_KERNEL=off is set"
    monkeypatch.setenv("TRANSOM_KERNEL", "fast")
    with pytest.raises(UsageError, match="auto, on, off, not 'fast'"):
        line(session, ROWS)


def test_reasons_of_a_session(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spark = MagicMock()
    spark.conf.get.return_value = ROCKSDB
    monkeypatch.setattr(kernel, "files", lambda package: tmp_path)
    assert kernel.load_kernel(spark) == "the package lacks transom-kernel.jar"
    (tmp_path / "transom-kernel.jar").write_bytes(b"")
    spark.sql.side_effect = RuntimeError("ADD JAR is forbidden\nat line 1")
    assert kernel.load_kernel(spark) == "the session refuses the jar: ADD JAR is forbidden"
    spark.conf.get.return_value = "HDFSBackedStateStoreProvider"
    assert (kernel.load_kernel(spark) or "").startswith("the session does not keep its state in RocksDB")
    assert "Spark Connect" in (kernel.load_kernel(MagicMock(_jvm=None)) or "")


def test_rdf(session: Any) -> None:
    park = ROOT / "examples" / "windpark"
    catalog = transom.Catalog.load(park / "catalog.yaml")
    query = transom.compile((park / "listing1.rq").read_text("utf-8"), catalog, language="sparql")
    said = runtime.plan_for_session(session, "auto", lambda kernel: query.physical(kernel=kernel))[0].line
    assert said == f"kernel: off, stateful operators run in Python: {REFUSED}"


@pytest.mark.parametrize("text", [NATIVE, SLIDING, ROWS])
def test_a_run_is_planned_once(session: Any, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """Without the kernel there is a second plan, which only says what the kernel would run."""
    from transom.physical.planner import planner
    from transom.runtime.options import RunOptions

    plans: list[bool] = []
    arranged = planner.plan_query

    def counted(*given: Any, kernel: bool, **more: Any) -> Any:
        plans.append(kernel)
        return arranged(*given, kernel=kernel, **more)

    monkeypatch.setattr(planner, "plan_query", counted)
    query = transom.compile(text, transom.Catalog.read(CATALOG))
    query.job(session, RunOptions(kernel="off"))
    assert plans == [False, True]
    monkeypatch.setattr(runtime, "load_kernel", lambda spark: None)
    plans.clear()
    job = query.job(session, RunOptions())
    assert plans == [True]
    assert job.kernel.used
    assert job.plan == arranged(
        query.optimized, start=0, index=False, open_ticks=1, kernel=True, keys_per_source={}, followed_tables=[]
    )
