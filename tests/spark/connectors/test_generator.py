"""Generated rows on Spark are those of the plain reader, in batches, streams and by the wall clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.spark.connectors.reading import Folder, ordered, row_of
from transom import connectors
from transom.catalog import Catalog
from transom.connectors import spark as on_spark
from transom.connectors.generate.spark import GeneratedStreamReader, _GeneratorSettings
from transom.errors import DataError, UsageError
from transom.model.time import Calendar


@pytest.fixture
def folder(spark, tmp_path: Path) -> Folder:
    return Folder(spark, tmp_path)


MADE = {
    "tick": "100 ms",
    "extents": {
        "road": {
            "declare": "sensed (site:string, temp:float, d:decimal, n:integer, at:timestamp)",
            "sites": ["b", "a"],
            "every": "200 ms",
            "source": {
                "generate": {
                    "seed": 7,
                    "attributes": {
                        "temp": {"walk": {"start": 10, "step": 1}},
                        "d": {"sine": {"mean": 1, "amplitude": 2, "period": "1 s", "noise": 0.1}},
                        "n": {"choice": {"values": [1, 2, 3], "weights": [1, 0, 1]}},
                        "at": "clock",
                    },
                    "gaps": 0.1,
                }
            },
        },
        "car": {
            "declare": "pushed (n:integer)",
            "source": {
                "generate": {
                    "attributes": {"n": {"walk": {"start": 0, "step": 5}}},
                    "arrivals": {"poisson": "20 per 1 s"},
                }
            },
        },
    },
}


def test_available_now_pins_the_wall_clock() -> None:
    """Otherwise each micro-batch would find new rows, and the query would not end."""
    extent = Catalog.from_dict(MADE).extents["car"]
    calendar = Calendar(100, datetime.now(UTC))  # a tick is 100 microseconds
    free, pinned = (GeneratedStreamReader(_GeneratorSettings(extent, calendar, None)) for _ in range(2))
    pinned.prepareForTriggerAvailableNow()
    moving, fixed = free.latestOffset(), pinned.latestOffset()
    time.sleep(0.002)
    assert free.latestOffset()["tick"] > moving["tick"]
    assert pinned.latestOffset() == fixed


@pytest.mark.parametrize("name", ["road", pytest.param("car", marks=pytest.mark.nightly)])
@pytest.mark.covers("source:generate")
def test_generated_rows(folder, name):
    catalog = Catalog.from_dict(MADE)
    extent = catalog.extent(name)
    expected = [(e.tick, *row_of(e.row)) for e in connectors.open_stream(extent, catalog.calendar, None, 200)]
    batch, live = (
        on_spark.open_stream(folder.spark, extent, catalog.calendar, None, live=live, with_order=True, until=200)
        for live in (False, True)
    )
    assert ordered(batch.collect(), extent) == expected
    assert ordered(folder.drained(live), extent) == expected
    bare = on_spark.open_stream(folder.spark, extent, catalog.calendar, None, live=False, with_order=False, until=50)
    assert "row_order" not in bare.columns


def test_generated_rows_follow_the_wall_clock(folder):
    now = datetime.now(UTC).isoformat()
    catalog = Catalog.from_dict({**MADE, "epoch": now})
    extent = catalog.extent("car")
    frame = on_spark.open_stream(folder.spark, extent, catalog.calendar, None, live=True, with_order=True)
    query = frame.writeStream.format("memory").queryName("wall").start()
    deadline = time.monotonic() + 60
    while not any(p["numInputRows"] for p in query.recentProgress) and time.monotonic() < deadline:
        time.sleep(0.2)
    query.stop()
    rows = ordered(folder.spark.table("wall").collect(), extent)
    last = rows[-1][0]
    expected = connectors.open_stream(extent, catalog.calendar, None, last + 5)
    assert rows == [(e.tick, *e.row) for e in expected][: len(rows)]
    assert 0 <= last <= catalog.calendar.tick_of(datetime.now(UTC))


def test_generators_that_never_begin(folder):
    catalog = Catalog.from_dict(MADE)
    extent = catalog.extent("car")
    with pytest.raises(DataError, match="from tick 0 to now") as caught:
        on_spark.open_stream(folder.spark, extent, catalog.calendar, None, live=True, with_order=False)
    assert "epoch" in str(caught.value.hint)
    with pytest.raises(UsageError, match="without end"):
        on_spark.open_stream(folder.spark, extent, catalog.calendar, None, live=False, with_order=False)


def test_the_wrong_door(folder):
    catalog = Catalog.from_dict({**MADE, "bare": "sensed (site:integer)"})
    with pytest.raises(UsageError, match="car is no stored table"):
        on_spark.open_table(folder.spark, catalog.extent("car"), catalog.calendar, None, with_order=False)
    with pytest.raises(UsageError, match="no rows for bare"):
        on_spark.open_stream(folder.spark, catalog.extent("bare"), catalog.calendar, None, live=False, with_order=False)
