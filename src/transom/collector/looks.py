"""A look at a server: some messages of a topic, some rows of a table, and what the catalog is to say of it."""

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
from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import Kafka
from transom.catalog.tls import NAMES, Tls, client_context, told
from transom.collector.clock import now
from transom.collector.guesses import ABSENT, name_of, quoted, typed
from transom.collector.sample import MOST, WAYS, Sample, file_sample, written
from transom.connectors.kafka.read import Message, messages
from transom.errors import UsageError

FIRST = 20
"""Messages of each partition that are looked at for the earliest time."""
_SECRET = re.compile(r"password|secret|jaas")
_SQL = {
    **dict.fromkeys((20, 21, 23), "integer"),
    **dict.fromkeys((700, 701), "float"),
    **dict.fromkeys((1082, 1114, 1184), "timestamp"),
    16: "boolean",
    1700: "decimal",
}
"""Types of PostgreSQL by number; the collector takes all others by their text."""
_PRIMARY = """
    SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
    WHERE i.indisprimary AND i.indrelid = to_regclass(%s) ORDER BY array_position(i.indkey, a.attnum)
"""


def first_catalog(
    place: str, seconds: float = 5.0, options: Mapping[str, str] | None = None, folder: Path = Path()
) -> str:
    """The text of a catalog for a source, to stand in a folder; `options` are settings of Kafka's own."""
    scheme, found, rest = place.partition("://")
    if not found:
        return written(file_sample(place, folder))
    login = re.match(r"\w+://[^:@/]*:(?!\d+/)([^@]*)@", place)
    secret = login[1] if login else ""
    if (login and not re.fullmatch(r"\$\{[^{}]+\}", secret)) or re.search(r"[?&](ssl)?password=", place):
        raise UsageError("a secret does not stand in an address", hint="write '${NAME}' or '${file:PATH}' for it")
    whole, rest = (one.replace(secret, quote(secret, safe="")) if login else one for one in (place, rest))
    parts = urlsplit(whole.replace("#", "%23"))
    path = rest.partition("/")[2].strip("/")
    try:
        _ = parts.port
    except ValueError as error:
        raise UsageError(f"{place} is no address", detail=str(error), hint=f"give {WAYS}") from None
    if not parts.hostname or not path:
        raise UsageError(f"nothing is named by {place}", hint=f"give {WAYS}")
    if options and scheme != "kafka":
        raise UsageError("options are for Kafka", hint="leave them out")
    match scheme:
        case "kafka":
            return written(_topic(parts.netloc, path, options or {}))
        case "mqtt" | "mqtts":
            tls = broker_tls(read_address(f"{scheme}://x/x?{parts.query}", WAYS))
            return written(_broker(parts, path.partition("?")[0], seconds, tls))
        case "postgresql":
            return written(_table(parts, path.partition("?")[0]))
        case _:
            raise UsageError(f"nothing is known of {scheme}://", hint=f"give {WAYS}")


def _topic(servers: str, topic: str, options: Mapping[str, str]) -> Sample:
    if "@" in servers:
        hint = "--option 'sasl.jaas.config=${KAFKA_JAAS}', and whatever else the brokers want"
        raise UsageError("Kafka takes no user in its address", hint=hint)
    for name, value in options.items():
        if _SECRET.search(name) and "${" not in value:
            raise UsageError(f"the option {name} is a secret", hint=f"write {name}='${{NAME}}'")
    servers = ",".join(one if ":" in one else f"{one}:9092" for one in servers.split(","))
    lines = ["kafka:", f"  servers: {quoted(servers)}", f"  topic: {quoted(topic)}"]
    if options:
        lines += ["  options:", *(f"    {name}: {quoted(value)}" for name, value in options.items())]
    recent = messages(_source(lines), MOST)
    known = {(one.partition, one.offset) for one in recent}
    first = messages(_source(lines), FIRST, first=True)
    oldest = [one for one in first if (one.partition, one.offset) not in known]
    found = [*sorted(oldest, key=_stamp), *sorted(recent, key=_stamp)[-MOST:]]
    told = [(one.value or b"", one.moment) for one in found]
    objects, came, others = _objects(told)
    if not objects:
        raise _nothing(len(found))
    late = len(_objects(told[len(oldest) :])[0])
    note = [f"  # {others} of {len(found)} messages are no JSON objects: they go there"] if others else []
    name = name_of(topic)
    lines += [*note, f"  dead: dead/{name}  # messages that are no rows; without it the first one stops a query"]
    return Sample(name, lines, _columns(objects), f"{len(objects)} messages", came, late)


def _source(lines: Sequence[str]) -> Kafka:
    """What the catalog would make of these lines."""
    only = ["extents:", "  it:", "    declare: pushed (x:string)", "    source:", *(f"      {line}" for line in lines)]
    source = Catalog.read("\n".join(only)).extents["it"].source
    if not isinstance(source, Kafka):
        raise TypeError(source)
    return source


def _stamp(message: Message) -> int:
    return message.stamp


def _nothing(count: int) -> UsageError:
    return UsageError(f"nothing that can be read among {count} messages", hint="try again while messages come")


def _objects(
    raws: Sequence[tuple[bytes, datetime]],
) -> tuple[list[Mapping[str, object]], list[datetime], int]:
    """The JSON objects among messages, nested ones with the path as their name, and when they came."""
    read = [(content, came) for raw, came in raws if isinstance(content := _json(raw), dict)]
    return [_flat(content, "") for content, _ in read], [came for _, came in read], len(raws) - len(read)


def _json(raw: bytes) -> object:
    """What a message says; its text where it is no JSON, None where it is no text."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw.decode("utf-8") if raw.isascii() and raw.strip() else None


def _flat(content: Mapping[str, object], before: str) -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in content.items():
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, dict) else {f"{before}{key}": value}
    return flat


def _columns(rows: Sequence[Mapping[str, object]]) -> dict[str, list[object]]:
    return {key: [row.get(key, ABSENT) for row in rows] for key in dict.fromkeys(key for row in rows for key in row)}


def _broker(parts: SplitResult, topic: str, seconds: float, tls: Tls | None) -> Sample:
    """What a broker says within some seconds: JSON objects, packs of SenML, or bare values."""
    levels = topic.split("/")
    named = {place: level[1:-1] for place, level in enumerate(levels) if re.fullmatch(r"\{\w+\}", level)}
    guessed = {place: f"level{place + 1}" for place, level in enumerate(levels) if level == "+"}
    wanted = "/".join("+" if place in named else level for place, level in enumerate(levels))
    heard = _heard(parts, wanted, seconds, tls)
    named |= guessed
    shape, rows, came = _payloads(heard, next((name_of(p) for p in levels[::-1] if re.match(r"\w", p)), "value"))
    if not rows:
        raise _nothing(len(heard))
    found: dict[str, list[object]] = {
        name: [typed(told.split("/")[place]) for told, _ in rows] for place, name in named.items()
    }
    host = parts.netloc.rpartition("@")[2]
    written_topic = "/".join(f"{{{named[place]}}}" if place in named else level for place, level in enumerate(levels))
    note = "  # names of levels are guesses" if guessed else ""
    lines = ["mqtt:", f"  broker: {quoted(f'{parts.scheme}://{host}')}", f"  topic: {quoted(written_topic)}{note}"]
    if shape != "json":
        lines.append(f"  payload: {shape}  # a guess, by how the messages look")
    if parts.username:
        lines.append(f"  user: {quoted(unquote(parts.username))}")
    if parts.password:
        lines.append(f"  password: {unquote(parts.password)}")
    files = {} if tls is None else {name: getattr(tls, name) for name in NAMES if getattr(tls, name) is not None}
    if files:
        lines += ["  tls:", *(f"    {name}: {quoted(str(Path(path).absolute()))}" for name, path in files.items())]
    if len(rows) < len(heard):
        lines.append(f"  # {len(heard) - len(rows)} of {len(heard)} messages are not {shape}: they are dead letters")
    columns = {**found, **{key: cells for key, cells in _columns([row for _, row in rows]).items() if key not in found}}
    name = name_of("_".join(level for level in levels if re.match(r"\w", level)))
    return Sample(name, lines, columns, f"{len(rows)} messages", came, timed=shape == "json")


def _payloads(
    heard: Sequence[tuple[str, bytes, datetime]], name: str
) -> tuple[str, list[tuple[str, Mapping[str, object]]], list[datetime]]:
    """How most messages are written, those that are, and when each was."""
    by_shape: dict[str, list[tuple[str, Mapping[str, object], datetime]]] = {"json": [], "senml": [], "value": []}
    for topic, raw, came in heard:
        content = _json(raw)
        if isinstance(content, dict):
            by_shape["json"].append((topic, _flat(content, ""), came))
        elif isinstance(content, list):
            records = _records(content)
            if records:
                by_shape["senml"].append((topic, records, came))
        elif content is not None:
            by_shape["value"].append((topic, {name: typed(raw.decode("utf-8").strip())}, came))
    shape = max(by_shape, key=lambda one: len(by_shape[one]))
    return shape, [(topic, row) for topic, row, _ in by_shape[shape]], [came for *_, came in by_shape[shape]]


def _records(content: Sequence[object]) -> dict[str, object]:
    """The values of a pack of SenML by the last part of their names; the latest where there are several."""
    base, found = "", {}
    for record in content:
        if not isinstance(record, dict):
            return {}
        base = str(record.get("bn", base))
        values = [record[key] for key in ("v", "vs", "vb") if key in record]
        if values:
            found[re.split("[/:]", f"{base}{record.get('n', '')}")[-1]] = values[0]
    return found


def _heard(parts: SplitResult, topic: str, seconds: float, tls: Tls | None) -> list[tuple[str, bytes, datetime]]:
    """Topic, payload and moment of what a broker says; not longer than until there is enough."""
    mqtt = needed("paho.mqtt.client", "mqtt")
    heard: list[tuple[str, bytes, datetime]] = []
    problems: list[str] = []
    done = threading.Event()
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    if parts.username:
        client.username_pw_set(unquote(parts.username), resolved(unquote(parts.password or "")) or None)
    if tls is not None:
        client.tls_set_context(client_context(tls))

    def connected(one: Any, _: Any, __: Any, code: Any, ___: Any) -> None:
        if code.is_failure:
            problems.append(str(code))
            done.set()
        else:
            one.subscribe(topic, qos=1)

    def came(_: Any, __: Any, message: Any) -> None:
        heard.append((message.topic, message.payload, now()))
        if len(heard) >= MOST:
            done.set()

    client.on_connect, client.on_message = connected, came
    try:
        client.connect(parts.hostname, parts.port or (8883 if parts.scheme == "mqtts" else 1883))
    except OSError as error:
        raise UsageError(f"no broker at {parts.hostname}", detail=told(error)) from error
    client.loop_start()
    done.wait(seconds)
    client.disconnect()
    client.loop_stop()
    if problems:
        hint = f"give user and password: {parts.scheme}://USER:${{NAME}}@HOST/TOPIC, in single quotes"
        raise UsageError(f"the broker {parts.hostname} refuses: {problems[0]}", hint=hint)
    return heard[:MOST]


def _table(parts: SplitResult, path: str) -> Sample:
    """Some rows of a table, with the types that the database gives, its size and its primary key."""
    psycopg = needed("psycopg", "postgresql", "postgresql")
    database, _, table = path.partition("/")
    if not table:
        raise UsageError("no table is named", hint="give postgresql://USER@HOST:PORT/DATABASE/TABLE")
    user = f"{parts.username}@" if parts.username else ""
    url = f"postgresql://{user}{parts.netloc.rpartition('@')[2]}/{database}{'?' if parts.query else ''}{parts.query}"
    password = {"password": resolved(unquote(parts.password))} if parts.password else {}
    sql = psycopg.sql
    name = sql.Identifier(*table.split("."))
    try:
        with psycopg.connect(url, connect_timeout=10, **password) as one:
            cursor = one.execute(sql.SQL("SELECT * FROM {} LIMIT {}").format(name, MOST))
            described, rows = list(cursor.description), cursor.fetchall()
            [count] = one.execute(sql.SQL("SELECT count(*) FROM {}").format(name)).fetchone()
            keys = [key for (key,) in one.execute(_PRIMARY, (name.as_string(one),)).fetchall()]
    except psycopg.Error as error:
        detail = re.sub(r"\s+", " ", str(error))
        raise UsageError(f"cannot read {table} at {parts.hostname}", detail=detail) from None
    lines = ["postgresql:", f"  url: {quoted(url)}", f"  table: {quoted(table)}"]
    lines += ["  every: 1 min  # a guess: how often to look"]
    lines += [f"  password: {unquote(parts.password)}"] if parts.password else []
    more = [f"rows: {max(10, 2 * count)}  # a guess: twice what is there now; more are refused"]
    more += [f"# its primary key: {', '.join(keys)}"] if keys else []
    columns = {column.name: [row[place] for row in rows] for place, column in enumerate(described)}
    types = {column.name: _SQL.get(column.type_code, "string") for column in described}
    return Sample(
        name_of(table.rpartition(".")[2]),
        lines,
        columns,
        f"{len(rows)} rows",
        [now()],
        stored=True,
        types=types,
        more=more,
    )
