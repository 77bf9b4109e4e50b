"""Decode messages into rows: JSON, SenML (RFC 8428), CSV lines, bare values. Bad messages raise RejectError."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from transom.catalog.extent import Extent
from transom.catalog.reading.ticks import HintedError, read_tick, read_value
from transom.catalog.reading.wording import display_value
from transom.catalog.servers import Payload
from transom.connectors.csv_lines import parse_csv_line
from transom.connectors.files.csv_files import read_cell
from transom.model.bag import Row
from transom.model.reject_reason import RejectReason
from transom.model.schema import Attribute
from transom.model.time import Calendar
from transom.model.types import Type, Value

MAX_MESSAGE_BYTES = 1 << 20
"""Maximum size of a message in bytes."""
_ABSENT = object()
_DECIMALS = 18
_RELATIVE = 2.0**28
"""SenML times below this value are relative to now."""


class RejectError(Exception):
    """A message or reading is not a valid row; carries the reason and a detail."""

    def __init__(self, reason: RejectReason, detail: str) -> None:
        """Create the error that a message is not a valid row: `reason` is counted, `detail` is shown to people."""
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class DecodedRow(NamedTuple):
    """A row decoded from a message; `tick` is None if the arrival time applies."""

    tick: int | None
    row: Row


class MessageReader:
    """Decodes the messages of one extent: which fields hold the attributes and the time."""

    def __init__(
        self,
        extent: Extent,
        calendar: Calendar,
        fields: Sequence[tuple[str, str]],
        time_path: str | None,
        payload: Payload,
        columns: Sequence[str] = (),
    ) -> None:
        """Create a decoder of `payload` messages; `fields`: (attribute, path); `time_path` None: time of arrival.

        `payload` is their format, `fields` are pairs of attribute and path, `time_path` is the path of the time, and
        `columns` are the columns of CSV. Without a `time_path`, a message's arrival time applies.
        """
        self.extent = extent
        self.calendar = calendar
        self.fields = dict(fields)
        self.time = time_path
        self.payload = payload
        self.columns = columns
        self.timed = time_path is not None or payload is Payload.SENML

    def rows(self, raw: bytes, envelope: Mapping[str, object], now: datetime) -> list[DecodedRow]:
        """Decode a message that arrived at `now` into rows; `envelope` has the attributes from outside the payload.

        `envelope` holds the attributes that are outside the payload, such as topic levels or Kafka headers, as text or
        values. `now` is the arrival time, to which SenML times may be relative. RejectError with the reason if the
        message is invalid.
        """
        if len(raw) > MAX_MESSAGE_BYTES:
            raise RejectError(RejectReason.SIZE, f"{len(raw)} bytes, at most {MAX_MESSAGE_BYTES}")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise RejectError(RejectReason.BYTES, str(error)) from None
        if self.payload is Payload.VALUE:
            [name] = self.fields
            return [DecodedRow(None, self._row({**envelope, name: text}, read_cell))]
        if self.payload is Payload.CSV:
            return [self._line(text, envelope)]
        try:
            content = json.loads(text, parse_constant=_no_constant)
        except RecursionError:
            raise RejectError(RejectReason.DEPTH, "the JSON is nested too deeply") from None
        except ValueError as error:
            raise RejectError(RejectReason.TEXT, str(error)) from None
        if self.payload is Payload.SENML:
            return list(self._senml(content, envelope, now))
        if not isinstance(content, dict):
            raise RejectError(RejectReason.SHAPE, f"expected a JSON object, not {display_value(content)}")
        return [self._object_row(content, envelope)]

    def _object_row(self, content: Mapping[str, object], envelope: Mapping[str, object]) -> DecodedRow:
        """Decode a message that is a JSON object to a row; raise RejectError if a field is missing or does not fit.

        `envelope` has the attributes outside of it.
        """
        tick = None
        if self.time is not None:
            moment = _value_at_path(content, self.time)
            if moment is _ABSENT:
                raise RejectError(RejectReason.TIME, f"no field {self.time}")
            tick = self._tick(moment)
        values = dict(envelope)
        for name, path in self.fields.items():
            values[name] = read_field(content, path, name)
        return DecodedRow(tick, self._row(values, read_value, envelope))

    def _line(self, text: str, envelope: Mapping[str, object]) -> DecodedRow:
        """Decode a CSV line to a row, adding attributes from `envelope`; raise RejectError if it is invalid.

        `envelope` has the attributes from outside the payload.
        """
        try:
            cells = parse_csv_line(text)
        except ValueError as error:
            raise RejectError(RejectReason.CSV, str(error)) from None
        if len(cells) != len(self.columns):
            raise RejectError(RejectReason.CELLS, f"{len(cells)} cells, not {len(self.columns)}")
        content = dict(zip(self.columns, cells, strict=True))
        tick = None if self.time is None else self._tick(content[self.time])
        values = {name: content[column] for name, column in self.fields.items()}
        return DecodedRow(tick, self._row({**envelope, **values}, read_cell))

    def _tick(self, moment: object) -> int:
        """Return the tick of the time in a message; raise RejectError if it is no time or before tick 0."""
        return message_tick(moment, self.calendar)

    def _row(
        self,
        values_by_name: Mapping[str, object],
        read: Callable[[object, Type], Value],
        text_names: Mapping[str, object] = {},
    ) -> Row:
        """Convert values to a row: with `read` or, for names in `text_names`, as text; RejectError if one is unfit.

        Values are converted with `read`, or from text if the attribute is in `text_names`.
        """
        cells = []
        for attribute in self.extent.schema:
            value = values_by_name[attribute.name]
            use = read_cell if attribute.name in text_names else read
            try:
                cells.append(storable_value(use(value, attribute.type), attribute))
            except ValueError as error:
                raise RejectError(RejectReason.TYPE, f"{attribute.name}: {error}") from None
        return tuple(cells)

    def _senml(self, content: object, envelope: Mapping[str, object], now: datetime) -> Iterator[DecodedRow]:
        """Decode a SenML pack that arrived at `now` to one row per instant; raise RejectError if it is invalid.

        `envelope` has the attributes from outside the payload.
        """
        if not isinstance(content, list) or not content:
            raise RejectError(RejectReason.RECORD, "a pack is a list of records")
        groups: dict[float | None, dict[str, object]] = {}
        base: dict[str, object] = {}
        for record in content:
            if not isinstance(record, dict):
                raise RejectError(RejectReason.RECORD, f"expected a record, not {display_value(record)}")
            base |= {key: value for key, value in record.items() if key in ("bn", "bt", "bv")}
            value = next((record[key] for key in ("v", "vs", "vb") if key in record), None)
            if value is None:
                if "n" in record:
                    raise RejectError(RejectReason.RECORD, f"no value for {display_value(record['n'])}")
                continue
            name = f"{base.get('bn', '')}{record.get('n', '')}"
            start, offset, base_value = base.get("bt", 0), record.get("t", 0), base.get("bv", 0)
            numbers = [n for n in (start, offset, base_value) if isinstance(n, int | float) and not isinstance(n, bool)]
            if len(numbers) < 3:
                raise RejectError(RejectReason.RECORD, "a time or a base value is no number")
            try:
                if numbers[2] and isinstance(value, int | float):
                    value += numbers[2]
                moment = numbers[0] + numbers[1] if "bt" in base or "t" in record else None
            except OverflowError:
                raise RejectError(RejectReason.RECORD, "a sum of a base and a value is too large") from None
            groups.setdefault(moment, {})[name] = value
        for moment, fields in groups.items():
            read = self._senml_row(fields, envelope)
            yield DecodedRow(None if moment is None else self._senml_tick(moment, now), read)

    def _senml_row(self, fields: Mapping[str, object], envelope: Mapping[str, object]) -> Row:
        """Build a row from the values of one instant in a SenML pack, by name; raise RejectError if one is missing.

        `fields` has the values by record name. A record matches a field if its name ends in it; two must not.
        """
        values = dict(envelope)
        for name, path in self.fields.items():
            matches = [value for key, value in fields.items() if key == path or key.endswith((f"/{path}", f":{path}"))]
            if len(matches) != 1:
                raise RejectError(RejectReason.MISSING, f"{len(matches)} records called {path} for {name}")
            values[name] = matches[0]
        return self._row(values, read_value, envelope)

    def _senml_tick(self, moment: float, now: datetime) -> int:
        """Return the tick of a SenML time in seconds, which is since 1970 if it is large, else relative to `now`."""
        since = datetime(1970, 1, 1, tzinfo=UTC) if moment >= _RELATIVE else now
        try:
            return self._tick(since + timedelta(seconds=moment))
        except (OverflowError, ValueError):
            raise RejectError(RejectReason.TIME, f"{moment} is no time") from None


def message_tick(moment: object, calendar: Calendar) -> int:
    """Return the tick of a message's time (a tick, datetime or ISO 8601 text); raise RejectError if it is invalid."""
    try:
        return read_tick(moment, calendar)
    except HintedError as error:
        before = "before tick 0" in str(error)
        raise RejectError(RejectReason.EPOCH if before else RejectReason.TIME, str(error)) from None


def storable_value(value: Value, attribute: Attribute) -> Value:
    """Return an attribute's value unchanged; raise ValueError if a log cannot store it.

    That is invalid Unicode, or a decimal number with too many digits.
    """
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("the text is not Unicode") from None
    if isinstance(value, Decimal):
        digits = value.as_tuple()
        scale = -int(digits.exponent)
        if scale > _DECIMALS or len(digits.digits) - scale > 20:
            raise ValueError(f"{display_value(value)} has more digits than {attribute.type} keeps")
    return value


def read_field(content: object, path: str, name: str) -> object:
    """Return the value at a path in a JSON message, for the attribute `name`; raise RejectError if there is none."""
    value = _value_at_path(content, path)
    if value is _ABSENT:
        raise RejectError(RejectReason.MISSING, f"no field {path} for {name}")
    return value


def _value_at_path(content: object, path: str) -> object:
    """Return the value at a path in JSON, such as `body.temp` or `readings.0`; _ABSENT if there is none.

    A key equal to the whole path wins.
    """
    if isinstance(content, dict) and path in content:
        return content[path]
    value = content
    for part in path.split("."):
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return _ABSENT
    return value


def _no_constant(name: str) -> object:
    """Raise ValueError for NaN and Infinity, which the JSON parser accepts although standard JSON lacks them."""
    raise ValueError(f"{name} is no JSON")
