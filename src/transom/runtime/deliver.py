"""Answers to servers, micro-batch by micro-batch: the last step, and the only one that Spark calls back for.

A micro-batch that is repeated has the same number and the same rows. PostgreSQL gets the rows and the number in one
transaction, and takes no number twice. A message has an id of the query, the tick, the micro-batch and the row, so
that whoever reads it can tell one that comes again. Every micro-batch is computed, even one that was delivered
before: Spark keeps the state only of what was computed.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.connectors.private import make_folder
from transom.errors import UsageError
from transom.runtime.fingerprint import ID
from transom.runtime.postgresql_rows import copy_rows
from transom.runtime.sink_dead_letters import Refused, SinkDeadLetters
from transom.runtime.sinks import Sink
from transom.spark.columns import quoted, told_apart
from transom.spark.marks import EPOCH

LEDGER = "transom_batches"
ATTEMPTS = 8
_SQL = {
    "long": "bigint",
    "integer": "integer",
    "double": "double precision",
    "decimal": "numeric",
    "string": "text",
    "boolean": "boolean",
    "timestamp": "timestamptz",
}
_ID = "_id"
_JSON = {"ignoreNullFields": "false", "timeZone": "UTC"}

Deliver = Callable[[DataFrame, int], None]


def identity(checkpoint: Path, begun: bool) -> str:
    """The name of a run, which stays the same as long as Spark's part of its checkpoint is there: `begun`."""
    file = checkpoint / ID
    if not begun or not file.exists():
        make_folder(checkpoint)
        half = checkpoint / f"{ID}.{os.getpid()}"
        half.write_text(uuid4().hex, "utf-8")
        half.replace(file)
    return file.read_text("utf-8")


def delivery(sink: Sink, run: str, letters: SinkDeadLetters) -> Deliver:
    """What Spark calls with every micro-batch; rows that the sink refuses become dead letters."""
    address = sink.address or ""
    match sink.kind:
        case "postgresql":
            psycopg = needed("psycopg", "postgresql", "postgresql")
            return lambda frame, batch: _to_postgresql(psycopg, address, run, frame, batch, letters)
        case "kafka":
            return lambda frame, batch: _to_kafka(address, messages(frame, run, batch))
        case "mqtt":
            needed("paho.mqtt.publish", "mqtt")
            return lambda frame, batch: _to_mqtt(address, _collected(messages(frame, run, batch, (_ID,))))
        case "webhook":
            needed("httpx", "webhook")
            return lambda frame, batch: _to_webhook(address, _collected(messages(frame, run, batch)), batch, letters)
        case other:
            raise UsageError(f"no server is called {other}")


def messages(frame: DataFrame, run: str, batch: int, taken: Sequence[str] = ()) -> DataFrame:
    """Rows as JSON in `value`, with `id` and `tick`; rows that are equal are told apart by a number.

    Columns whose names are taken have an underscore more in JSON.
    """
    columns = [F.col(quoted(name)) for name in frame.columns]
    shown = [column.alias(name) for column, name in zip(columns, told_apart(frame.columns, taken))]
    equal = F.row_number().over(Window.partitionBy(*columns).orderBy(F.lit(0)))
    numbered = frame.select(F.to_json(F.struct(*shown), _JSON).alias("value"), F.col("tick"), equal.alias("n"))
    parts = [F.lit(run[:12]), F.unix_micros("tick"), F.lit(batch), F.substring(F.sha2("value", 256), 1, 20), F.col("n")]
    return numbered.select("tick", F.concat_ws(":", *parts).alias("id"), "value")


def _collected(frame: DataFrame) -> list[tuple[str, str]]:
    """Ids and values in the order of their ticks."""
    rows = frame.select(F.unix_micros("tick").alias("t"), "id", "value").collect()
    return [(row["id"], row["value"]) for row in sorted(rows, key=lambda row: (row["t"], row["id"]))]


def patiently(what: str, action: Callable[[], None], attempts: int = ATTEMPTS) -> None:
    """Try again and again, after 1/2, 1, 2, ... and at most 30 seconds; then stop the query, which can go on later."""
    for attempt in range(attempts):
        try:
            action()
            return
        except (OSError, RuntimeError, ValueError) as error:
            if attempt == attempts - 1:
                raise UsageError(
                    f"{what} does not take the answers", detail=f"{type(error).__name__}: {error}"
                ) from error
            time.sleep(min(0.5 * 2**attempt, 30.0))


def _to_kafka(address: str, frame: DataFrame) -> None:
    parts = urlsplit(address)
    writer = frame.select(F.col("id").alias("key"), "value").write.format("kafka")
    writer = writer.option("kafka.bootstrap.servers", parts.netloc).option("topic", parts.path.strip("/"))
    writer.option("kafka.acks", "all").save()


def _to_mqtt(address: str, found: list[tuple[str, str]]) -> None:
    if not found:
        return
    client_of = needed("paho.mqtt.client", "mqtt")
    parts = urlsplit(address)
    topic = parts.path.strip("/")
    rest = list(found)

    def send() -> None:
        client = client_of.Client(client_of.CallbackAPIVersion.VERSION2)
        if parts.username:
            client.username_pw_set(unquote(parts.username), resolved(parts.password or "") or None)
        if parts.scheme == "mqtts":
            client.tls_set()
        client.connect(parts.hostname, parts.port or (8883 if parts.scheme == "mqtts" else 1883))
        client.loop_start()
        try:
            while rest:
                some = rest[:100]
                for sent in [client.publish(topic, _with_id(*one), qos=1) for one in some]:
                    sent.wait_for_publish(10)
                    if not sent.is_published():
                        raise TimeoutError("the broker does not acknowledge")
                del rest[: len(some)]
        finally:
            client.disconnect()
            client.loop_stop()

    patiently(f"the broker {parts.hostname}", send)


def _with_id(name: str, value: str) -> str:
    """The JSON object of a row with its id in front."""
    return f'{{"{_ID}":"{name}",{value[1:]}'


def _to_webhook(address: str, found: list[tuple[str, str]], batch: int, letters: SinkDeadLetters) -> None:
    httpx = needed("httpx", "webhook")
    if not found:
        return
    refused: list[Refused] = []
    with httpx.Client(timeout=10, trust_env=False) as client:
        for name, value in found:
            try:
                patiently("the webhook", lambda name=name, value=value: _post(httpx, client, address, name, value))  # type: ignore[misc]
            except _NotTaken as problem:
                refused.append(Refused({_ID: name, **json.loads(value)}, str(problem)))
    letters.write(batch, refused)


class _NotTaken(Exception):
    """The receiver does not take this row, and would not if it came again."""


def _post(httpx: Any, client: Any, address: str, name: str, value: str) -> None:
    headers = {"Idempotency-Key": name, "Content-Type": "application/json"}
    try:
        answer = client.post(resolved(address), content=value.encode(), headers=headers)
    except httpx.HTTPError as error:
        raise OSError(type(error).__name__) from error
    if answer.status_code >= 500 or answer.status_code in (408, 425, 429):
        raise OSError(f"status {answer.status_code}")
    if answer.status_code in (400, 413, 422):
        raise _NotTaken(f"status {answer.status_code}")
    if answer.status_code >= 400:
        raise UsageError(f"the webhook refuses an answer: status {answer.status_code}", hint="look at its own log")


def _to_postgresql(
    psycopg: Any, address: str, run: str, frame: DataFrame, batch: int, letters: SinkDeadLetters
) -> None:
    kinds = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    cells = [F.unix_micros(quoted(n)).alias(n) if k == "timestamp" else F.col(quoted(n)) for n, k in kinds.items()]
    rows = frame.select(*cells).collect()
    instants = [place for place, kind in enumerate(kinds.values()) if kind == "timestamp"]
    values = [[_instant(v) if p in instants else v for p, v in enumerate(row)] for row in rows]
    parts = urlsplit(address)
    database, _, table = parts.path.strip("/").partition("/")
    place = {
        "host": parts.hostname,
        "port": parts.port,
        "dbname": database,
        "user": parts.username,
        "password": resolved(parts.password) if parts.password else None,
    }
    sql = psycopg.sql
    target = sql.Identifier(*table.split("."))
    columns = sql.SQL(", ").join(map(sql.Identifier, kinds))
    shape = sql.SQL(", ").join(sql.SQL(f"{{}} {_sql(k)}").format(sql.Identifier(n)) for n, k in kinds.items())

    def write() -> None:
        try:
            with psycopg.connect(**{k: v for k, v in place.items() if v is not None}) as one, one.cursor() as cursor:
                cursor.execute(
                    f"CREATE TABLE IF NOT EXISTS {LEDGER} (run text, batch bigint, PRIMARY KEY (run, batch))"
                )
                cursor.execute(sql.SQL("CREATE TABLE IF NOT EXISTS {} ({})").format(target, shape))
                cursor.execute(f"INSERT INTO {LEDGER} VALUES (%s, %s) ON CONFLICT DO NOTHING", (run, batch))  # noqa: S608
                if cursor.rowcount == 0:
                    return  # this micro-batch is there already
                copy = sql.SQL("COPY {} ({}) FROM STDIN").format(target, columns)
                letters.write(batch, copy_rows(psycopg, one, copy, list(kinds), values))
        except psycopg.OperationalError as error:
            raise OSError(re.sub(r"\s+", " ", str(error))) from None

    patiently(f"PostgreSQL at {parts.hostname}", write)


def _sql(kind: str) -> str:
    name = kind.partition("(")[0]
    if name not in _SQL:
        raise UsageError(f"PostgreSQL gets no columns of type {kind}")
    return _SQL[name]


def _instant(micros: int | None) -> Any:
    return None if micros is None else EPOCH + timedelta(microseconds=micros)
