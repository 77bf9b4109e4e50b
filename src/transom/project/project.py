"""A project: a catalog, the queries that run over it, and limits, as `transom.toml` declares them."""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from transom.catalog.catalog import Catalog
from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.wording import did_you_mean, display_value, quoted
from transom.catalog.schema.errors import first_entry_error
from transom.compiler import compile
from transom.errors import ProjectError, QueryError, QueryWarning, UsageError
from transom.languages.registry import BY_ENDING
from transom.model.types import Value
from transom.project.document import project_error, read_toml
from transom.project.entries import LimitsEntry, ProjectEntry, QueryEntry
from transom.project.settings import RunSettings

if TYPE_CHECKING:
    from transom.query import Query

PROJECT_FILE = "transom.toml"
"""The name of a project file."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
"""A query's name is the name of its checkpoint folder, and a part of addresses."""
_LARGEST_FILE = 1 << 20
_FOLDER_SINK = re.compile(r"(parquet|jsonl):(?!.*://)(.+)\Z", re.DOTALL)
_HINTS = {
    "file": 'write file = "busy.cql"',
    "queries": 'write [queries.busy] and below it file = "busy.cql"',
    "parameters": "write parameters = {limit = 5}",
    "output": 'write output = "parquet:answers/busy"',
    "catalog": 'write catalog = "catalog.yaml"',
    "state": 'write state = "state", the folder of the checkpoints',
    "limits": "write [limits] and below it state_rows = 1000000",
}


@dataclass(frozen=True)
class ProjectQuery:
    """One query of a project: its file, its parameters and how it runs. `checkpoint` is the folder of its state.

    `state_rows` is the most rows that its state bound may have, if the project limits them.
    """

    name: str
    file: Path
    catalog: Path
    checkpoint: Path
    settings: RunSettings
    language: str | None = None
    parameters: Mapping[str, Value] | None = None
    state_rows: int | None = None

    def read(self) -> str:
        """Return the text of the query; raise QueryError if it is not UTF-8, UsageError if it cannot be read."""
        try:
            return self.file.read_text("utf-8-sig")
        except UnicodeDecodeError as error:
            raise QueryError("the file is not UTF-8 text", source=str(self.file), hint="save it as UTF-8") from error
        except OSError as error:
            hint = f"correct the file of the query {self.name} in {PROJECT_FILE}"
            raise UsageError(f"cannot read {self.file}", detail=error.strerror, hint=hint) from error

    def compile(self, parameters: Mapping[str, Value] | None = None, without: Collection[str] = ()) -> Query[Any]:
        """Compile the query against the project's catalog; raise ProjectError if its state bound exceeds the limit.

        `parameters` take the place of those in the project file, and `without` names optimizer rules to leave out.
        """
        text = self.read()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", QueryWarning)
            query: Query[Any] = compile(  # type: ignore[call-overload]
                text,
                Catalog.load(self.catalog),
                language=self.language or BY_ENDING[self.ending].name,
                without=without,
                name=str(self.file),
                parameters={**(self.parameters or {}), **(parameters or {})},
            )
        self._check_state(query)
        return query

    @property
    def ending(self) -> str:
        """The ending of the query's file, without the dot and in lower case; it names the language."""
        return self.file.suffix.removeprefix(".").lower()

    def _check_state(self, query: Query[Any]) -> None:
        """Raise ProjectError if the query's state bound is not known to be within the project's limit."""
        if self.state_rows is None:
            return
        bound = query.spark_state(self.settings.kernel)
        if bound.rows is None or bound.rows > self.state_rows:
            raise ProjectError(
                f"the query {self.name} may keep more than {self.state_rows:,} rows, the limit of the project",
                detail=f"its state bound: {bound}",
                hint="; ".join((*bound.hints, "or set a larger state_rows under [limits]")),
            )

    def digest(self) -> str:
        """Return a digest of everything that a run of the query depends on: its entry, its text and its catalog."""
        digest = hashlib.sha256(repr(asdict(self)).encode())
        for file in (self.file, self.catalog):
            try:
                digest.update(hashlib.sha256(file.read_bytes()).digest())
            except OSError as error:
                digest.update(f"{type(error).__name__} {file}".encode())
        return digest.hexdigest()


@dataclass(frozen=True)
class QueryProject:
    """A project: its file, its queries by name, its limits, and the folder of its checkpoints."""

    file: Path
    queries: Mapping[str, ProjectQuery]
    limits: LimitsEntry
    state: Path

    def query(self, name: str) -> ProjectQuery:
        """Return the query with this name; raise UsageError, with a suggestion, if there is none."""
        if name not in self.queries:
            hint = did_you_mean(name, self.queries) or f"add [queries.NAME] to {self.file}"
            raise UsageError(f"no query of {self.file} is called {quoted(name)}", hint=hint)
        return self.queries[name]


def find_project(path: Path) -> Path | None:
    """Return the project file that a path means: the file itself, or the one in a folder; None if it means none."""
    if path.name == PROJECT_FILE and not path.is_dir():
        return path
    return path / PROJECT_FILE if (path / PROJECT_FILE).is_file() else None


def read_project(path: Path) -> QueryProject:
    """Read a project from its file, or from the folder with its file; raise ProjectError if it is invalid.

    Paths in it are relative to its folder.
    """
    file = find_project(path) or path
    try:
        if file.stat().st_size > _LARGEST_FILE:
            raise ProjectError(f"the file is larger than {_LARGEST_FILE:,} bytes", source=str(file))
        text = file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ProjectError("the file is not UTF-8 text", source=str(file), hint="save it as UTF-8") from error
    except OSError as error:
        raise UsageError(
            f"no project {path}", detail=error.strerror, hint=f"give a {PROJECT_FILE}, or the folder that contains one"
        ) from error
    data, source_map = read_toml(text, str(file))
    try:
        return _read_entries(data, file)
    except EntryError as error:
        raise project_error(error.message, error.at, source_map, str(file), error.hint) from error.__cause__


def _read_entries(data: Mapping[str, Any], file: Path) -> QueryProject:
    """Check the data of a project file; raise EntryError at the first invalid entry."""
    try:
        entry = ProjectEntry.model_validate(data)
    except ValidationError as error:
        first = first_entry_error(error)
        missing = re.fullmatch(r"(\w+) is missing", first.message)
        name = missing[1] if missing else str(("", *first.at.path)[-1])
        first.hint = _HINTS.get(name, first.hint)
        raise first from error
    if len(entry.queries) > entry.limits.queries:
        raise EntryError(
            f"the project has {len(entry.queries):,} queries, and its limit is {entry.limits.queries:,}",
            Location(("queries",)).at_key(),
            "set a larger `queries` under [limits]",
        )
    folder = file.absolute().parent
    queries: dict[str, ProjectQuery] = {}
    used: dict[tuple[str, str], str] = {}
    for name, query_entry in entry.queries.items():
        at = Location(("queries", name))
        query = _read_query(name, query_entry, at, entry, folder)
        for key, kept in (("name", name.lower()), ("output", query.settings.sink)):
            if (key, kept) in used and kept != "console":
                message = f"{quoted(name)} and {quoted(used[key, kept])} have the same {key}"
                raise EntryError(message, at.then(key) if key == "output" else at.at_key(), f"give each its own {key}")
            used[key, kept] = name
        queries[name] = query
    return QueryProject(file, queries, entry.limits, folder / entry.state)


def _read_query(name: str, entry: QueryEntry, at: Location, project: ProjectEntry, folder: Path) -> ProjectQuery:
    """Read the entry of a query; raise EntryError if its name, language, parameters or a time is invalid."""
    if not NAME.match(name):
        hint = "names have up to 64 letters, digits, _ and -, and begin with a letter or digit"
        raise EntryError(f"{quoted(name)} is not a name for a query", at.at_key(), hint)
    for key, value in entry.parameters.items():
        if not isinstance(value, str | int | float):
            hint = "write a string, a number, true or false"
            raise EntryError(f"the parameter {quoted(key)} is {display_value(value)}", at.then("parameters", key), hint)
    for key in ("start", "until", "since"):
        time = getattr(entry, key)
        if time is not None and (isinstance(time, bool) or not isinstance(time, str | int | date)):
            hint = f'write {key} = 2026-01-01T00:00:00Z, {key} = "10 min" or {key} = 600'
            raise EntryError(f"{key} is not a time: {display_value(time)}", at.then(key), hint)
    query = ProjectQuery(
        name,
        folder / entry.file,
        folder / project.catalog,
        folder / project.state / name,
        RunSettings(
            sink=_absolute_sink(entry.output, folder),
            start=entry.start,
            until=entry.until,
            since=entry.since,
            on_change=entry.on_change,
            on_data_loss=entry.on_data_loss,
            kernel=entry.kernel,
            index=entry.index,
            approximate_sums=entry.approximate_sums,
            allow_unbounded=entry.allow_unbounded,
        ),
        entry.language,
        entry.parameters,
        project.limits.state_rows,
    )
    if entry.language is None and query.ending not in BY_ENDING:
        endings = ", ".join(f".{ending}" for ending in BY_ENDING)
        hint = f'endings are {endings}; or write language = "cql"'
        raise EntryError(f"the ending of {quoted(entry.file)} names no language", at.then("file"), hint)
    return query


def _absolute_sink(output: str, folder: Path) -> str:
    """Return a sink whose folder, if it has one on a local disk, is absolute."""
    match = _FOLDER_SINK.match(output)
    return f"{match[1]}:{folder / match[2]}" if match else output
