"""A first catalog from a look at a source: types, time column, rate and keys are guessed, and every guess says so."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from urllib.parse import unquote, urlsplit

from transom.catalog.extents import Catalog
from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import Kafka
from transom.catalog.sources import ENDINGS, Format
from transom.connectors.files.lines import read_lines
from transom.connectors.files.parquet import read_parquet
from transom.connectors.files.text import read_csv
from transom.connectors.kafka.read import messages
from transom.errors import UsageError

MOST = 500
"""Rows that are looked at."""
_TIMES = ("tick", "time", "timestamp", "ts", "at", "when", "date", "event_time", "created_at")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}\Z")
_READERS = {Format.CSV: read_csv, Format.JSONL: read_lines, Format.PARQUET: read_parquet}
_WAYS = "kafka://HOST:PORT/TOPIC, mqtt://HOST:PORT/TOPIC, postgresql://USER@HOST:PORT/DATABASE/TABLE, or a file"


def first_catalog(place: str, seconds: float = 5.0) -> str:
    """The text of a catalog for a source; it is one that `Catalog.read` takes."""
    scheme, found, _ = place.partition("://")
    parts = urlsplit(place)
    path = parts.path.strip("/")
    match scheme if found else "file":
        case "kafka":
            raws = [one.value or b"" for one in messages(Kafka(parts.netloc, path, (), None, (), None), MOST)]
            text = _pushed(_name(path), _objects(raws), ["kafka:", f"  servers: {parts.netloc}", f"  topic: {path}"])
        case "mqtt" | "mqtts":
            raws = _listened(place, seconds)
            lines = ["mqtt:", f"  broker: {scheme}://{parts.netloc.rpartition('@')[2]}", f"  topic: {_quoted(path)}"]
            if parts.username:
                lines += [f"  user: {parts.username}", *([f"  password: {parts.password}"] if parts.password else [])]
            text = _pushed(_name(path), _objects(raws), lines)
        case "postgresql":
            text = _stored(place)
        case "file":
            text = _file(place)
        case _:
            raise UsageError(f"nothing is known of {scheme}://", hint=f"give {_WAYS}")
    Catalog.read(text)
    return text


def _objects(raws: Sequence[bytes]) -> list[Mapping[str, object]]:
    """The JSON objects among messages, nested ones with the path as their name."""
    found: list[Mapping[str, object]] = []
    for raw in raws:
        try:
            content = json.loads(raw)
        except ValueError:
            continue
        if isinstance(content, dict):
            found.append(_flat(content, ""))
    if not found:
        raise UsageError(f"no JSON object among {len(raws)} messages", hint="try again while messages come")
    return found


def _flat(content: Mapping[str, object], before: str) -> dict[str, object]:
    flat: dict[str, object] = {}
    for key, value in content.items():
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, dict) else {f"{before}{key}": value}
    return flat


def _listened(place: str, seconds: float) -> list[bytes]:
    """What a broker says within some seconds."""
    mqtt = needed("paho.mqtt.client", "mqtt")
    parts = urlsplit(place)
    heard: list[bytes] = []
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    if parts.username:
        client.username_pw_set(unquote(parts.username), resolved(parts.password or "") or None)
    client.on_message = lambda _, __, message: heard.append(message.payload)
    client.on_connect = lambda one, *_: one.subscribe(parts.path.strip("/"))
    try:
        client.connect(parts.hostname, parts.port or 1883)
    except OSError as error:
        raise UsageError(f"no broker at {parts.hostname}", detail=str(error)) from error
    client.loop_start()
    threading.Event().wait(seconds)
    client.disconnect()
    client.loop_stop()
    return heard[:MOST]


def _stored(place: str) -> str:
    psycopg = needed("psycopg", "postgresql", "postgresql")
    parts = urlsplit(place)
    database, _, table = parts.path.strip("/").partition("/")
    url = f"postgresql://{parts.netloc.replace(f':{parts.password}@', '@')}/{database}"
    password = {"password": resolved(parts.password)} if parts.password else {}
    try:
        with psycopg.connect(url, **password) as one:
            words = psycopg.sql.SQL("SELECT * FROM {} LIMIT {}").format(psycopg.sql.Identifier(*table.split(".")), MOST)
            cursor = one.execute(words)
            names = [column.name for column in cursor.description]
            rows = [dict(zip(names, row)) for row in cursor.fetchall()]
    except psycopg.Error as error:
        raise UsageError(f"cannot read {table or 'a table'} at {parts.hostname}", detail=str(error)) from error
    lines = ["postgresql:", f"  url: {url}", f"  table: {table}", "  every: 1 min  # a guess: how often to look"]
    if parts.password:
        lines.append(f"  password: {parts.password}")
    columns = {name: [row[name] for row in rows] for name in names}
    attributes, fields = _attributes(columns)
    return _text(_name(table), f"stored ({attributes})", [], [*lines, *fields], f"{len(rows)} rows")


def _file(place: str) -> str:
    form = ENDINGS.get(Path(place).suffix.lower())
    if form is None or not Path(place).is_file():
        raise UsageError(f"no file {place} that can be read", hint=f"give {_WAYS}")
    records = _READERS[form](place)
    names = [str(name) for name in next(records).values]
    rows = [dict(zip(names, record.values)) for record, _ in zip(records, range(MOST))]
    columns = {name: [_typed(row[name]) if form is Format.CSV else row[name] for row in rows] for name in names}
    time = _time(columns)
    if time is None:
        attributes, _ = _attributes(columns)
        return _text(
            _name(Path(place).stem), f"stored ({attributes})", [], [f"files: {_quoted(place)}"], f"{len(rows)} rows"
        )
    note = "  # a guess, by its name"
    lines = ["files:", f"  path: {_quoted(place)}", f"  time: {time}{note}"]
    attributes, _ = _attributes({name: column for name, column in columns.items() if name != time})
    pace = _pace(columns, time)
    return _text(_name(Path(place).stem), f"pushed ({attributes})", pace, lines, f"{len(rows)} rows")


def _pushed(name: str, rows: Sequence[Mapping[str, object]], lines: list[str]) -> str:
    columns = {key: [row.get(key) for row in rows] for key in dict.fromkeys(key for row in rows for key in row)}
    time = _time(columns)
    attributes, fields = _attributes({key: column for key, column in columns.items() if key != time})
    if time is not None:
        lines = [*lines, f"  time: {time}  # a guess, by its name"]
    return _text(name, f"pushed ({attributes})", _pace(columns, time), [*lines, *fields], f"{len(rows)} messages")


def _text(name: str, declared: str, more: list[str], source: list[str], seen: str) -> str:
    body = [
        f"    declare: {declared}  # types are guesses from {seen}",
        *(f"    {line}" for line in more),
        "    source:",
    ]
    return "\n".join(["extents:", f"  {name}:", *body, *(f"      {line}" for line in source)]) + "\n"


def _attributes(columns: Mapping[str, Sequence[object]]) -> tuple[str, list[str]]:
    """The attributes with their types, and where those are whose name had to change."""
    declared, fields = [], []
    for key, column in columns.items():
        name = _name(key)
        declared.append(f"{name}:{_type(column)}")
        if name != key:
            fields.append(f"{name}: {_quoted(key)}")
    if not declared:
        raise UsageError("the source has no attributes beside its time", hint="write the catalog by hand")
    return ", ".join(declared), [f"  fields: {{{', '.join(fields)}}}"] if fields else []


def _type(column: Sequence[object]) -> str:
    """The narrowest type that holds all values of a column."""
    given = [value for value in column if value is not None]
    if given and all(isinstance(value, bool) for value in given):
        return "boolean"
    if given and all(isinstance(value, int) and not isinstance(value, bool) for value in given):
        return "integer"
    if given and all(isinstance(value, Decimal) for value in given):
        return "decimal"
    if given and all(isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in given):
        return "float"
    return "timestamp" if given and all(_instant(value) is not None for value in given) else "string"


def _typed(cell: object) -> object:
    """What the text of a CSV cell looks like."""
    if not isinstance(cell, str):
        return cell
    if cell.lower() in ("true", "false"):
        return cell.lower() == "true"
    if _NUMBER.match(cell):
        return int(cell)
    try:
        return float(cell)
    except ValueError:
        return cell


def _time(columns: Mapping[str, Sequence[object]]) -> str | None:
    """The column that says when: one that is called so, else the only one of instants."""
    named = [key for key in columns if key.rpartition(".")[2].lower() in _TIMES]
    fitting = [key for key in named if _type(columns[key]) in ("timestamp", "integer")]
    if fitting:
        return fitting[0]
    instants = [key for key, column in columns.items() if _type(column) == "timestamp"]
    return instants[0] if len(instants) == 1 else None


def _pace(columns: Mapping[str, Sequence[object]], time: str | None) -> list[str]:
    """The rate of the sample, and how many values the column has that rows seem to be grouped by."""
    lines = []
    moments = [moment for value in columns.get(time or "", ()) if (moment := _instant(value)) is not None]
    if len(moments) > 1 and max(moments) > min(moments):
        per_minute = len(moments) * 60 / (max(moments) - min(moments)).total_seconds()
        lines.append(f"rate: {max(1, round(2 * per_minute))} per min  # a guess: twice the rate of the sample")
    for key, column in columns.items():
        values = {value for value in column if isinstance(value, str)}
        if key != time and 1 < len(values) <= len(column) // 2 and _type(column) == "string":
            lines.append(f"keys: {len(values)}  # a guess: {key} has so many values in the sample")
            break
    return lines


def _instant(value: object) -> datetime | None:
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if isinstance(value, str) and len(value) >= 10:
        try:
            return _instant(datetime.fromisoformat(value))
        except ValueError:
            return None
    return None


def _name(text: str) -> str:
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_") or "source"
    return f"_{name}" if name[0].isdigit() else name


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
