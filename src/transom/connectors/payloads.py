"""Messages to rows: JSON, SenML (RFC 8428), lines of CSV, bare values; what cannot be read is dead, with a reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from transom.catalog.extents import Extent
from transom.catalog.servers import Payload
from transom.catalog.ticks import Hinted, read_tick, read_value
from transom.catalog.wording import show
from transom.connectors.csv_lines import line_cells
from transom.connectors.files.text import read_cell
from transom.model.bag import Row
from transom.model.reasons import Reason
from transom.model.schema import Attribute
from transom.model.time import Calendar
from transom.model.types import Type, Value

LARGEST = 1 << 20
"""Bytes that a message may have."""
_ABSENT = object()
_DECIMALS = 18
_RELATIVE = 2.0**28
"""SenML counts times below this one from now."""


class Dead(Exception):
    """What came is no row."""

    def __init__(self, reason: Reason, words: str) -> None:
        super().__init__(words)
        self.reason = reason
        self.words = words


class Read(NamedTuple):
    """A row of a message; without a tick it belongs to the moment at which it came."""

    tick: int | None
    row: Row


class Reader:
    """How messages of one extent are read: where the attributes and the time are."""

    def __init__(
        self,
        extent: Extent,
        calendar: Calendar,
        fields: Sequence[tuple[str, str]],
        time: str | None,
        payload: Payload,
        columns: Sequence[str] = (),
    ) -> None:
        self.extent = extent
        self.calendar = calendar
        self.fields = dict(fields)
        self.time = time
        self.payload = payload
        self.columns = columns
        self.timed = time is not None or payload is Payload.SENML

    def rows(self, raw: bytes, known: Mapping[str, object], now: datetime) -> list[Read]:
        """The rows of one message; `known` are attributes from elsewhere, as text or values. Dead if it has none."""
        if len(raw) > LARGEST:
            raise Dead(Reason.SIZE, f"{len(raw)} bytes, at most {LARGEST}")
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Dead(Reason.BYTES, str(error)) from None
        if self.payload is Payload.VALUE:
            [name] = self.fields
            return [Read(None, self._row({**known, name: text}, read_cell))]
        if self.payload is Payload.CSV:
            return [self._line(text, known)]
        try:
            content = json.loads(text, parse_constant=_no_constant)
        except RecursionError:
            raise Dead(Reason.DEPTH, "the JSON is nested too deeply") from None
        except ValueError as error:
            raise Dead(Reason.TEXT, str(error)) from None
        if self.payload is Payload.SENML:
            return list(self._senml(content, known, now))
        if not isinstance(content, dict):
            raise Dead(Reason.SHAPE, f"expected a JSON object, not {show(content)}")
        return [self.entries(content, known)]

    def entries(self, content: Mapping[str, object], known: Mapping[str, object]) -> Read:
        """The row of one JSON object."""
        tick = None
        if self.time is not None:
            moment = _within(content, self.time)
            if moment is _ABSENT:
                raise Dead(Reason.TIME, f"no field {self.time}")
            tick = self._tick(moment)
        found = dict(known)
        for name, path in self.fields.items():
            found[name] = field_of(content, path, name)
        return Read(tick, self._row(found, read_value, known))

    def _line(self, text: str, known: Mapping[str, object]) -> Read:
        """The row of one line of CSV."""
        try:
            cells = line_cells(text)
        except ValueError as error:
            raise Dead(Reason.CSV, str(error)) from None
        if len(cells) != len(self.columns):
            raise Dead(Reason.CELLS, f"{len(cells)} cells, not {len(self.columns)}")
        content = dict(zip(self.columns, cells, strict=True))
        tick = None if self.time is None else self._tick(content[self.time])
        found = {name: content[column] for name, column in self.fields.items()}
        return Read(tick, self._row({**known, **found}, read_cell))

    def _tick(self, moment: object) -> int:
        return message_tick(moment, self.calendar)

    def _row(
        self, found: Mapping[str, object], read: Callable[[object, Type], Value], texts: Mapping[str, object] = {}
    ) -> Row:
        cells = []
        for attribute in self.extent.schema:
            value = found[attribute.name]
            use = read_cell if attribute.name in texts else read
            try:
                cells.append(kept(use(value, attribute.type), attribute))
            except ValueError as error:
                raise Dead(Reason.TYPE, f"{attribute.name}: {error}") from None
        return tuple(cells)

    def _senml(self, content: object, known: Mapping[str, object], now: datetime) -> Iterator[Read]:
        """One row per instant of a SenML pack, with a field for each name of a record."""
        if not isinstance(content, list) or not content:
            raise Dead(Reason.RECORD, "a pack is a list of records")
        groups: dict[float | None, dict[str, object]] = {}
        base: dict[str, object] = {}
        for record in content:
            if not isinstance(record, dict):
                raise Dead(Reason.RECORD, f"expected a record, not {show(record)}")
            base |= {key: value for key, value in record.items() if key in ("bn", "bt", "bv")}
            value = next((record[key] for key in ("v", "vs", "vb") if key in record), None)
            if value is None:
                if "n" in record:
                    raise Dead(Reason.RECORD, f"no value for {show(record['n'])}")
                continue
            name = f"{base.get('bn', '')}{record.get('n', '')}"
            start, after, plus = base.get("bt", 0), record.get("t", 0), base.get("bv", 0)
            numbers = [n for n in (start, after, plus) if isinstance(n, int | float) and not isinstance(n, bool)]
            if len(numbers) < 3:
                raise Dead(Reason.RECORD, "a time or a base value is no number")
            try:
                if numbers[2] and isinstance(value, int | float):
                    value += numbers[2]
                moment = numbers[0] + numbers[1] if "bt" in base or "t" in record else None
            except OverflowError:
                raise Dead(Reason.RECORD, "a sum of a base and a value is too large") from None
            groups.setdefault(moment, {})[name] = value
        for moment, fields in groups.items():
            read = self.records(fields, known)
            yield Read(None if moment is None else self._senml_tick(moment, now), read)

    def records(self, fields: Mapping[str, object], known: Mapping[str, object]) -> Row:
        """The row of the records of one instant; names may end in that of the field."""
        found = dict(known)
        for name, path in self.fields.items():
            hits = [value for key, value in fields.items() if key == path or key.endswith((f"/{path}", f":{path}"))]
            if len(hits) != 1:
                raise Dead(Reason.MISSING, f"{len(hits)} records called {path} for {name}")
            found[name] = hits[0]
        return self._row(found, read_value, known)

    def _senml_tick(self, moment: float, now: datetime) -> int:
        since = datetime(1970, 1, 1, tzinfo=UTC) if moment >= _RELATIVE else now
        try:
            return self._tick(since + timedelta(seconds=moment))
        except (OverflowError, ValueError):
            raise Dead(Reason.TIME, f"{moment} is no time") from None


def message_tick(moment: object, calendar: Calendar) -> int:
    """The tick of a message; Dead if it states none."""
    try:
        return read_tick(moment, calendar)
    except Hinted as error:
        before = "before tick 0" in str(error)
        raise Dead(Reason.EPOCH if before else Reason.TIME, str(error)) from None


def kept(value: Value, attribute: Attribute) -> Value:
    """A value that a log can keep; ValueError if it cannot."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError("the text is not Unicode") from None
    if isinstance(value, Decimal):
        digits = value.as_tuple()
        scale = -int(digits.exponent)
        if scale > _DECIMALS or len(digits.digits) - scale > 20:
            raise ValueError(f"{show(value)} has more digits than {attribute.type} keeps")
    return value


def field_of(content: object, path: str, name: str) -> object:
    """What stands at the path of an attribute; Dead if nothing does."""
    value = _within(content, path)
    if value is _ABSENT:
        raise Dead(Reason.MISSING, f"no field {path} for {name}")
    return value


def _within(content: object, path: str) -> object:
    """What stands at a path such as `body.temp` or `readings.0`; a key that is there as it is comes first."""
    if isinstance(content, dict) and path in content:
        return content[path]
    here = content
    for part in path.split("."):
        if isinstance(here, dict) and part in here:
            here = here[part]
        elif isinstance(here, list) and part.isdecimal() and int(part) < len(here):
            here = here[int(part)]
        else:
            return _ABSENT
    return here


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")
