"""Faults of Kafka: messages are deleted, aborted or of another schema, topics change, and the broker is killed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import NewPartitions
from pyspark.sql import SparkSession

from tests.matrix.bench import printed
from tests.matrix.faults import FAULTS, SAME, refused
from tests.matrix.ledger import Record
from tests.matrix.plans import PLANS
from tests.matrix.remedies import Remedy, remedy_of
from tests.matrix.servers.topics import Broker, TopicRun
from tests.servers.start import jars, wait_for
from transom.errors import TransomError


def _broker(one: TopicRun) -> tuple[str, str]:
    """The broker is killed and started again while the run reads."""
    one.publish(0)
    running = one.start(once=False)
    try:
        wait_for(lambda: running.progress().rows_in > 0, 60, "the first rows")
        one.publish(1)
        one.broker.restart()
        one.publish(2)
        wanted = sum(map(len, one.sent.values()))
        end = time.monotonic() + 60
        while running.is_active and sum(b.read for b in running.progress().totals.values()) < wanted:
            if time.monotonic() > end:
                raise TimeoutError(f"{running.progress().totals}")
            time.sleep(0.1)
        time.sleep(1)
    finally:
        running.stop()
    error = one.attempt()
    return (SAME, "") if error is None else (f"ended with {type(error).__name__}", error.render())


def _retention(one: TopicRun) -> tuple[str, str]:
    """The broker deletes messages that the run has not read."""
    one.publish(0)
    one.run()
    first = next(iter(one.streams))
    kept = len(one.sent[first])
    one.publish(1)
    middle = kept + (len(one.sent[first]) - kept) // 2
    for future in one.admin.delete_records([TopicPartition(one.topic(first), 0, middle)]).values():
        future.result()
    one.sent[first] = one.sent[first][:kept] + one.sent[first][middle:]
    error = one.attempt()
    return _followed(one, error, "", lambda: one.attempt(on_data_loss="continue"), Remedy.CONTINUE)


def _remade(one: TopicRun) -> tuple[str, str]:
    """The topics are deleted and made again under the same names."""
    one.publish(0)
    one.run()
    names = [one.topic(extent) for extent in one.streams]
    for future in one.admin.delete_topics(names).values():
        future.result()
    wait_for(lambda: not set(names) & set(one.admin.list_topics(timeout=5).topics), 20, "the topics to go")
    for extent in one.streams:
        one.make_topic(extent)
        one.sent[extent] = []
    one.publish(0)
    one.publish(1)
    error = one.attempt()

    def anew() -> TransomError | None:
        for name in ("state", "out", "_out.staging"):
            shutil.rmtree(one.folder / name, ignore_errors=True)
        return one.attempt()

    return _followed(one, error, names[0], anew, Remedy.NEW)


def _partitions(one: TopicRun) -> tuple[str, str]:
    """Partitions are added to the topics, and get messages."""
    one.publish(0)
    one.run()
    more = [NewPartitions(one.topic(extent), 3) for extent in one.streams]
    for future in one.admin.create_partitions(more).values():
        future.result()
    time.sleep(1)
    one.publish(1, partitions=3)
    return _ended(one)


def _aborted(one: TopicRun) -> tuple[str, str]:
    """Producers abort transactions whose messages are in the topics."""
    one.publish(0)
    one.run()
    sender = Producer({"bootstrap.servers": one.broker.place, "transactional.id": f"aborted-{one.name}"})
    sender.init_transactions(20)
    for _ in range(2):
        sender.begin_transaction()
        for extent in one.streams:
            for row in one.chunk(1, extent):
                one.send(sender, extent, one.message(extent, row), row[0])
        sender.flush(20)
        sender.abort_transaction(20)
    one.publish(1, **{"transactional.id": f"committed-{one.name}"})
    return _ended(one)


def _drift(one: TopicRun) -> tuple[str, str]:
    """Two messages of another schema come among the others."""
    one.publish(0)
    one.run()
    first = next(iter(one.streams))
    sender = Producer({"bootstrap.servers": one.broker.place})
    tick = one.chunk(1, first)[0][0]
    for value in (b'{"renamed": 1}', b"[1, 2"):
        one.send(sender, first, value, tick)
    sender.flush(20)
    one.rejected = 2
    one.publish(1)
    error = one.attempt()

    def with_dead_letters() -> TransomError | None:
        one.dead = True
        return one.attempt()

    return _followed(one, error, "", with_dead_letters, Remedy.DEAD)


def _ended(one: TopicRun) -> tuple[str, str]:
    """Read what is there, and the last chunk."""
    error = one.attempt()
    if error is None:
        one.publish(2)
        error = one.attempt()
    return (SAME, "") if error is None else (f"ended with {type(error).__name__}", error.render())


def _followed(
    one: TopicRun, error: TransomError | None, name: str, act: Callable[[], TransomError | None], remedy: Remedy
) -> tuple[str, str]:
    """Do what the error says, read the last chunk, and return the outcome."""
    if error is None:
        one.publish(2)
        one.attempt()
        return SAME, ""
    said = error.render()
    if remedy_of(error) is not remedy or name not in said:
        return f"refused, and the remedy is {remedy_of(error)}", said
    again = act()
    if again is None:
        one.publish(2)
        again = one.attempt()
    return (refused(remedy), said) if again is None else (f"refused, then refused again: {again.render()}", said)


INFLICTED: Mapping[str, Callable[[TopicRun], tuple[str, str]]] = {
    "broker": _broker,
    "retention": _retention,
    "topic_remade": _remade,
    "partitions": _partitions,
    "aborted": _aborted,
    "drift": _drift,
}


@contextmanager
def running_broker(folder: Path) -> Iterator[Broker]:
    """A broker for all cells of a session."""
    broker = Broker(folder)
    try:
        yield broker
    finally:
        broker.stop()


def run_cell(spark: SparkSession, broker: Broker, folder: Path, plan: str, fault: str) -> Record:
    """Run one cell on topics and judge it."""
    began = time.monotonic()
    one = TopicRun(spark, broker, folder, PLANS[plan], fault)
    outcome, message = INFLICTED[fault](one)
    rows, wrong = one.wrong()
    return Record(
        plan,
        fault,
        FAULTS[fault].expected_of(plan),
        outcome,
        wrong,
        rows,
        printed(one.balances),
        round(time.monotonic() - began, 1),
        message=message.replace(str(folder), "...").replace(broker.place, "BROKER"),
    )


def connector_jars(folder: Path) -> Sequence[str]:
    """Spark's connector for Kafka."""
    return [str(jar) for jar in sorted(jars("connector", folder).glob("*.jar"))]
