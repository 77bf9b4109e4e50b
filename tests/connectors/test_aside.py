"""Which rows of a partition are late: as a loop over the rows says, in portions of any size."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa

import transom
from transom.catalog.servers import Kafka
from transom.connectors.kafka.rejected import DeadLetterSink
from transom.errors import UsageError
from transom.spark.input.lateness import BEFORE_ALL_TICKS, ahead_mask, late_mask


def naive(ticks: list[int | None], lateness: int, closed: int) -> list[bool]:
    latest, found = BEFORE_ALL_TICKS, []
    for tick in ticks:
        found.append(tick is not None and (tick < latest - lateness or tick <= closed))
        latest = latest if tick is None else max(latest, tick)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_as_a_loop_says(seed: int) -> None:
    rng = Random(seed)
    lateness, closed = rng.choice((0, 1, 5)), rng.choice((BEFORE_ALL_TICKS, -1, 10, 30))
    ticks = [max(0, n // 3 - rng.randrange(12)) if rng.random() < 0.9 else None for n in range(rng.randrange(1, 120))]
    found: list[bool] = []
    latest, at = BEFORE_ALL_TICKS, 0
    while at < len(ticks):
        size = rng.choice((1, 2, 7, 50))
        some, latest = late_mask(pa.array(ticks[at : at + size], pa.int64()), latest, lateness, closed)
        found += some.to_pylist()
        at += size
    assert found == naive(ticks, lateness, closed)
    assert latest == max((tick for tick in ticks if tick is not None), default=BEFORE_ALL_TICKS)


def test_nothing_is_late_by_itself() -> None:
    assert (
        late_mask(pa.array([5, 6, 4], pa.int64()), BEFORE_ALL_TICKS, 2, BEFORE_ALL_TICKS)[0].to_pylist() == [False] * 3
    )
    assert late_mask(pa.array([5, 6, 4], pa.int64()), BEFORE_ALL_TICKS, 1, BEFORE_ALL_TICKS)[0].to_pylist() == [
        False,
        False,
        True,
    ]
    assert late_mask(pa.array([5, 6, 7], pa.int64()), BEFORE_ALL_TICKS, 1, 6)[0].to_pylist() == [True, True, False]
    assert late_mask(pa.array([], pa.int64()), 3, 1, 6)[1] == 3


def test_rows_far_ahead_of_the_micro_batch() -> None:
    ticks = pa.array([5, None, 111, 110], pa.int64())
    assert ahead_mask(ticks, 100, 10).to_pylist() == [False, False, True, False]


KAFKA = """
extents:
  power:
    kind: pushed
    attributes: {line: string, w: float}
    lateness: 5 s
    source: {kafka: {servers: "localhost:9092", topic: power, fields: {line: line, w: w}, dead: letters}}
"""


def of(folder: Path, *, reject_late: bool) -> DeadLetterSink | None:
    catalog = transom.Catalog.read(KAFKA, folder=folder)
    extent = catalog.extents["power"]
    assert isinstance(extent.source, Kafka)
    return DeadLetterSink.for_extent(
        extent, extent.source, catalog.calendar, folder, folder / "state", reject_late=reject_late
    )


def test_dead_letters_go_to_the_folder_of_the_catalog(tmp_path: Path) -> None:
    aside = of(tmp_path, reject_late=True)
    assert aside is not None
    assert (aside.folder, aside.checkpoint) == (str(tmp_path / "letters"), str(tmp_path / "state"))
    assert (aside.extent, aside.topic, aside.lateness, aside.max_ahead) == ("power", "power", 5, 300)
    without_ticks = of(tmp_path, reject_late=False)
    assert without_ticks is not None
    assert without_ticks.lateness is None


def test_a_folder_that_spark_wrote_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters" / "_spark_metadata").mkdir(parents=True)
    with pytest.raises(UsageError, match="begun by another version") as caught:
        of(tmp_path, reject_late=True)
    assert caught.value.hint == "name a new folder for dead letters"
