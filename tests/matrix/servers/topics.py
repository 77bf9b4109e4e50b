"""Plans that read topics of a real broker: their messages, their runs, and the comparison with the reference."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import transom
from examples.plant import servers
from tests.matrix.bench import SEED
from tests.matrix.plans import Plan
from tests.servers.start import ended, free_port, jars, wait_for
from tests.spark.kills.chaos import TICKS
from tests.spark.kills.shapes import BANDS
from tests.spark.kills.shapes_composed import CATALOG, KILLABLE, Nested
from tests.spark.kills.shapes_cql import CALLS, CARS
from tests.spark.kills.shapes_rdf import Linked, difference
from tests.spark.operators.composed import comparable
from transom import Catalog
from transom.errors import TransomError
from transom.model.rdf.answer import RdfAnswer
from transom.runtime.failures import translate_error, unknown_error
from transom.runtime.options import RunOptions
from transom.runtime.results.rows import row_difference
from transom.runtime.verify.micro_batches import table_frames

BEFORE = 1200
"""Seconds from the epoch of the catalogs to the present: a live run computes all windows in between."""
CHUNKS = 3
END = 4 * TICKS
"""The tick of the last message of each topic, which closes all ticks before it."""
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
Row = tuple[Any, ...]


class Broker:
    """A Kafka of one node that can be stopped and started again on the same port."""

    def __init__(self, folder: Path) -> None:
        self._lib, self._folder = jars("broker", folder / "jars"), folder / "node"
        self.port, self._other = free_port(), free_port()
        self.process = self._start()

    def _start(self) -> Any:
        return servers.kafka(self._folder, self._lib, self.port, self._other, "")

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"

    def restart(self) -> None:
        """Kill the broker, and start it again after a pause."""
        self.process.kill()
        self.process.wait()
        time.sleep(1)
        self.process = self._start()

    def stop(self) -> None:
        ended(self.process)


class TopicRun:
    """A plan that reads topics: its messages in chunks of ticks, its runs, and the comparison with the reference."""

    def __init__(self, spark: SparkSession, broker: Broker, folder: Path, plan: Plan, name: str) -> None:
        self.spark, self.broker, self.plan = spark, broker, plan
        self.admin = AdminClient({"bootstrap.servers": broker.place})
        self.folder = folder / name / plan.shape
        shutil.rmtree(self.folder, ignore_errors=True)
        self.asked = KILLABLE[plan.shape]
        self.name = f"{name}-{plan.shape}".replace("_", "-")
        given = self.asked.inputs(SEED, TICKS)
        self.tables = {extent: rows for extent, rows in given.items() if isinstance(rows, Mapping)}
        self.streams = {extent: rows for extent, rows in given.items() if extent not in self.tables}
        self.sent: dict[str, list[Row]] = {extent: [] for extent in self.streams}
        self.rejected = 0
        self.epoch = int(time.time()) - BEFORE
        self.dead = False
        self.balances: Mapping[str, Any] = {}
        self.closed: int | None = None
        for extent in self.streams:
            self.make_topic(extent)
        self.names = {extent.name: extent.names for extent in self.query().sources}

    def topic(self, extent: str) -> str:
        return f"{self.name}-{extent}"

    def make_topic(self, extent: str) -> None:
        for future in self.admin.create_topics([NewTopic(self.topic(extent), 1, 1)]).values():
            future.result()
        wait_for(lambda: self.topic(extent) in self.admin.list_topics(timeout=5).topics, 20, "the topic")

    def query(self) -> Any:
        """The plan over topics."""
        language = {"SNEEql": "sneeql", "CQL": "cql", "SPARQL": "sparql"}[self.plan.language]
        return transom.compile(self.asked.text, self._catalog(), language=language)  # type: ignore[call-overload]

    def _catalog(self) -> Catalog:
        if isinstance(self.asked, Nested):
            content: dict[str, Any] = yaml.safe_load(CATALOG.read_text())
        elif isinstance(self.asked, Linked):
            rdf = {name: {"stream": f"http://ex/{name}"} for name in ("s", "u")}
            content = {"tick": "1 ms", "prefixes": {"": "http://ex/"}, "rdf": rdf}
        elif self.plan.language == "CQL":
            zone = {"Zone": {"polygon": [[0, 0], [60, 0], [60, 60], [0, 60]]}}
            content = {"extents": {"cars": {**CARS, "rate": "50 per s"}, "calls": {**CALLS}}, "regions": zone}
        else:
            content = {"tick": "1 s", "extents": _sneeql_extents()}
        content["epoch"] = datetime.fromtimestamp(self.epoch, UTC).isoformat()
        for extent in self.streams:
            kafka = {"servers": self.broker.place, "topic": self.topic(extent)}
            kafka |= {"dead": str(self.folder / "dead" / extent)} if self.dead else {}
            if extent in content.get("rdf", {}):
                content["rdf"][extent] |= {"format": "nt", "kafka": kafka}
            else:
                content["extents"][extent]["source"] = {"kafka": kafka}
        return Catalog.from_dict(content, folder=CATALOG.parent)

    def chunk(self, number: int, extent: str) -> list[Row]:
        """The rows of one extent in a chunk; the last chunk ends with a row that closes all ticks."""
        span = -(-TICKS // CHUNKS)
        rows = [row for row in self.streams[extent] if row[0] // span == number]
        if number < CHUNKS - 1:
            return rows
        values = (":end", ":end", 0) if self.is_rdf(extent) else self.streams[extent][-1][1:]
        return [*rows, (END, *values)]

    def is_rdf(self, extent: str) -> bool:
        """Whether the messages of an extent are triples."""
        return isinstance(self.asked, Linked) and extent in ("s", "u")

    def publish(self, number: int, partitions: int = 1, **settings: object) -> None:
        """Send a chunk of all extents."""
        sender = Producer({"bootstrap.servers": self.broker.place, "enable.idempotence": True, **settings})
        if settings:
            sender.init_transactions(20)
            sender.begin_transaction()
        for extent in self.streams:
            for place, row in enumerate(self.chunk(number, extent)):
                self.send(sender, extent, self.message(extent, row), row[0], place % partitions)
                self.sent[extent].append(row)
        if settings:
            sender.commit_transaction(20)
        sender.flush(20)

    def send(self, sender: Producer, extent: str, value: bytes, tick: int, partition: int = 0) -> None:
        millis = tick * (1 if self.plan.language == "SPARQL" else 1000)
        sender.produce(self.topic(extent), value, partition=partition, timestamp=1000 * self.epoch + millis)

    def message(self, extent: str, row: Row) -> bytes:
        """A row as the message of a topic."""
        if self.is_rdf(extent):
            return (" ".join(map(_term, row[1:])) + " .").encode()
        names = self.names[extent]
        return json.dumps(dict(zip(names, row[1:], strict=True))).encode()

    def start(self, once: bool = True, **more: Any) -> Any:
        query = self.query()
        frames = {}
        if self.tables:
            given = query.inputs({**{extent: [] for extent in self.streams}, **self.tables}, TICKS)
            frames = table_frames(self.spark, query.sources, given)
        sink, state = f"parquet:{self.folder / 'out'}", self.folder / "state"
        settings = {"sources": frames, "once": once, "kernel": self.plan.kernel, **more}
        if not isinstance(self.asked, Linked):
            settings["allow_unbounded"] = True
        return query.start(self.spark, sink, state, **settings)

    def run(self, **more: Any) -> None:
        """Read all messages that are there; raises what the run raises."""
        running = self.start(**more)
        running.wait()
        self.note(running)

    def note(self, running: Any) -> None:
        """Keep the balance since the first start, and the last closed tick."""
        self.balances = running.progress().totals
        self.closed = running.closed_tick()

    def attempt(self, **more: Any) -> TransomError | None:
        """Run, and return the error that a user would see."""
        try:
            self.run(**more)
        except TransomError as error:
            return error
        except PySparkException as error:
            return translate_error(error) or unknown_error(error)
        return None

    def wrong(self) -> tuple[int, str | None]:
        """How many rows were compared, and what is wrong with them or the balance, if anything."""
        query = self.query()
        inputs = {**self.sent, **self.tables}
        expected = query.simulate(inputs, until=self.closed)
        results = query.job(self.spark, RunOptions(kernel=self.plan.kernel), live=False).results
        rows = results.plain(self.spark.read.parquet(str(self.folder / "out"))).collect()
        found = results.answer(rows)
        if isinstance(expected, RdfAnswer):
            unlike = difference(expected, found)
        elif isinstance(self.asked, Nested):
            unlike = None if comparable(expected) == comparable(found) else "the windows differ"
        else:
            unlike = row_difference(expected, found, index=False)
        if not len(expected):
            unlike = "nothing was expected, so nothing is shown"
        return len(rows), unlike or self._unbalanced()

    def _unbalanced(self) -> str | None:
        for extent, rows in self.sent.items():
            balance = self.balances.get(extent)
            rejected = self.rejected if extent == next(iter(self.sent)) else 0
            if balance is None or balance.missing or balance.late or balance.read != len(rows) + rejected:
                return f"{extent} has {len(rows)} messages and {rejected} broken ones, and its balance is: {balance}"
            if sum(balance.rejected.values()) < rejected:
                return f"{rejected} messages of {extent} are broken, and its balance is: {balance}"
        return None


def _sneeql_extents() -> dict[str, Any]:
    pushed = {"kind": "pushed", "rate": "50 per s"}
    return {
        "traffic": {**pushed, "attributes": ["id:integer", "site:integer", "weight:integer"]},
        "air": {**pushed, "attributes": ["id:integer", "temp:integer"]},
        "band": {"kind": "stored", "rows": len(BANDS), "attributes": ["weight:integer", "name:string"]},
    }


def _term(value: Any) -> str:
    """A term of N-Triples."""
    return f'"{value}"^^<{INTEGER}>' if isinstance(value, int) else f"<http://ex/{value[1:]}>"
