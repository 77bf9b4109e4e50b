"""Read files of test cases. Errors point to a line of the file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from transom.catalog.catalog import Catalog
from transom.catalog.reading.document import read_document
from transom.catalog.reading.locations import EntryError, KeyPath, Location, SourceMap
from transom.catalog.reading.wording import did_you_mean, quoted
from transom.catalog.schema.errors import first_entry_error
from transom.compiler import compile
from transom.errors import CaseError, CatalogError, DataError, QueryWarning, TransomError, UsageError
from transom.languages.registry import BY_ENDING
from transom.query import Query
from transom.testing.entries import CaseEntry, FileEntry

ENDING = ".test.yaml"
"""How the names of test files end, where a folder is searched."""


@dataclass(frozen=True, eq=False)
class CaseFile:
    """A file of test cases, with the position of every entry in its text."""

    path: Path
    source_map: SourceMap
    entry: FileEntry

    @property
    def text(self) -> str:
        """The text of the file."""
        return self.source_map.text

    @property
    def cases(self) -> list[QueryCase]:
        """The cases in the order of the file."""
        return [QueryCase(self, number, case) for number, case in enumerate(self.entry.cases)]

    def line(self, path: KeyPath) -> int:
        """Return the line, from 1, of the YAML entry at `path`: of its key or, in a list, of the item."""
        return self.source_map.span(Location(path, key=isinstance(path[-1], str))).position(self.text)[0]

    def locate(self, error: TransomError, at: Location) -> TransomError:
        """Set the position of an error to a YAML entry of the file, and return the error."""
        error.span, error.text, error.source = self.source_map.span(at), self.text, str(self.path)
        return error

    def error(self, message: str, at: Location, hint: str | None = None, detail: str | None = None) -> TransomError:
        """Build a CaseError whose position is an entry of the file."""
        return self.locate(CaseError(message, hint=hint, detail=detail), at)


@dataclass(frozen=True)
class QueryCase:
    """One case of a file: a query, its inputs and its expected answers."""

    file: CaseFile
    number: int
    entry: CaseEntry

    @property
    def name(self) -> str:
        """The name of the case, which no other case of the file has."""
        return self.entry.name

    @property
    def path(self) -> KeyPath:
        """The keys that lead to the case in the YAML file: `cases` and the index of the case."""
        return ("cases", self.number)

    @property
    def line(self) -> int:
        """The line of the file, from 1, where the case begins."""
        return self.file.line(self.path)

    def at(self, *path: str | int) -> Location:
        """Return the location in the file of the YAML entry at `path` below the case."""
        return Location((*self.path, *path))

    def compile(self) -> Query[Any]:
        """Compile the query of the case against its catalog, without printing warnings."""
        entry, folder = self.entry, self.file.path.parent
        parameters = {**self.file.entry.parameters, **entry.parameters}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", QueryWarning)
            if entry.query is not None:
                name, language = f"{self.file.path}, case {self.name}", entry.language or "sneeql"
                return compile(entry.query, self.catalog(), language=language, parameters=parameters, name=name)
            file = folder / self._query_file()
            try:
                text = file.read_text("utf-8-sig")
            except (OSError, UnicodeDecodeError) as error:
                raise self.file.error(f"cannot read {file}", self.at("query_file"), None, str(error)) from error
            return compile(text, self.catalog(), parameters=parameters, name=str(file), language=entry.language)

    def _query_file(self) -> str:
        """Return the case's query file: the declared one, or the only one next to the test file with its name."""
        declared = self.entry.query_file or self.file.entry.query_file
        if declared is not None:
            return declared
        stem = self.file.path.name.removesuffix(ENDING)
        queries = [
            file.name for file in self.file.path.parent.glob(f"{stem}.*") if file.suffix[1:].lower() in BY_ENDING
        ]
        if len(queries) != 1:
            message = f"{len(queries) or 'no'} queries are called {stem}"
            raise self.file.error(message, self.at().at_key(), "name the file of the query with query_file")
        return queries[0]

    def catalog(self) -> Catalog:
        """Read the catalog of the case: entries in the file, or a YAML file, by default catalog.yaml beside it."""
        folder = self.file.path.parent
        own = self.entry.catalog is not None
        declared = self.entry.catalog if own else self.file.entry.catalog
        at = self.at("catalog") if own else Location(("catalog",))
        if isinstance(declared, dict):
            try:
                return Catalog.from_dict(declared, folder=folder)
            except CatalogError as error:
                raise self.file.locate(error, at) from error.__cause__
        if declared is not None and not isinstance(declared, str):
            raise self.file.error("expected the path of a catalog, or its entries", at)
        return Catalog.load(folder / (declared or "catalog.yaml"))

    def inputs(self, catalog: Catalog, path: KeyPath, entries: Mapping[str, Any]) -> dict[str, Any]:
        """Convert a case's YAML rows to inputs as `Query.inputs` takes them: rows by name of source or table.

        `path` leads to the inputs in the case.
        """
        rows_of: dict[str, Any] = {}
        for name, rows in entries.items():
            at = self.at(*path, name)
            extent = catalog.sources.get(name)
            if extent is None:
                hint = did_you_mean(name, catalog.sources)
                raise self.file.error(f"no extent is called {quoted(name)}", at.at_key(), hint)
            if isinstance(rows, dict) and not extent.is_stream:
                for tick in rows:
                    if not tick.isdecimal():
                        hint = "write the tick from which the rows are valid"
                        raise self.file.error(f"{quoted(tick)} is not a tick", at.then(tick).at_key(), hint)
                rows = {int(tick): content for tick, content in rows.items()}
            elif not isinstance(rows, list):
                raise self.file.error(f"expected the rows of {name}, a list", at, "write - [0, 1, 20] for each row")
            if extent.holds_statements:
                rows = [[row[0], *map(term, row[1:])] if isinstance(row, list) and row else row for row in rows]
            elif extent.is_stream:
                self._check_names(at, rows, {"tick", *extent.names})
            rows_of[name] = rows
        return rows_of

    def _check_names(self, at: Location, rows: Sequence[object], names: set[str]) -> None:
        """Raise CaseError if a row written as a mapping has a key that is not in `names`, the columns."""
        for number, row in enumerate(rows):
            for column in row if isinstance(row, dict) else ():
                if column not in names:
                    hint = did_you_mean(column, sorted(names))
                    raise self.file.error(f"unknown column {quoted(column)}", at.then(number, column).at_key(), hint)

    def locate_row(self, error: DataError, paths: Sequence[KeyPath]) -> TransomError:
        """Return an error about an input row with its position in the test file; `paths`: the YAML keys of inputs."""
        if error.row is None:
            return self.file.locate(error, self.at())
        extent, number = error.row
        for path in paths:
            rows = self.file.source_map.values
            at = self.at(*path, extent)
            count = sum(1 for key in rows if key[:-1] == at.path and isinstance(key[-1], int))
            if number <= count:
                return self.file.locate(error, at.then(number - 1))
            number -= count
        return self.file.locate(error, self.at(*paths[0], extent).at_key())


def term(value: object) -> object:
    """Convert a YAML value to a term as SPARQL writes it: a float becomes text, as 1.5 is a decimal in SPARQL."""
    return repr(value) if isinstance(value, float) else value


def read_cases(path: Path, text: str | None = None) -> CaseFile:
    """Read a file of test cases; raise CaseError, which points into the text, if it is invalid."""
    try:
        text = (path.read_text("utf-8") if text is None else text).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise CaseError("the file is not UTF-8 text", hint="save it as UTF-8", source=str(path)) from error
    except OSError as error:
        raise UsageError(f"cannot read {path}", detail=str(error), hint="give the path of a test file") from error
    try:
        data, source_map = read_document(text, str(path), "test file")
    except CatalogError as error:
        location = {"span": error.span, "text": error.text, "source": error.source}
        raise CaseError(error.message, detail=error.detail, hint=error.hint, **location) from None  # type: ignore[arg-type]
    try:
        file = CaseFile(path, source_map, FileEntry.model_validate(data))
        _check_cases(file)
    except ValidationError as invalid:
        raise _located(first_entry_error(invalid), source_map, path) from invalid
    except EntryError as error:
        raise _located(error, source_map, path) from None
    return file


def _located(error: EntryError, source_map: SourceMap, path: Path) -> CaseError:
    """Convert an EntryError to a CaseError that points into the file."""
    span = source_map.span(error.at)
    location = {"span": span, "text": source_map.text, "source": str(path)}
    return CaseError(error.message, detail=error.detail, hint=error.hint, **location)  # type: ignore[arg-type]


def _check_cases(file: CaseFile) -> None:
    """Raise EntryError if a name is repeated, or a case has no answers or contradicts itself."""
    names: set[str] = set()
    for case in file.cases:
        keys = case.entry.model_fields_set
        if case.name in names:
            raise EntryError(
                f"the name {quoted(case.name)} is repeated", case.at("name"), "give each case its own name"
            )
        names.add(case.name)
        answers = [key for key in ("expected", "error", "batches") if key in keys]
        if len(answers) != 1:
            message = f"a case has either {' or '.join(answers)}" if answers else "the case expects nothing"
            hint = "add expected, error or batches" if not answers else "keep one of them"
            raise EntryError(message, case.at(answers[1]).at_key() if answers else case.at("name"), hint)
        if case.entry.query is not None and case.entry.query_file is not None:
            raise EntryError(
                "a case has either query or query_file", case.at("query_file").at_key(), "keep one of them"
            )
