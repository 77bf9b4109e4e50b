"""A first catalog from a look at a source: types, time column, rate and keys are guessed, and every guess says so."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from transom.catalog.catalog import Catalog
from transom.catalog.rdf_entries import ENDINGS as RDF
from transom.catalog.sources import ENDINGS, Format
from transom.catalog.time_formats import TimeFormat
from transom.collector.guesses import (
    ABSENT,
    Clock,
    Columns,
    clock_of,
    instants_of,
    keys_of,
    kind_of,
    name_of,
    object_of,
    of_instants,
    pace,
    place_of,
    quoted,
    time_of,
    typed,
    written_time,
)
from transom.connectors.files.read import READERS
from transom.connectors.files.records import MISSING
from transom.errors import UsageError

MOST = 500
"""Rows that are looked at."""
_NO_TIME = "# note: no column has a time that is recognised, so this is a table; for a stream: pushed, and time: COLUMN"
WAYS = "kafka://HOST:PORT/TOPIC, mqtt://HOST:PORT/TOPIC, postgresql://USER@HOST:PORT/DATABASE/TABLE, or a file"


@dataclass
class Sample:
    """Some rows of a source, and what its entry in the catalog says for certain."""

    name: str
    source: list[str]
    """The lines of the source: its kind, and its settings, which are indented."""
    columns: Columns
    count: str
    """How many rows of what were seen, in words."""
    came: Sequence[datetime] = ()
    """When the rows came, which counts where they have no time of their own."""
    recent: int = MOST
    """So many rows at the end came one after the other."""
    stored: bool = False
    timed: bool = True
    """Whether a column may hold the time of a row."""
    text: bool = False
    """Whether cells are text, so that a string is whatever stands there."""
    written: Sequence[TimeFormat] = ()
    """How the time is written if not in ISO 8601: the format that is taken, and others that fit as well."""
    types: dict[str, str] = field(default_factory=dict)
    """Types that are known, and not guessed."""
    more: list[str] = field(default_factory=list)
    """More lines of the extent."""


def written(sample: Sample) -> str:
    """The text of a catalog with the one extent; it is one that `Catalog.read` takes."""
    time = _time(sample)
    clock = _clock(sample, time)
    kinds, fields, left = _attributes(sample, time)
    guessed = f"types are guesses from {sample.count}" if not sample.types else "types as the source has them"
    declared = ", ".join(f"{name}:{kind}" for name, kind in kinds.items())
    lines = [f"declare: {'stored' if sample.stored else 'pushed'} ({declared})  # {guessed}"]
    if not sample.stored:
        lines += [
            *pace(clock.instants[-sample.recent :] if sample.recent else ()),
            *keys_of(sample.columns, time),
        ]
        place = place_of(kinds)
        lines += [*place, *(object_of(sample.columns, kinds, fields) if place else ())]
    lines += [*sample.more, "source:", *(f"  {line}" for line in sample.source)]
    if time is not None:
        lines.append(f"    time: {quoted(time)}  # a guess, by its name and its values")
    if sample.written:
        first, *others = (one.text for one in sample.written)
        also = f"; {others[0]} fits as well" if others else ""
        lines.append(f"    time_format: '{first}'  # a guess, by the values{also}")
    if fields:
        lines.append(f"    fields: {{{', '.join(f'{name}: {quoted(key)}' for name, key in fields.items())}}}")
    lines += [f"    # left out: {words}" for words in left]
    text = "\n".join([*_top(clock), "extents:", f"  {sample.name}:", *(f"    {line}" for line in lines)]) + "\n"
    Catalog.read(text)
    return text


def _time(sample: Sample) -> str | None:
    """The column that says when."""
    if not sample.timed or sample.stored:
        return None
    found = time_of(sample.columns)
    other = written_time(sample.columns) if found is None and sample.written else None
    return other[0] if other else found


def _clock(sample: Sample, time: str | None) -> Clock:
    if time is None:
        return of_instants(sample.came, "what came first")
    if sample.written:
        return of_instants(instants_of(sample.written[0], sample.columns[time]))
    return clock_of(sample.columns[time])


def _top(clock: Clock) -> list[str]:
    return [f"{key}: {words}" for key, words in (("tick", clock.tick), ("epoch", clock.epoch)) if words]


def _attributes(sample: Sample, time: str | None) -> tuple[dict[str, str], dict[str, str], list[str]]:
    """The attributes with their types, where those are whose name had to change, and why others are none."""
    kinds: dict[str, str] = {}
    fields: dict[str, str] = {}
    left: list[str] = []
    for key, column in sample.columns.items():
        if key == time:
            continue
        name = name_of(key, list(kinds))
        kind = sample.types.get(key) or kind_of(column, text=sample.text)
        missing = sum(value is ABSENT for value in column)
        if missing:
            left.append(f"{key}, which {missing} of {len(column)} do not have")
        elif kind is None:
            left.append(f"{key}, whose values are of no one type")
        else:
            kinds[name] = kind
            if name != key:
                fields[name] = key
    if not kinds:
        raise UsageError("the source has no attributes beside its time", hint="write the catalog by hand")
    return kinds, fields, [words.replace("\n", " ") for words in left]


def file_sample(place: str, folder: Path) -> Sample:
    """The first rows of a file, or of the first of several; the catalog stands in a folder, and names it from there."""
    found = place if Path(place).is_file() else next(iter(sorted(glob.glob(place, recursive=True))), place)
    form = ENDINGS.get(Path(found).suffix.lower())
    if Path(found).is_file() and Path(found).suffix.lower().removeprefix(".") in RDF:
        hint = "write the catalog by hand: rdf: {NAME: {stream: IRI, files: PATH, time: IRI}}"
        raise UsageError(f"{place} holds statements of RDF, which have no columns", hint=hint)
    if form is None or not Path(found).is_file():
        raise UsageError(f"no file {place} that can be read", hint=f"give {WAYS}")
    records = READERS[form](found)
    names = [str(name) for name in getattr(next(records, None), "values", ())]
    rows = [dict(zip(names, record.values)) for record, _ in zip(records, range(MOST))]
    if not rows:
        raise UsageError(f"{place} has no rows", hint="give a file with some")
    cells = {name: [ABSENT if row[name] is MISSING else row[name] for row in rows] for name in dict.fromkeys(names)}
    if form is Format.CSV:
        cells = {name: [typed(cell) for cell in column] for name, column in cells.items()}
    name = name_of(Path(place).stem if found == place else Path(place).parent.name)
    path = quoted(place if os.path.isabs(place) else os.path.relpath(place, folder))
    iso = time_of(cells)
    other = written_time(cells) if iso is None and form in (Format.CSV, Format.JSONL) else None
    stored = iso is None and other is None
    return Sample(
        name,
        ["files:", f"  path: {path}"],
        cells,
        f"{len(rows)} rows",
        stored=stored,
        text=form is Format.CSV,
        written=() if other is None else other[1],
        more=[_NO_TIME] if stored else [],
    )
