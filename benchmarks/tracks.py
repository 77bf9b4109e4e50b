"""Input and query of the benchmark of many objects: positions of objects on a plane, and average speed in CQL.

Each object reports its position about once a minute. It moves at 40 to 130 km/h, turns a little all the time and
sometimes stops. Coordinates are whole centimetres.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

import transom
from transom.physical.nodes.windows import KernelMode
from transom.physical.show import total_state
from transom.query import Query

EPOCH = "2026-01-01T00:00:00Z"
SECONDS = 1_767_225_600
EVERY = 60
"""Approximate seconds between two positions of an object."""

QUESTION = (
    "SELECT RStream(R.car, AvgSpd(R)) FROM R=cars "
    "[PARTITION BY car RANGE BY '50 km' RATTR SPACE, SLIDE BY '10 km' SATTR SPACE]"
)
COLUMNS = ["tick", "car", "speed"]


@dataclass(frozen=True)
class Tracks:
    """A folder with positions of objects in order of time, and a last one an hour later that closes all ticks."""

    folder: Path
    rows: int
    objects: int
    files: int = 10

    def write(self) -> Tracks:
        """Write the files; returns itself."""
        rng = np.random.default_rng(11)
        each, objects = self.rows // self.objects, self.objects
        at = rng.integers(0, EVERY, objects)[:, None] + EVERY * np.arange(each) + rng.integers(0, 20, (objects, each))
        far = rng.uniform(40, 130, (objects, 1)) / 3.6 * EVERY * rng.uniform(0.8, 1.2, (objects, each))
        far *= rng.random((objects, each)) > 0.05
        turn = np.cumsum(rng.normal(0, 0.2, (objects, each)), axis=1) + rng.uniform(0, 2 * np.pi, (objects, 1))
        x = np.cumsum(far * np.cos(turn), axis=1) + rng.uniform(-1e5, 1e5, (objects, 1))
        y = np.cumsum(far * np.sin(turn), axis=1) + rng.uniform(-1e5, 1e5, (objects, 1))
        car = np.repeat(np.arange(objects), each)
        order = np.argsort(at.ravel(), kind="stable")
        self.folder.mkdir(parents=True, exist_ok=True)
        for number, part in enumerate(np.array_split(order, self.files)):
            self._file(f"{number:04}", at.ravel()[part], car[part], x.ravel()[part], y.ravel()[part])
        self._file("9999", at[:1, -1] + 3600, car[:1], x[:1, -1], y[:1, -1])
        return self

    def _file(self, name: str, at: np.ndarray, car: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        ts = pa.array((at + SECONDS) * 1_000_000, pa.timestamp("us", "UTC"))
        table = pa.table({"ts": ts, "car": car, "x": np.round(x, 2), "y": np.round(y, 2)})
        pq.write_table(table, self.folder / f"{name}.parquet")

    @property
    def until(self) -> int:
        """The last tick of a run, before the tick of the closing row."""
        return (self.rows // self.objects + 2) * EVERY

    @property
    def catalog(self) -> transom.Catalog:
        """The catalog of the input, with the hints that bound the state."""
        each = self.rows // self.objects
        cars = {
            "kind": "pushed",
            "attributes": ["car:integer", "x:float", "y:float"],
            "position": {"x": "x", "y": "y", "unit": "m"},
            "object": "car",
            "keys": self.objects,
            "max_rows_per_key": each + 1,
            "rate": f"{max(1, round(1.2 * self.objects / EVERY))} per s",
        }
        return transom.Catalog.from_dict({"epoch": EPOCH, "extents": {"cars": cars}})

    @property
    def query(self) -> Query:
        """The compiled query."""
        found = transom.compile(QUESTION, self.catalog, language="cql")
        assert isinstance(found, Query)
        return found

    @property
    def bound(self) -> int | None:
        """The state bound of our plan in rows, from the catalog's hints; the slack is the span of a micro-batch."""
        slack = self.rows // self.objects * EVERY // self.files + EVERY
        return self.query.state_of(total_state(self.query.physical(slack=slack, kernel=True))).rows

    def stream(self, spark: SparkSession) -> DataFrame:
        """The rows as a stream, one file per micro-batch."""
        reader = spark.readStream.schema("ts timestamp, car bigint, x double, y double")
        return reader.option("maxFilesPerTrigger", 1).parquet(str(self.folder))

    def sample(self, cars: list[int]) -> list[tuple[int, int, float, float]]:
        """The rows of some objects as input of the reference engine, in order of ticks."""
        rows = pq.read_table(self.folder, filters=[("car", "in", cars)]).to_pydict()
        ticks = [int(ts.timestamp()) - SECONDS for ts in rows["ts"]]
        return sorted(zip(ticks, rows["car"], rows["x"], rows["y"], strict=True))


def ours(spark: SparkSession, tracks: Tracks, kernel: KernelMode) -> DataFrame:
    """Our DataFrame of the query."""
    streams = {"cars": tracks.stream(spark)}
    return tracks.query.to_df(spark, streams, until=tracks.until, kernel=kernel).toDF(*COLUMNS)
