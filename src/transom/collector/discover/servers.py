"""Sample a server: messages of a Kafka or MQTT topic, or rows of a PostgreSQL table."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

from transom.catalog.addresses import broker_tls, read_address
from transom.catalog.catalog import Catalog
from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.reading.wording import display_value
from transom.catalog.servers import Kafka
from transom.catalog.tls import TLS_OPTIONS, Tls, client_context, error_text
from transom.collector.clock import now
from transom.collector.discover.fit import choose_time
from transom.collector.discover.infer import ABSENT, parse_cell
from transom.collector.discover.names import valid_name, yaml_text
from transom.collector.discover.sample import ADDRESS_FORMS, SAMPLE_SIZE, Sample, catalog_text, file_sample
from transom.connectors.kafka.read import KafkaMessage, messages
from transom.errors import UsageError

FIRST = 20
"""Oldest messages per partition to sample for the earliest time."""
_SHOWN = 200
"""How many bytes of a message an error shows."""
_SECRET = re.compile(r"password|secret|jaas")
_SQL = {
    **dict.fromkeys((20, 21, 23), "integer"),
    **dict.fromkeys((700, 701), "float"),
    **dict.fromkeys((1082, 1114, 1184), "timestamp"),
    16: "boolean",
    1700: "decimal",
}
"""Types by PostgreSQL type OID; the collector reads all others as text."""
_PRIMARY = """
    SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indisprimary AND i.indrelid = to_regclass(%s) ORDER BY array_position(i.indkey, a.attnum)
"""


def discover_catalog(
    address: str,
    listen_seconds: float = 5.0,
    kafka_options: Mapping[str, str] | None = None,
    catalog_folder: Path = Path(),
) -> str:
    """Draft a catalog from a sample of the file, table or topic at `address`; MQTT is heard for `listen_seconds`.

    An MQTT topic is sampled for some seconds. `kafka_options` are settings of the Kafka client. UsageError if the
    address is invalid or contains a secret. The catalog is to be saved in `catalog_folder`: paths in it are relative to
    that.
    """
    scheme, separator, rest = address.partition("://")
    if not separator:
        return catalog_text(file_sample(address, catalog_folder))
    login = re.match(r"\w+://[^:@/]*:(?!\d+/)([^@]*)@", address)
    secret = login[1] if login else ""
    if (login and not re.fullmatch(r"\$\{[^{}]+\}", secret)) or re.search(r"[?&](ssl)?password=", address):
        raise UsageError("secrets must not be written in an address", hint="write '${NAME}' or '${file:PATH}' for it")
    escaped, rest = (text.replace(secret, quote(secret, safe="")) if login else text for text in (address, rest))
    parts = urlsplit(escaped.replace("#", "%23"))
    path = rest.partition("/")[2].strip("/")
    try:
        _ = parts.port
    except ValueError as error:
        raise UsageError(f"{address} is no address", detail=str(error), hint=f"give {ADDRESS_FORMS}") from None
    if not parts.hostname or not path:
        raise UsageError(f"nothing is named by {address}", hint=f"give {ADDRESS_FORMS}")
    if kafka_options and scheme != "kafka":
        raise UsageError("options are for Kafka", hint="leave them out")
    match scheme:
        case "kafka":
            return catalog_text(_sample_topic(parts.netloc, path, kafka_options or {}))
        case "mqtt" | "mqtts":
            tls = broker_tls(read_address(f"{scheme}://x/x?{parts.query}", ADDRESS_FORMS))
            return catalog_text(_sample_broker(parts, path.partition("?")[0], listen_seconds, tls))
        case "postgresql":
            return catalog_text(_sample_table(parts, path.partition("?")[0]))
        case _:
            raise UsageError(f"nothing is known of {scheme}://", hint=f"give {ADDRESS_FORMS}")


def _sample_topic(servers: str, topic: str, kafka_options: Mapping[str, str]) -> Sample:
    """Sample the messages of a Kafka topic; raise UsageError if none of them is a JSON object.

    `servers` is a list of HOST:PORT, separated by commas; `kafka_options` are settings of the Kafka client.
    """
    if "@" in servers:
        hint = "--option 'sasl.jaas.config=${KAFKA_JAAS}', and whatever else the brokers want"
        raise UsageError("Kafka takes no user in its address", hint=hint)
    for name, value in kafka_options.items():
        if _SECRET.search(name) and "${" not in value:
            raise UsageError(f"the option {name} is a secret", hint=f"write {name}='${{NAME}}'")
    servers = ",".join(server if ":" in server else f"{server}:9092" for server in servers.split(","))
    lines = ["kafka:", f"  servers: {yaml_text(servers)}", f"  topic: {yaml_text(topic)}"]
    if kafka_options:
        lines += ["  options:", *(f"    {name}: {yaml_text(value)}" for name, value in kafka_options.items())]
    recent = messages(_source(lines), SAMPLE_SIZE)
    recent_offsets = {(message.partition, message.offset) for message in recent}
    first = messages(_source(lines), FIRST, first=True)
    oldest = [message for message in first if (message.partition, message.offset) not in recent_offsets]
    sampled = [*sorted(oldest, key=_stamp), *sorted(recent, key=_stamp)[-SAMPLE_SIZE:]]
    payloads = [(message.value or b"", message.moment) for message in sampled]
    objects, arrivals, positions = _objects(payloads)
    if not objects:
        raise _no_messages([payload for payload, _ in payloads], f"the topic {topic}", "is empty", "a JSON object")
    recent_count = sum(position >= len(oldest) for position in positions)
    other_count = len(sampled) - len(objects)
    note = [f"  # {other_count} of {len(sampled)} messages are no JSON objects: they go there"] if other_count else []
    name = valid_name(topic)
    lines += [*note, f"  dead: dead/{name}  # messages that are no rows; without it the first one stops a query"]
    columns = _columns(objects)
    return Sample(
        name,
        lines,
        columns,
        "messages",
        [f"partition {sampled[position].partition}, offset {sampled[position].offset}" for position in positions],
        "become dead letters",
        arrivals,
        recent_count,
        time=choose_time(columns, has_time_format=False),
    )


def _source(lines: Sequence[str]) -> Kafka:
    """Parse the YAML lines of a catalog's Kafka source to a Kafka object, from which a sample can be read."""
    only = ["extents:", "  it:", "    declare: pushed (x:string)", "    source:", *(f"      {line}" for line in lines)]
    source = Catalog.read("\n".join(only)).extents["it"].source
    if not isinstance(source, Kafka):
        raise TypeError(source)
    return source


def _stamp(message: KafkaMessage) -> int:
    """Return the timestamp of a sampled Kafka message in milliseconds, by which messages are sorted."""
    return message.stamp


def _no_messages(messages: Sequence[bytes], topic: str, empty: str, expected: str) -> UsageError:
    """Build the error that no sampled message of a topic is usable: the topic is `empty`, or none is `expected`."""
    if not messages:
        hint = "start what sends messages and try again; `--for` sets how long init listens to an MQTT broker"
        return UsageError(f"{topic} {empty}", hint=hint)
    first = display_value(messages[0][:_SHOWN].decode("utf-8", "replace"))
    detail = f"the first of the {len(messages)} sampled messages is {first}"
    hint = "write the catalog by hand; docs/catalog.md lists the formats of messages"
    return UsageError(f"no message of {topic} is {expected}", detail=detail, hint=hint)


def _objects(
    raws: Sequence[tuple[bytes, datetime]],
) -> tuple[list[Mapping[str, object]], list[datetime], list[int]]:
    """Return the messages that are JSON objects, their arrival times, and their indexes among all messages.

    Nested members of an object get dotted names.
    """
    contents = [_json(raw) for raw, _ in raws]
    positions = [position for position, content in enumerate(contents) if isinstance(content, dict)]
    objects: list[Mapping[str, object]] = [_flatten(content, "") for content in contents if isinstance(content, dict)]
    return objects, [raws[position][1] for position in positions], positions


def _json(raw: bytes) -> object:
    """Parse a message as JSON; return a message that is not JSON as text, or None if it is blank or not ASCII."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw.decode("utf-8") if raw.isascii() and raw.strip() else None


def _flatten(content: Mapping[str, object], prefix: str) -> dict[str, object]:
    """Flatten nested JSON objects: {"a": {"b": 1}} is {"a.b": 1}; `prefix` is put before each member's name."""
    flat: dict[str, object] = {}
    for key, value in content.items():
        flat |= _flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat


def _columns(rows: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    """Turn sampled rows into columns: a list of values per column name, with ABSENT for rows that lack the name."""
    return {key: [row.get(key, ABSENT) for row in rows] for key in dict.fromkeys(key for row in rows for key in row)}


def _sample_broker(parts: SplitResult, topic: str, seconds: float, tls: Tls | None) -> Sample:
    """Sample the topic of the MQTT broker at URL `parts` for some seconds, without TLS if `tls` is None.

    Raise UsageError if no message is usable.

    `parts` is the broker's URL; the connection is plain TCP if `tls` is None. Messages may be JSON objects, SenML packs
    or bare values.
    """
    levels = topic.split("/")
    named = {index: level[1:-1] for index, level in enumerate(levels) if re.fullmatch(r"\{\w+\}", level)}
    guessed = {index: f"level{index + 1}" for index, level in enumerate(levels) if level == "+"}
    topic_filter = "/".join("+" if index in named else level for index, level in enumerate(levels))
    received = _receive(parts, topic_filter, seconds, tls)
    named |= guessed
    shape, rows, arrivals = _payloads(
        received, next((valid_name(p) for p in levels[::-1] if re.match(r"\w", p)), "value")
    )
    if not rows:
        empty = f"sent no message in {seconds:g} s"
        expected = "JSON, SenML or a single value"
        raise _no_messages([payload for _, payload, _ in received], f"the topic {topic_filter}", empty, expected)
    level_columns: dict[str, list[object]] = {
        name: [parse_cell(message_topic.split("/")[index]) for message_topic, _ in rows]
        for index, name in named.items()
    }
    host = parts.netloc.rpartition("@")[2]
    written_topic = "/".join(f"{{{named[index]}}}" if index in named else level for index, level in enumerate(levels))
    note = "  # names of levels are guesses" if guessed else ""
    lines = [
        "mqtt:",
        f"  broker: {yaml_text(f'{parts.scheme}://{host}')}",
        f"  topic: {yaml_text(written_topic)}{note}",
    ]
    if shape != "json":
        lines.append(f"  payload: {shape}  # a guess, by how the messages look")
    if parts.username:
        lines.append(f"  user: {yaml_text(unquote(parts.username))}")
    if parts.password:
        lines.append(f"  password: {unquote(parts.password)}")
    files = {} if tls is None else {name: getattr(tls, name) for name in TLS_OPTIONS if getattr(tls, name) is not None}
    if files:
        lines += ["  tls:", *(f"    {name}: {yaml_text(str(Path(path).absolute()))}" for name, path in files.items())]
    if len(rows) < len(received):
        lines.append(
            f"  # {len(received) - len(rows)} of {len(received)} messages are not {shape}: they are dead letters"
        )
    columns = {
        **level_columns,
        **{key: cells for key, cells in _columns([row for _, row in rows]).items() if key not in level_columns},
    }
    name = valid_name("_".join(level for level in levels if re.match(r"\w", level)))
    return Sample(
        name,
        lines,
        columns,
        "messages",
        misfits_become="become dead letters",
        arrived_at=arrivals,
        timed=shape == "json",
        time=choose_time(columns, has_time_format=False) if shape == "json" else None,
    )


def _payloads(
    received: Sequence[tuple[str, bytes, datetime]], bare_value_column: str
) -> tuple[str, list[tuple[str, Mapping[str, object]]], list[datetime]]:
    """Return the most frequent format of (topic, payload, arrival), its (topic, row) pairs and its arrival times.

    Messages are (topic, payload, arrival time). A bare value becomes a row with one column, `bare_value_column`.
    Messages in other formats are left out.
    """
    by_shape: dict[str, list[tuple[str, Mapping[str, object], datetime]]] = {"json": [], "senml": [], "value": []}
    for topic, raw, arrival in received:
        content = _json(raw)
        if isinstance(content, dict):
            by_shape["json"].append((topic, _flatten(content, ""), arrival))
        elif isinstance(content, list):
            records = _records(content)
            if records:
                by_shape["senml"].append((topic, records, arrival))
        elif content is not None:
            by_shape["value"].append((topic, {bare_value_column: parse_cell(raw.decode("utf-8").strip())}, arrival))
    shape = max(by_shape, key=lambda candidate: len(by_shape[candidate]))
    return shape, [(topic, row) for topic, row, _ in by_shape[shape]], [arrival for *_, arrival in by_shape[shape]]


def _records(content: Sequence[object]) -> dict[str, object]:
    """Convert a SenML pack to a row that has each measurement's last value; the row is empty if it is invalid.

    A measurement is named by the last part of its SenML name.
    """
    base_name, values = "", {}
    for record in content:
        if not isinstance(record, dict):
            return {}
        base_name = str(record.get("bn", base_name))
        record_values = [record[key] for key in ("v", "vs", "vb") if key in record]
        if record_values:
            values[re.split("[/:]", f"{base_name}{record.get('n', '')}")[-1]] = record_values[0]
    return values


def _receive(parts: SplitResult, topic: str, seconds: float, tls: Tls | None) -> list[tuple[str, bytes, datetime]]:
    """Return an MQTT topic's messages of some seconds, from the broker at URL `parts`, as (topic, payload, arrival).

    `parts` is the broker's URL; the connection is plain TCP if `tls` is None. It stops after `seconds`, or after
    SAMPLE_SIZE messages. UsageError if there is no broker, or if it refuses.
    """
    mqtt = require_library("paho.mqtt.client", "mqtt")
    received: list[tuple[str, bytes, datetime]] = []
    problems: list[str] = []
    done = threading.Event()
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    if parts.username:
        client.username_pw_set(unquote(parts.username), resolve_references(unquote(parts.password or "")) or None)
    if tls is not None:
        client.tls_set_context(client_context(tls))

    def subscribe(connection: Any, _: Any, __: Any, code: Any, ___: Any) -> None:
        """MQTT callback on connecting: subscribe to the topic, or stop waiting if `code` is a refusal."""
        if code.is_failure:
            problems.append(str(code))
            done.set()
        else:
            connection.subscribe(topic, qos=1)

    def receive(_: Any, __: Any, message: Any) -> None:
        """Append a received MQTT message to the sample; end the wait after SAMPLE_SIZE messages."""
        received.append((message.topic, message.payload, now()))
        if len(received) >= SAMPLE_SIZE:
            done.set()

    client.on_connect, client.on_message = subscribe, receive
    try:
        client.connect(parts.hostname, parts.port or (8883 if parts.scheme == "mqtts" else 1883))
    except OSError as error:
        raise UsageError(f"no broker at {parts.hostname}", detail=error_text(error)) from error
    client.loop_start()
    done.wait(seconds)
    client.disconnect()
    client.loop_stop()
    if problems:
        hint = f"give user and password: {parts.scheme}://USER:${{NAME}}@HOST/TOPIC, in single quotes"
        raise UsageError(f"the broker {parts.hostname} refuses: {problems[0]}", hint=hint)
    return received[:SAMPLE_SIZE]


def _sample_table(parts: SplitResult, path: str) -> Sample:
    """Sample a PostgreSQL table's rows, column types, row count and primary key; `path` is DATABASE/TABLE.

    `path` is DATABASE/TABLE. `parts` is the address. UsageError if the table cannot be read.
    """
    psycopg = require_library("psycopg", "postgresql", "postgresql")
    database, _, table = path.partition("/")
    if not table:
        raise UsageError("no table is named", hint="give postgresql://USER@HOST:PORT/DATABASE/TABLE")
    user = f"{parts.username}@" if parts.username else ""
    url = f"postgresql://{user}{parts.netloc.rpartition('@')[2]}/{database}{'?' if parts.query else ''}{parts.query}"
    password = {"password": resolve_references(unquote(parts.password))} if parts.password else {}
    sql = psycopg.sql
    name = sql.Identifier(*table.split("."))
    try:
        with psycopg.connect(url, connect_timeout=10, **password) as connection:
            cursor = connection.execute(sql.SQL("SELECT * FROM {} LIMIT {}").format(name, SAMPLE_SIZE))
            described, rows = list(cursor.description), cursor.fetchall()
            [count] = connection.execute(sql.SQL("SELECT count(*) FROM {}").format(name)).fetchone()
            keys = [key for (key,) in connection.execute(_PRIMARY, (name.as_string(connection),)).fetchall()]
    except psycopg.Error as error:
        detail = re.sub(r"\s+", " ", str(error))
        raise UsageError(f"cannot read {table} at {parts.hostname}", detail=detail) from None
    lines = ["postgresql:", f"  url: {yaml_text(url)}", f"  table: {yaml_text(table)}"]
    lines += ["  every: 1 min  # a guess: how often to look"]
    lines += [f"  password: {unquote(parts.password)}"] if parts.password else []
    more = [f"rows: {max(10, 2 * count)}  # a guess: twice what is there now; more are refused"]
    more += [f"# its primary key: {', '.join(keys)}"] if keys else []
    columns = {column.name: [row[index] for row in rows] for index, column in enumerate(described)}
    types = {column.name: _SQL.get(column.type_code, "string") for column in described}
    return Sample(
        valid_name(table.rpartition(".")[2]),
        lines,
        columns,
        "rows",
        arrived_at=[now()],
        stored=True,
        types=types,
        more=more,
    )
