"""A first catalog from a look at a source: types, time column, rate and keys are guessed, and every guess says so."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from transom.catalog.extents import Catalog
from transom.catalog.sources import ENDINGS, Format
from transom.collector.guesses import (
    ABSENT,
    Clock,
    Columns,
    clock_of,
    keys_of,
    kind_of,
    name_of,
    of_instants,
    pace,
    place_of,
    quoted,
    time_of,
    typed,
)
from transom.connectors.files.read import READERS
from transom.connectors.files.records import MISSING
from transom.errors import UsageError

MOST = 500
"""Rows that are looked at."""
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
    renames: bool = True
    """Whether an attribute may have another name than its column."""
    timed: bool = True
    """Whether a column may hold the time of a row."""
    text: bool = False
    """Whether cells are text, so that a string is whatever stands there."""
    types: dict[str, str] = field(default_factory=dict)
    """Types that are known, and not guessed."""
    more: list[str] = field(default_factory=list)
    """More lines of the extent."""


def written(sample: Sample) -> str:
    """The text of a catalog with the one extent; it is one that `Catalog.read` takes."""
    time = time_of(sample.columns) if sample.timed and not sample.stored else None
    clock = of_instants(sample.came, "what came first") if time is None else clock_of(sample.columns[time])
    kinds, fields, left = _attributes(sample, time)
    guessed = f"types are guesses from {sample.count}" if not sample.types else "types as the source has them"
    declared = ", ".join(f"{name}:{kind}" for name, kind in kinds.items())
    lines = [f"declare: {'stored' if sample.stored else 'pushed'} ({declared})  # {guessed}"]
    if not sample.stored:
        lines += [
            *pace(clock.instants[-sample.recent :] if sample.recent else ()),
            *keys_of(sample.columns, time),
            *place_of(kinds),
        ]
    lines += [*sample.more, "source:", *(f"  {line}" for line in sample.source)]
    if time is not None:
        lines.append(f"    time: {quoted(time)}  # a guess, by its name and its values")
    if fields:
        lines.append(f"    fields: {{{', '.join(f'{name}: {quoted(key)}' for name, key in fields.items())}}}")
    lines += [f"    # left out: {words}" for words in left]
    text = "\n".join([*_top(clock), "extents:", f"  {sample.name}:", *(f"    {line}" for line in lines)]) + "\n"
    Catalog.read(text)
    return text


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
        elif name != key and not sample.renames:
            left.append(f"{key}, which is no name; columns of files keep theirs")
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
    stored = time_of(cells) is None
    return Sample(
        name,
        [f"files: {path}"] if stored else ["files:", f"  path: {path}"],
        cells,
        f"{len(rows)} rows",
        stored=stored,
        renames=False,
        text=form is Format.CSV,
    )
