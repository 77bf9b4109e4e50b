"""Draft a catalog from a sample: types, time column, rate and keys are guesses, and marked as such."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path

from transom.catalog.catalog import Catalog
from transom.catalog.resolve.rdf import RDF_SUFFIXES as RDF
from transom.catalog.sources import DELIMITERS, FORMAT_BY_SUFFIX, Format
from transom.collector.discover.csv_rows import infer_delimiter, sample_csv
from transom.collector.discover.fit import FittedSample, TimeColumn, choose_time, fit_rows
from transom.collector.discover.infer import (
    ABSENT,
    Columns,
    SampleClock,
    clock_from_instants,
    infer_clock,
    infer_decimal,
    infer_keys,
    infer_object,
    infer_position,
    infer_rate,
    near_time_column,
    parse_cell,
    parse_instants,
)
from transom.collector.discover.names import valid_name, yaml_text
from transom.connectors.files.read import READERS
from transom.connectors.files.records import MISSING
from transom.errors import DataError, UsageError

_HEAD = 20
"""How many lines of a CSV file choose its delimiter."""
SAMPLE_SIZE = 500
"""Maximum number of rows in a sample."""
_NO_TIME = "# note: no column has a time that is recognised, so this is a table; for a stream: pushed, and time: COLUMN"
_ARRIVAL = "# note: no field has a time that is recognised, so a row has the time of its message"
_REJECT = ["  invalid_rows: reject  # such rows are counted, and left out; with stop, the first one is an error"]
ADDRESS_FORMS = "kafka://HOST:PORT/TOPIC, mqtt://HOST:PORT/TOPIC, postgresql://USER@HOST:PORT/DATABASE/TABLE, or a file"


@dataclass
class Sample:
    """Some rows of a source, and what is certain about its catalog entry."""

    name: str
    source: list[str]
    """The YAML lines of the source: its kind, then its indented settings."""
    columns: Columns
    unit: str
    """What its rows are called: rows or messages."""
    row_names: Sequence[str] = ()
    """Where each row is, for a note; empty if a row has no place."""
    misfits_become: str = "stop a query"
    """What happens to rows that do not fit the catalog."""
    arrived_at: Sequence[datetime] = ()
    """The arrival times of the rows, used if they have no time column."""
    recent: int = SAMPLE_SIZE
    """How many rows at the end of the sample are consecutive."""
    stored: bool = False
    timed: bool = True
    """Whether a column may hold the time of a row."""
    time: TimeColumn | None = None
    """The column with the times of the rows; None if there is none."""
    text: bool = False
    """Whether cells are text, so that any value fits a string."""
    rejecting: Sequence[str] = ()
    """The YAML lines of the source that make a query go on without rows that do not fit, if there are any."""
    types: dict[str, str] = field(default_factory=dict)
    """Types that are known rather than guessed."""
    more: list[str] = field(default_factory=list)
    """Additional YAML lines of the extent."""


def catalog_text(sample: Sample) -> str:
    """Write the text of a catalog with one extent whose source, types and time were guessed from a sample."""
    time = sample.time.name if sample.time is not None else None
    fitted = fit_rows(sample.columns, sample.time, sample.types, is_text=sample.text)
    clock = _clock(sample, () if time is None else fitted.columns[time])
    types, fields = _attributes(fitted)
    count = f"{len(fitted.rows)} {sample.unit}"
    type_comment = f"types are guesses from {count}" if not sample.types else "types as the source has them"
    declared = ", ".join(f"{name}:{kind}" for name, kind in types.items())
    lines = [f"declare: {'stored' if sample.stored else 'pushed'} ({declared})  # {type_comment}"]
    if not sample.stored:
        lines += [*infer_rate(_recent_instants(sample, fitted, clock)), *infer_keys(fitted.columns, time)]
        position_lines = infer_position(types)
        lines += [*position_lines, *(infer_object(fitted.columns, types, fields) if position_lines else ())]
    if time is None and sample.timed and not sample.stored:
        lines += [_ARRIVAL, *_near_time_note(sample.columns, False)]
    lines += [f"# note: {note}" for note in fitted.note(sample.unit, sample.misfits_become, sample.row_names)]
    lines += [*sample.more, "source:", *(f"  {line}" for line in sample.source)]
    lines += [f"  {line}" for line in sample.rejecting if fitted.misfits]
    if time is not None:
        lines.append(f"    time: {yaml_text(time)}  # a guess, by its name and its values")
    if sample.time is not None and sample.time.formats:
        first, *other_formats = (form.text for form in sample.time.formats)
        also = f"; {other_formats[0]} fits as well" if other_formats else ""
        lines.append(f"    time_format: '{first}'  # a guess, by the values{also}")
    if fields:
        lines.append(f"    fields: {{{', '.join(f'{name}: {yaml_text(key)}' for name, key in fields.items())}}}")
    lines += [f"    # left out: {reason}".replace("\n", " ") for reason in fitted.omitted]
    text = (
        "\n".join([*_calendar_lines(clock), "extents:", f"  {sample.name}:", *(f"    {line}" for line in lines)]) + "\n"
    )
    Catalog.read(text)
    return text


def _recent_instants(sample: Sample, fitted: FittedSample, clock: SampleClock) -> Sequence[datetime]:
    """Return the known times of the consecutive rows at the end of a sample, from which the rate is guessed."""
    if sample.time is None:
        return clock.instants[-sample.recent :] if sample.recent else ()
    oldest = len(fitted.rows) + len(fitted.misfits) - sample.recent
    times = fitted.columns[sample.time.name]
    return _clock(sample, [time for row, time in zip(fitted.rows, times, strict=True) if row >= oldest]).instants


def _near_time_note(columns: Columns, has_time_format: bool) -> list[str]:
    """Return a YAML comment on a column that is nearly the time column, or []; `has_time_format`: it may declare one.

    `has_time_format` says whether the source may have a `time_format`.
    """
    near = near_time_column(columns, has_time_format=has_time_format)
    return [] if near is None else [f"# note: {near}".replace("\n", " ")]


def _clock(sample: Sample, times: Sequence[object]) -> SampleClock:
    """Guess tick length and epoch from times of rows, or from the times of arrival if there is no time column."""
    if sample.time is None:
        return clock_from_instants(sample.arrived_at, "what came first")
    if sample.time.formats:
        return clock_from_instants(parse_instants(sample.time.formats[0], times))
    return infer_clock(times)


def _calendar_lines(clock: SampleClock) -> list[str]:
    """Return the catalog lines `tick: ...` and `epoch: ...`; a line is left out if the sample does not reveal it."""
    return [f"{key}: {setting}" for key, setting in (("tick", clock.tick), ("epoch", clock.epoch)) if setting]


def _attributes(fitted: FittedSample) -> tuple[dict[str, str], dict[str, str]]:
    """Return the types by attribute name, and the source columns by renamed attribute; UsageError without a column."""
    types: dict[str, str] = {}
    fields: dict[str, str] = {}
    for key, kind in fitted.types.items():
        name = valid_name(key, list(types))
        types[name] = kind
        if name != key:
            fields[name] = key
    if not types:
        raise UsageError(
            "the source has no attributes beside its time",
            detail=f"left out: {'; '.join(fitted.omitted)}" if fitted.omitted else None,
            hint="write the catalog by hand",
        )
    return types, fields


def file_sample(pattern: str, folder: Path) -> Sample:
    """Sample the first rows of a file, or of a pattern's first match; the path is written relative to `folder`.

    UsageError if there is no readable file, or if it has no rows.
    """
    path = pattern if Path(pattern).is_file() else next(iter(sorted(glob.glob(pattern, recursive=True))), pattern)
    form = FORMAT_BY_SUFFIX.get(Path(path).suffix.lower())
    if Path(path).is_file() and Path(path).suffix.lower().removeprefix(".") in RDF:
        hint = "write rdf: {NAME: {stream: IRI, files: PATH, time: IRI}} by hand; time is the predicate with the times"
        raise UsageError(
            f"{pattern} holds RDF, which has no columns to guess from", detail="docs/rdf.md has examples", hint=hint
        )
    if form is None or not Path(path).is_file():
        raise UsageError(f"no file {pattern} that can be read", hint=f"give {ADDRESS_FORMS}")
    delimiter = infer_delimiter(_first_lines(path)) if form is Format.CSV else ","
    rows: Sequence[Mapping[str, object]]
    note = None
    if form is Format.CSV:
        csv_rows = sample_csv(path, delimiter, SAMPLE_SIZE)
        names, rows, numbers, note = csv_rows.names, csv_rows.rows, csv_rows.lines, csv_rows.note(path)
    else:
        records = READERS[form](path)
        names = [str(name) for name in getattr(next(records, None), "values", ())]
        sampled = list(islice(records, SAMPLE_SIZE))
        rows, numbers = [dict(zip(names, record.values)) for record in sampled], [record.number for record in sampled]
    if not rows and note:
        raise DataError(f"{note}", hint="correct the file")
    if not rows:
        raise UsageError(f"{pattern} has no rows", hint="give a file with some")
    cells = {name: [ABSENT if row[name] is MISSING else row[name] for row in rows] for name in dict.fromkeys(names)}
    decimal = infer_decimal(cells) if form is Format.CSV and delimiter != "," else "."
    if form is Format.CSV:
        cells = {name: [parse_cell(cell, decimal) for cell in column] for name, column in cells.items()}
    name = valid_name(Path(pattern).stem if path == pattern else Path(pattern).parent.name)
    yaml_path = yaml_text(pattern if os.path.isabs(pattern) else os.path.relpath(pattern, folder))
    time = choose_time(cells, has_time_format=form in (Format.CSV, Format.JSONL))
    rejects = form is Format.CSV and time is not None
    return Sample(
        name,
        ["files:", f"  path: {yaml_path}", *_mark_lines(delimiter, decimal), *(_REJECT if rejects and note else ())],
        cells,
        "rows",
        row_names=[f"{path}:{number}" for number in numbers],
        misfits_become="are rejected by queries" if rejects else "stop a query",
        stored=time is None,
        time=time,
        text=form is Format.CSV,
        rejecting=_REJECT if rejects and not note else (),
        more=[
            *([_NO_TIME, *_near_time_note(cells, form in (Format.CSV, Format.JSONL))] if time is None else []),
            *([f"# note: {note}"] if note else []),
        ],
    )


def _first_lines(path: str) -> list[str]:
    """Return the first lines of a text file; raise DataError if it is not UTF-8."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return list(islice(file, _HEAD))
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", hint="save it as UTF-8", source=path) from error


def _mark_lines(delimiter: str, decimal: str) -> list[str]:
    """Return the catalog lines about the delimiter and the decimal mark of a CSV file; none for comma and point."""
    lines = [f"  delimiter: {DELIMITERS[delimiter]}  # a guess, by the first lines"] if delimiter != "," else []
    return [*lines, *([f"  decimal: '{decimal}'  # a guess, by the numbers"] if decimal != "." else [])]
