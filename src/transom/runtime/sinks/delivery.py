"""Deliver micro-batches to servers: PostgreSQL, Kafka, MQTT and webhooks, as callbacks for `foreachBatch`.

A repeated micro-batch has the same number and the same rows. PostgreSQL gets the rows and the number in one
transaction and accepts each number once. The id of a message is made of the run, the tick, the micro-batch and the
row, so that a reader can recognise duplicates. Every micro-batch is computed, even one that was delivered before,
because Spark saves state only for micro-batches that it computes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from transom.catalog.addresses import is_refused_connection, kafka_topic, libpq_parameters, read_address, webhook_tls
from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import KafkaTopic
from transom.catalog.tls import client_context, error_text, refused_certificate
from transom.connectors.kafka.client import check_access
from transom.connectors.kafka.topic_settings import topic_settings
from transom.errors import CheckpointError, UsageError
from transom.model.schema import unique_names
from transom.runtime.sinks.dead_letters import RefusedRow, SinkDeadLetters
from transom.runtime.sinks.kafka import MessageLimit, largest_message, message_limit, write_messages
from transom.runtime.sinks.mqtt import ID_FIELD, Broker, Outbox
from transom.runtime.sinks.postgresql import copy_rows, table_columns
from transom.runtime.sinks.postgresql_epochs import LEDGER_TABLE, claim_epoch, last_delivered, verify_epoch
from transom.runtime.sinks.postgresql_takeover import TableTakeover
from transom.runtime.sinks.retries import with_retries
from transom.runtime.sinks.sink import Sink
from transom.spark.columns import quoted
from transom.spark.event_time import EPOCH

_SQL_TYPES = {
    "long": "bigint",
    "integer": "integer",
    "double": "double precision",
    "decimal": "numeric",
    "string": "text",
    "boolean": "boolean",
    "timestamp": "timestamptz",
}
_JSON_OPTIONS = {"ignoreNullFields": "false", "timeZone": "UTC"}

DeliverBatch = Callable[[DataFrame, int], None]
OnComputed = Callable[[int], None]


def batch_delivery(
    sink: Sink,
    run_id: str,
    dead_letters: SinkDeadLetters,
    on_computed: OnComputed = lambda batch: None,
    run_epoch: int | None = None,
    replaced_run: TableTakeover | None = None,
) -> DeliverBatch:
    """Build a server sink's `foreachBatch` callback; `on_computed`, `run_epoch`, `replaced_run` are for PostgreSQL.

    `run_id` makes the ids of messages unique. `on_computed` is called with the number of a micro-batch before rows that
    are sent in a transaction are sent. `run_epoch` is that of `claim_sink`. With `replaced_run`, the run goes on after
    an older one, which may still be running.
    """
    address = sink.address or ""
    match sink.kind:
        case "postgresql":
            psycopg = require_library("psycopg", "postgresql", "postgresql")
            return lambda frame, batch: _to_postgresql(
                psycopg, address, run_id, frame, batch, dead_letters, on_computed, run_epoch, replaced_run
            )
        case "kafka":
            topic = kafka_topic(read_address(address, "kafka://HOST:PORT/TOPIC"))
            check_access(topic, str(topic), topic.topic)
            limit = message_limit(dict(topic.options), topic_settings(topic))
            return lambda frame, batch: _to_kafka(topic, limit, frame, run_id, batch, dead_letters)
        case "mqtt":
            broker = Broker(address)
            return lambda frame, batch: _to_mqtt(
                broker, _collect_messages(to_messages(frame, run_id, batch, (ID_FIELD,))), batch, dead_letters
            )
        case "webhook":
            require_library("httpx", "webhook")
            return lambda frame, batch: _to_webhook(
                address, _collect_messages(to_messages(frame, run_id, batch)), batch, dead_letters
            )
        case other:
            raise UsageError(f"no server is called {other}")


def to_messages(frame: DataFrame, run_id: str, batch: int, reserved_names: Sequence[str] = ()) -> DataFrame:
    """Convert a micro-batch to `tick`, `id` (unique), `value` (JSON); `reserved_names` get an underscore in the JSON.

    Columns whose names are `reserved_names` get an extra underscore in the JSON.
    """
    columns = [F.col(quoted(name)) for name in frame.columns]
    shown = [column.alias(name) for column, name in zip(columns, unique_names(frame.columns, reserved_names))]
    equal = F.row_number().over(Window.partitionBy(*columns).orderBy(F.lit(0)))
    numbered = frame.select(
        F.to_json(F.struct(*shown), _JSON_OPTIONS).alias("value"), F.col("tick"), equal.alias("occurrence")
    )
    parts = [
        F.lit(run_id[:12]),
        F.unix_micros("tick"),
        F.lit(batch),
        F.substring(F.sha2("value", 256), 1, 20),
        F.col("occurrence"),
    ]
    return numbered.select("tick", F.concat_ws(":", *parts).alias("id"), "value")


def _collect_messages(frame: DataFrame) -> list[tuple[str, str]]:
    """Collect the ids and values of messages, ordered by tick and id."""
    rows = frame.select(F.unix_micros("tick").alias("micros"), "id", "value").collect()
    return [(row["id"], row["value"]) for row in sorted(rows, key=lambda row: (row["micros"], row["id"]))]


def _to_kafka(
    topic: KafkaTopic, limit: MessageLimit, frame: DataFrame, run_id: str, batch: int, dead_letters: SinkDeadLetters
) -> None:
    """Write a micro-batch to a Kafka topic as JSON messages; those larger than `limit` become dead letters."""
    largest = largest_message(frame.schema)
    write_messages(to_messages(frame, run_id, batch), topic, limit, batch, dead_letters, largest)


def _to_mqtt(broker: Broker, messages: list[tuple[str, str]], batch: int, dead_letters: SinkDeadLetters) -> None:
    """Publish a micro-batch's messages (id, JSON) with retries; those that the broker refuses become dead letters."""
    outbox = Outbox(messages)
    if messages:
        with_retries(f"the broker {broker.host}", lambda: outbox.send(broker))
    dead_letters.write(batch, outbox.refused)


def _to_webhook(address: str, messages: list[tuple[str, str]], batch: int, dead_letters: SinkDeadLetters) -> None:
    """POST each message (id, JSON) of a micro-batch with retries; messages that are refused become dead letters."""
    httpx = require_library("httpx", "webhook")
    if not messages:
        return
    parts = read_address(address, "https://HOST/PATH")
    tls, (user, password) = webhook_tls(parts), parts.login()
    client_options: dict[str, Any] = {} if tls is None else {"verify": client_context(tls)}
    if user is not None:
        client_options["auth"] = (user, password or "")
    url = resolve_references(f"{parts.scheme}://{parts.hosts}{parts.path}{'?' if parts.query else ''}{parts.query}")
    refused: list[RefusedRow] = []
    with httpx.Client(timeout=10, trust_env=False, **client_options) as client:
        for message_id, value in messages:
            try:
                with_retries("the webhook", partial(_post, httpx, client, url, message_id, value))
            except _RowRefused as refusal:
                refused.append(RefusedRow({ID_FIELD: message_id, **json.loads(value)}, str(refusal)))
    dead_letters.write(batch, refused)


class _RowRefused(Exception):
    """The receiver refuses this row; a retry would not help."""


def _post(httpx: Any, client: Any, url: str, message_id: str, value: str) -> None:
    """POST one message; raise OSError if a retry may help, _RowRefused if the row is rejected, else UsageError."""
    headers = {"Idempotency-Key": message_id, "Content-Type": "application/json"}
    try:
        answer = client.post(url, content=value.encode(), headers=headers)
    except httpx.HTTPError as error:
        if refused_certificate(error) is not None:
            raise UsageError("no connection to the webhook", detail=error_text(error)) from None
        raise OSError(type(error).__name__) from error
    if answer.status_code >= 500 or answer.status_code in (408, 425, 429):
        raise OSError(f"status {answer.status_code}")
    if answer.status_code in (400, 413, 422):
        raise _RowRefused(f"status {answer.status_code}")
    if answer.status_code >= 400:
        raise UsageError(f"the webhook refuses an answer: status {answer.status_code}", hint="look at its own log")


def _to_postgresql(
    psycopg: Any,
    address: str,
    run_id: str,
    frame: DataFrame,
    batch: int,
    dead_letters: SinkDeadLetters,
    on_computed: OnComputed,
    run_epoch: int | None,
    replaced_run: TableTakeover | None,
) -> None:
    """COPY a batch into PostgreSQL once, without ticks of a `replaced_run`, if any; Fenced if `run_epoch` is outdated.

    The number and the run id are in a ledger table. A transaction of an earlier `run_epoch` than the newest is refused.
    With `replaced_run`, the rows that the older run has answered or will answer are left out.
    """
    kinds = {field.name: field.dataType.typeName() for field in frame.schema.fields}
    cells = [
        F.unix_micros(quoted(name)).alias(name) if kind == "timestamp" else F.col(quoted(name))
        for name, kind in kinds.items()
    ]
    rows = frame.select(*cells).collect()
    on_computed(batch)
    instants = [index for index, kind in enumerate(kinds.values()) if kind == "timestamp"]
    values = [
        [_instant_of_micros(value) if index in instants else value for index, value in enumerate(row)] for row in rows
    ]
    table = read_address(address, "").name.partition("/")[2]
    sql = psycopg.sql
    target = sql.Identifier(*table.split("."))
    columns = sql.SQL(", ").join(map(sql.Identifier, kinds))
    shape = sql.SQL(", ").join(
        sql.SQL(f"{{}} {_sql_type(kind)}").format(sql.Identifier(name)) for name, kind in kinds.items()
    )

    def write(connection: Any) -> None:
        """Insert the micro-batch's rows and number on a connection; do nothing if the number is there already."""
        new = values
        if replaced_run is not None:
            answered, tick = replaced_run.answered_until(connection, batch), list(kinds).index("tick")
            new = [] if answered is None else [row for row in values if row[tick] > answered]
        if run_epoch is not None:
            verify_epoch(connection, run_id, run_epoch)
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {LEDGER_TABLE} (run text, batch bigint, PRIMARY KEY (run, batch))"
        )
        connection.execute(sql.SQL("CREATE TABLE IF NOT EXISTS {} ({})").format(target, shape))
        entry = f"INSERT INTO {LEDGER_TABLE} VALUES (%s, %s) ON CONFLICT DO NOTHING"  # noqa: S608
        if connection.execute(entry, (run_id, batch)).rowcount == 0:
            return  # this micro-batch is already in the table
        copy = sql.SQL("COPY {} ({}) FROM STDIN").format(target, columns)
        dead_letters.write(batch, copy_rows(psycopg, connection, copy, list(kinds), new))

    in_database(address, write)


def in_database(address: str, action: Callable[[Any], None]) -> None:
    """Run an action on a connection to a sink's PostgreSQL database in a transaction; retry if the connection fails."""
    psycopg = require_library("psycopg", "postgresql", "postgresql")

    def run() -> None:
        """Connect to the enclosing call's database, run its `action` on the connection, and commit."""
        try:
            with psycopg.connect(**_connection_options(address)) as connection:
                action(connection)
        except psycopg.OperationalError as error:
            raise _connection_error(address, error) from None

    with_retries(f"PostgreSQL at {read_address(address, '').host}", run)


def _connection_options(address: str) -> dict[str, Any]:
    """Return the libpq connection parameters of a PostgreSQL address, with references to secrets resolved."""
    return {name: resolve_references(value) for name, value in libpq_parameters(read_address(address, "")).items()}


def _connection_error(address: str, error: Exception) -> Exception:
    """Return the error for a failed connection to PostgreSQL: UsageError if a retry would not help, else OSError."""
    message = re.sub(r"\s+", " ", str(error)).strip()
    if is_refused_connection(message):
        return UsageError(f"no connection to PostgreSQL at {read_address(address, '').host}", detail=message)
    return OSError(message)


def claim_sink(sink: Sink, run_id: str) -> int | None:
    """Take a run's next epoch (start number) in a PostgreSQL sink, fencing earlier starts; None for other sinks."""
    if sink.kind != "postgresql":
        return None
    epochs: list[int] = []
    in_database(sink.address or "", lambda connection: epochs.append(claim_epoch(connection, run_id)))
    return epochs[-1]


def check_columns(sink: Sink, columns: Sequence[str]) -> None:
    """Raise UsageError if the table of a PostgreSQL sink exists and lacks a column of the answer."""
    if sink.kind != "postgresql":
        return
    table = read_address(sink.address or "", "").name.partition("/")[2]
    existing: list[list[str] | None] = []
    in_database(sink.address or "", lambda connection: existing.append(table_columns(connection, table)))
    names = existing[-1]
    if names is not None and (missing := [name for name in columns if name not in names]):
        raise UsageError(
            f"the table {table} has no column {', '.join(missing)}",
            detail=f"its columns are {', '.join(names)}",
            hint="rename the column of the query with AS, add it to the table, or name another table",
        )


def check_ledger(sink: Sink, run_id: str, planned: int) -> None:
    """Raise CheckpointError if PostgreSQL has a micro-batch after `planned`, Spark's last: the checkpoint is old.

    Their numbers would be used again for other rows, which would be skipped as duplicates. Only PostgreSQL keeps a
    ledger of micro-batches.
    """
    if sink.kind != "postgresql":
        return
    delivered: list[int] = []
    in_database(sink.address or "", lambda connection: delivered.append(last_delivered(connection, run_id)))
    if delivered[-1] > planned:
        raise CheckpointError(
            f"the database is ahead of its checkpoint: {LEDGER_TABLE} has micro-batch {delivered[-1]} of this run, and "
            f"the checkpoint knows of {planned} at most",
            hint="the checkpoint is an old one: give a new table and a new checkpoint",
        )


def _sql_type(type_name: str) -> str:
    """Return the PostgreSQL column type for a Spark type; raise UsageError if there is none."""
    name = type_name.partition("(")[0]
    if name not in _SQL_TYPES:
        raise UsageError(f"PostgreSQL gets no columns of type {type_name}")
    return _SQL_TYPES[name]


def _instant_of_micros(micros: int | None) -> Any:
    """Convert microseconds since the Unix epoch to a UTC instant; None for NULL."""
    return None if micros is None else EPOCH + timedelta(microseconds=micros)
