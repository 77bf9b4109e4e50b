"""Read queries from files, stdin and the command line, with their catalog and parameters, and write text files."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.errors import QueryError, QueryWarning, TransomError, UsageError
from transom.record import Record

if TYPE_CHECKING:
    from transom.model.types import Value
    from transom.project.project import ProjectQuery
    from transom.query import Query


DATA_ENDINGS = frozenset(("csv", "jsonl", "ndjson", "parquet", "ais", "nmea", "gpx", "geojson", "geojsonl"))
"""The endings of files that hold rows, and no query."""
PROJECT_FILE = "transom.toml"
"""The name of a project file; `transom.project.project` has it, too, and loads more slowly."""
STDIN, COMMAND_LINE = "<stdin>", "<query>"
"""The names of a query from stdin and of one from the command line, in messages."""


class MapColour(StrEnum):
    """What the colour of a track on a map encodes."""

    object = "object"
    speed = "speed"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class QuerySource(Record):
    """A query to load: a file, or a `text` from stdin or the command line; messages call it by its `name`.

    A query of a project has its catalog and parameters from there.
    """

    name: str
    file: Path | None = None
    text: str | None = None
    language: str | None = None
    declared: ProjectQuery | None = field(default=None, compare=False)

    @property
    def catalog(self) -> Path:
        """The path of the default catalog.yaml: in the folder of the query file, or else the current folder."""
        return Path("catalog.yaml") if self.file is None else self.file.parent / "catalog.yaml"

    def read(self) -> str:
        """Return the text of the query; raise QueryError if it is not UTF-8, UsageError if the file cannot be read."""
        return read_text(self.file) if self.file is not None else self.text or ""

    def language_of(self, text: str) -> str:
        """Return the query's language: that of `--language`, of the file's ending, or the one that parses `text`."""
        from transom.languages.registry import BY_ENDING

        if self.language is not None:
            return self.language
        if self.file is None:
            return detect_language(text)
        ending = self.file.suffix.removeprefix(".").lower()
        if ending not in BY_ENDING:
            endings = ", ".join(f".{ending}" for ending in BY_ENDING)
            if ending in DATA_ENDINGS:
                raise UsageError(
                    f"{self.file.name} holds rows, and no query",
                    hint=f"`transom init {self.file}` drafts a catalog for it; queries end in {endings}",
                )
            raise UsageError(
                f"the ending of {self.file.name} names no language",
                hint=f"endings are {endings}; or name the language with --language",
            )
        return BY_ENDING[ending].name


def detect_language(text: str) -> str:
    """Return the only language whose grammar accepts `text`; raise UsageError if there is none, or more than one."""
    from transom.languages.registry import LANGUAGES

    accepting = []
    for language in LANGUAGES.values():
        try:
            language.parse(text)
        except (TransomError, RecursionError):
            continue
        accepting.append(language.name)
    if len(accepting) == 1:
        return accepting[0]
    if accepting:
        raise UsageError(f"the query is both {' and '.join(accepting)}", hint="name its language with --language")
    raise UsageError(
        "the query follows the grammar of no language",
        hint=f"name its language with --language ({', '.join(LANGUAGES)}) to see where the error is",
    )


def query_source(file: Path | None, text: str | None, language: str | None) -> QuerySource:
    """Return the only query of a command, from `file` (stdin if it is `-`) or the `text` of `--query`.

    UsageError for a project with several queries.
    """
    sources = query_sources([] if file is None else [file], text, language, folders=False)
    if len(sources) > 1:
        names = ", ".join(source.name for source in sources[:5]) + (", ..." if len(sources) > 5 else "")
        raise UsageError(f"{file} has {len(sources)} queries", hint=f"name one: {names}")
    return sources[0]


def query_sources(
    files: Sequence[Path], text: str | None, language: str | None, *, folders: bool = True
) -> list[QuerySource]:
    """Return the queries of a command: of files, of stdin for `-`, of `folders` if allowed, or the `text` of --query.

    A query that is named twice is loaded once. UsageError if there is no query at all.
    """
    if text is not None:
        if files:
            raise UsageError("--query takes the place of a file", hint="leave out either")
        return [QuerySource(COMMAND_LINE, text=text, language=language)]
    if not files:
        raise UsageError("no query", hint="give a file, - for stdin, or the text with --query")
    sources: dict[str, QuerySource] = {}
    for file in files:
        if str(file) == "-":
            if STDIN not in sources:
                sources[STDIN] = QuerySource(STDIN, text=read_stdin(), language=language)
        elif project_queries := _queries_of_project(file, language):
            sources.update(project_queries)
        elif folders and file.is_dir():
            sources.update((str(path), QuerySource(str(path), path, language=language)) for path in queries_below(file))
        else:
            sources[str(file)] = QuerySource(str(file), file, language=language)
    return list(sources.values())


def _queries_of_project(path: Path, language: str | None) -> dict[str, QuerySource]:
    """Return the queries of a project by their names in messages; none if `path` means no project.

    A path is the project file, its folder, or for one query either of them with `:NAME` behind it.
    """
    whole, colon, name = str(path).rpartition(":")
    if path.name != PROJECT_FILE and not path.is_dir() and not (colon and not path.exists()):
        return {}
    from transom.project.project import find_project, read_project

    if not path.exists() and colon and find_project(Path(whole)) is not None:
        path = Path(whole)
    else:
        name = ""
    if find_project(path) is None:
        return {}
    project = read_project(path)
    if language is not None:
        raise UsageError("--language is for one query", hint=f"write language = {language!r} in {project.file}")
    if not project.queries:
        raise UsageError(f"no query in {project.file}", hint='write [queries.busy] and below it file = "busy.cql"')
    queries = [project.query(name)] if name else project.queries.values()
    named = {f"{project.file}:{query.name}": query for query in queries}
    return {shown: QuerySource(shown, query.file, declared=query) for shown, query in named.items()}


def queries_below(folder: Path) -> list[Path]:
    """Return the query files in a folder and the folders below it, sorted by name, without hidden ones."""
    from transom.languages.registry import BY_ENDING

    files = sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.removeprefix(".").lower() in BY_ENDING
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )
    if not files:
        endings = ", ".join(f".{ending}" for ending in BY_ENDING)
        raise UsageError(f"no query in the folder {folder}", hint=f"queries end in {endings}")
    return files


def read_stdin() -> str:
    """Read a query from stdin as UTF-8; raise QueryError if it is not."""
    try:
        return sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QueryError("the query is not UTF-8 text", source=STDIN, hint="send it as UTF-8") from error


def load_query(
    source: QuerySource,
    catalog: Path | None,
    name_value_pairs: list[str] | None = None,
    disabled_rules: list[str] | None = None,
) -> Query[Any]:
    """Compile a query with parameters NAME=VALUE, without `disabled_rules`; None as `catalog`: the one beside it.

    `name_value_pairs` are texts NAME=VALUE, and `disabled_rules` names optimizer rules to leave out. The compiler is
    imported here, since `--help` does not need it.
    """
    with pause_garbage_collection():
        return _compile_source(source, catalog, name_value_pairs, disabled_rules)


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Open a context without garbage collection, since the code in it creates many lasting objects."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _compile_source(
    source: QuerySource, catalog: Path | None, name_value_pairs: list[str] | None, disabled_rules: list[str] | None
) -> Query[Any]:
    """Compile a query as `load_query` does, but without a pause of garbage collection."""
    from transom.catalog.catalog import Catalog
    from transom.compiler import compile

    values = dict(map(parse_parameter, name_value_pairs or []))
    warnings.simplefilter("ignore", QueryWarning)  # the commands print them
    if source.declared is not None:
        declared = source.declared if catalog is None else replace(source.declared, catalog=catalog)
        return declared.compile(values, disabled_rules or ())
    text = source.read()
    language = source.language_of(text)
    catalog_file = catalog or source.catalog
    if catalog is None and not catalog_file.exists():
        beside = f"beside {source.file}" if source.file is not None else "in this folder"
        raise UsageError(
            f"no catalog.yaml {beside}",
            hint="give one with --catalog, or draft one for your rows: transom init data.csv",
        )
    return compile(  # type: ignore[call-overload, no-any-return]
        text,
        Catalog.load(catalog_file),
        language=language,
        without=disabled_rules or (),
        name=source.name,
        parameters=values,
    )


def parse_parameter(text: str) -> tuple[str, Value]:
    """Parse a query parameter NAME=VALUE; a value that is no number or boolean, or is in quotes, is a string.

    >>> parse_parameter("mycar=o1"), parse_parameter("limit=5"), parse_parameter("mycar='5'")
    (('mycar', 'o1'), ('limit', 5), ('mycar', '5'))
    """
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise UsageError(f"{text!r} is no parameter", hint="write --parameter NAME=VALUE")
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return name, value[1:-1]
    if value in ("true", "false"):
        return name, value == "true"
    for number_type in (int, float):
        try:
            return name, number_type(value)
        except ValueError:
            pass
    return name, value


def read_text(file: Path) -> str:
    """Read a query file as UTF-8; raise QueryError if it is not, UsageError if it cannot be read."""
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QueryError("the file is not UTF-8 text", source=str(file), hint="save it as UTF-8") from error
    except FileNotFoundError as error:
        from transom.languages.registry import BY_ENDING

        endings = tuple(f".{ending}" for ending in BY_ENDING)
        beside = sorted(path.name for path in file.parent.glob("*") if path.name.endswith(endings))
        folder = str(file.parent) if file.parent.name else "this folder"
        names = ", ".join([*beside[:5], *(["..."] if len(beside) > 5 else [])])
        hint = f"in {folder} there {'is' if len(beside) == 1 else 'are'} {names}"
        hint = hint if beside else "give the path of a query file"
        raise UsageError(f"no query file {file}", hint=hint) from error
    except OSError as error:
        raise UsageError(f"cannot read {file}", detail=str(error), hint="give the path of a query file") from error


def write_text(file: Path, text: str) -> None:
    """Write a UTF-8 text file; raise UsageError if that fails."""
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {file}", detail=str(error), hint="give a path that can be written") from error
