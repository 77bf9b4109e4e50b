"""Answers to servers, micro-batch by micro-batch: the last step, and the only one that Spark calls back for.

A micro-batch that is repeated has the same number and the same rows. PostgreSQL gets the rows and the number in one
transaction, and takes no number twice. A message has an id of the query, the tick, the micro-batch and the row, so
that whoever reads it can tell one that comes again. Every micro-batch is computed, even one that was delivered
before: Spark keeps the state only of what was computed.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from transom.catalog.addresses import database, hook_tls, is_refusal, kafka_topic, read_address
from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import Topic
from transom.catalog.tls import client_context, refused_certificate, told
from transom.connectors.kafka.client import check_access
from transom.connectors.kafka.topic_settings import topic_settings
from transom.errors import CheckpointError, Unavailable, UsageError
from transom.runtime.kafka_rows import Limit, largest_message, limit_of, write_messages
from transom.runtime.mqtt_rows import ID, Broker, Outbox
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
_JSON = {"ignoreNullFields": "false", "timeZone": "UTC"}

Deliver = Callable[[DataFrame, int], None]


def delivery(sink: Sink, run: str, letters: SinkDeadLetters) -> Deliver:
    """What Spark calls with every micro-batch; rows that the sink refuses become dead letters."""
    address = sink.address or ""
    match sink.kind:
        case "postgresql":
            psycopg = needed("psycopg", "postgresql", "postgresql")
            return lambda frame, batch: _to_postgresql(psycopg, address, run, frame, batch, letters)
        case "kafka":
            place = kafka_topic(read_address(address, "kafka://HOST:PORT/TOPIC"))
            check_access(place, str(place), place.topic)
            limit = limit_of(dict(place.options), topic_settings(place))
            return lambda frame, batch: _to_kafka(place, limit, frame, run, batch, letters)
        case "mqtt":
            broker = Broker(address)
            return lambda frame, batch: _to_mqtt(broker, _collected(messages(frame, run, batch, (ID,))), batch, letters)
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
                raise Unavailable(
                    f"{what} does not take the answers", detail=f"{type(error).__name__}: {error}"
                ) from error
            time.sleep(min(0.5 * 2**attempt, 30.0))


def _to_kafka(place: Topic, limit: Limit, frame: DataFrame, run: str, batch: int, letters: SinkDeadLetters) -> None:
    largest = largest_message(frame.schema)
    write_messages(messages(frame, run, batch), place, limit, batch, letters, largest)


def _to_mqtt(broker: Broker, found: list[tuple[str, str]], batch: int, letters: SinkDeadLetters) -> None:
    outbox = Outbox(found)
    if found:
        patiently(f"the broker {broker.host}", lambda: outbox.send(broker))
    letters.write(batch, outbox.refused)


def _to_webhook(address: str, found: list[tuple[str, str]], batch: int, letters: SinkDeadLetters) -> None:
    httpx = needed("httpx", "webhook")
    if not found:
        return
    parts = read_address(address, "https://HOST/PATH")
    tls, (user, password) = hook_tls(parts), parts.login()
    more: dict[str, Any] = {} if tls is None else {"verify": client_context(tls)}
    if user is not None:
        more["auth"] = (user, password or "")
    url = resolved(f"{parts.scheme}://{parts.hosts}{parts.path}{'?' if parts.query else ''}{parts.query}")
    refused: list[Refused] = []
    with httpx.Client(timeout=10, trust_env=False, **more) as client:
        for name, value in found:
            try:
                patiently("the webhook", lambda name=name, value=value: _post(httpx, client, url, name, value))  # type: ignore[misc]
            except _NotTaken as problem:
                refused.append(Refused({ID: name, **json.loads(value)}, str(problem)))
    letters.write(batch, refused)


class _NotTaken(Exception):
    """The receiver does not take this row, and would not if it came again."""


def _post(httpx: Any, client: Any, url: str, name: str, value: str) -> None:
    headers = {"Idempotency-Key": name, "Content-Type": "application/json"}
    try:
        answer = client.post(url, content=value.encode(), headers=headers)
    except httpx.HTTPError as error:
        if refused_certificate(error) is not None:
            raise UsageError("no connection to the webhook", detail=told(error)) from None
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
    table = read_address(address, "").name.partition("/")[2]
    sql = psycopg.sql
    target = sql.Identifier(*table.split("."))
    columns = sql.SQL(", ").join(map(sql.Identifier, kinds))
    shape = sql.SQL(", ").join(sql.SQL(f"{{}} {_sql(k)}").format(sql.Identifier(n)) for n, k in kinds.items())

    def write() -> None:
        try:
            with psycopg.connect(**_database(address)) as one, one.cursor() as cursor:
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
            raise _no_database(address, error) from None

    patiently(f"PostgreSQL at {read_address(address, '').host}", write)


def _database(address: str) -> dict[str, Any]:
    """How to connect to the database of an address."""
    return {name: resolved(value) for name, value in database(read_address(address, "")).items()}


def _no_database(address: str, error: Exception) -> Exception:
    """What is raised for a database that cannot be reached; UsageError if to try again does not help."""
    words = re.sub(r"\s+", " ", str(error)).strip()
    if is_refusal(words):
        return UsageError(f"no connection to PostgreSQL at {read_address(address, '').host}", detail=words)
    return OSError(words)


def check_ledger(sink: Sink, run: str, planned: int) -> None:
    """Refuse a database that has micro-batches of a run that its checkpoint has not planned: it is an older copy.

    Their numbers would come again, with other rows, and would be taken for repeated ones. Other servers keep no list.
    """
    if sink.kind != "postgresql":
        return
    address = sink.address or ""
    psycopg = needed("psycopg", "postgresql", "postgresql")
    found: list[int] = []

    def look() -> None:
        try:
            with psycopg.connect(**_database(address)) as one:
                if one.execute("SELECT to_regclass(%s)", (LEDGER,)).fetchone()[0] is not None:
                    last = one.execute(f"SELECT max(batch) FROM {LEDGER} WHERE run = %s", (run,)).fetchone()[0]  # noqa: S608
                    found.append(-1 if last is None else last)
        except psycopg.OperationalError as error:
            raise _no_database(address, error) from None

    patiently(f"PostgreSQL at {read_address(address, '').host}", look)
    if found and found[-1] > planned:
        raise CheckpointError(
            f"the database is ahead of its checkpoint: {LEDGER} has micro-batch {found[-1]} of this run, and the "
            f"checkpoint knows of {planned} at most",
            hint="the checkpoint is an old one: give a new table and a new checkpoint",
        )


def _sql(kind: str) -> str:
    name = kind.partition("(")[0]
    if name not in _SQL:
        raise UsageError(f"PostgreSQL gets no columns of type {kind}")
    return _SQL[name]


def _instant(micros: int | None) -> Any:
    return None if micros is None else EPOCH + timedelta(microseconds=micros)
