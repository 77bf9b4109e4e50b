"""The newest answer of each key: of the rows with the same values in some columns, those of the newest tick."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from transom.algebra.state.reach import gives_changes
from transom.catalog.reading.wording import did_you_mean
from transom.errors import DataError, UsageError
from transom.serving.answers import AnswerFolder, AnswerRows, Row, newest_files, read_file, tick_end

if TYPE_CHECKING:
    from transom.serving.starting import StartedQuery

SETS = ("windows", "sequences")
"""The kinds of answers that are sets of rows; in files, a set without rows is a row with `empty`."""
Rank = tuple[datetime, int, int]


class KeyColumns:
    """The columns by which the newest answers of a query are asked for."""

    def __init__(self, started: StartedQuery, text: str) -> None:
        """Read the columns in `text`, separated by commas, a name with a comma in double quotes.

        Raise UsageError if the query has no such column, or if its answers are changes.
        """
        query, names = started.query, ["tick", *started.run.job.results.names]
        changes = query.result_kind != "sequences" if query.language == "sparql" else gives_changes(query.optimized)
        if changes:
            raise UsageError(
                "newest is not for answers that are changes",
                detail="a row may have been deleted since, and the newest row of a key may say that it was deleted",
                hint="write the query with RSTREAM, or leave out newest"
                if query.language != "sparql"
                else "leave out newest, and add up the column change",
            )
        self.names = _read_names(text)
        unknown = [name for name in self.names if name not in names]
        if unknown or not self.names:
            raise UsageError(
                f"no column of the answers is called {unknown[0]}" if unknown else "newest names no column",
                hint=did_you_mean(unknown[0] if unknown else "", names),
            )
        self.is_set = query.result_kind in SETS

    def key(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return the values of a row in these columns, so that NULL and NaN equal themselves."""
        values = (row.get(name) for name in self.names)
        return tuple(value if isinstance(value, str | int | datetime | None) else repr(value) for value in values)

    def rank(self, row: Mapping[str, Any], run: int) -> Rank:
        """Return the rank of a row of run number `run`: the end of its tick, and in a tick its window and its run."""
        return tick_end(row), int(row["seq"] or 0) if self.is_set and "seq" in row else 0, run


def _read_names(text: str) -> list[str]:
    """Return the names in a text, separated by commas; UsageError for a line break or a quote that does not end."""
    try:
        if text.isprintable():
            return next(csv.reader([text], strict=True), [])
    except csv.Error:
        pass
    raise UsageError("newest is no list of columns", hint="write newest=a,b")


class NewestRows:
    """Collects the newest rows of each key, in any order of ranks; only the newest keys are kept.

    At most `limit` keys are needed, as each has a row. What is left out never counts again, because the rank of a
    key's newest row never falls.
    """

    def __init__(self, columns: KeyColumns, limit: int, most: int) -> None:
        """Collect the newest `limit` rows by `columns`, and keep at most twice `most` rows meanwhile."""
        self._columns = columns
        self._limit = limit
        self._most = most
        self._groups: dict[tuple[Any, ...], tuple[Rank, list[Row]]] = {}
        self._count = 0
        self._floor: Rank | None = None
        """The newest rank that was left out: there are `limit` keys that are at least as new."""
        self.left_out = False
        """Whether newest rows of some key were left out, because there were more than `limit`."""

    def add(self, row: Row, run: int) -> None:
        """Take a row of run number `run` of the folder; raise DataError if the newest rows are too many to keep."""
        if self._columns.is_set and row.get("empty"):
            return
        key, rank = self._columns.key(row), self._columns.rank(row, run)
        rank_kept, rows = self._groups.get(key, (None, []))
        if rank_kept is None and self._floor is not None and rank <= self._floor:
            return
        if rank_kept is not None and rank < rank_kept:
            return
        if rank != rank_kept:
            self._count -= len(rows)
            rows = []
            self._groups[key] = (rank, rows)
        rows.append(row)
        self._count += 1
        if len(self._groups) > 2 * self._limit or self._count > 2 * self._most:
            self._prune()

    def _prune(self) -> None:
        """Keep the `limit` newest keys; raise DataError if they still have too many rows."""
        groups = sorted(self._groups.items(), key=lambda item: item[1][0], reverse=True)
        self._groups = dict(groups[: self._limit])
        if len(groups) > self._limit:
            self.left_out = True
            self._floor = groups[self._limit][1][0]
        self._count = sum(len(rows) for _, rows in self._groups.values())
        if self._count > 2 * self._most:
            raise DataError(
                f"the newest answers are more than {2 * self._most:,} rows",
                hint="ask for a smaller limit, or for newest by more columns; answer_rows is the half of this number",
            )

    def rows(self) -> list[Row]:
        """Return the newest rows, oldest first."""
        groups = sorted(self._groups.values(), key=lambda group: group[0])
        rows = [row for _, group in groups for row in group]
        self.left_out |= len(rows) > self._limit
        return rows[-self._limit :]


def newest_of_each(folder: AnswerFolder, newest: NewestRows, first: datetime | None = None) -> AnswerRows:
    """Return the newest rows of each key in the newest files of a folder, oldest first, from the instant `first` on.

    Rows whose tick ends before `first` do not count. One file at a time is in memory, and the rows that `newest` keeps.
    At most MOST_FILES files and MOST_BYTES bytes are read.
    """
    files = folder.files()
    chosen = newest_files(files)
    schema = None
    for file in chosen:
        rows, schema = read_file(file.path)
        for row in rows:
            if first is None or tick_end(row) >= first:
                newest.add(row, file.order[0])
    kept = newest.rows()
    return AnswerRows(kept, newest.left_out or len(chosen) < len(files), schema)
