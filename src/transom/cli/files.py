"""Read queries from files, stdin and the command line, with their catalog and parameters, and write text files."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.errors import QueryError, QueryWarning, TransomError, UsageError
from transom.record import Record

if TYPE_CHECKING:
    from transom.model.types import Value
    from transom.query import Query


DATA_ENDINGS = frozenset(("csv", "jsonl", "ndjson", "parquet", "ais", "nmea", "gpx", "geojson", "geojsonl"))
"""The endings of files that hold rows, and no query."""
STDIN, COMMAND_LINE = "<stdin>", "<query>"
"""The names of a query from stdin and of one from the command line, in messages."""


class MapColour(StrEnum):
    """What the colour of a track on a map encodes."""

    object = "object"
    speed = "speed"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class QuerySource(Record):
    """A query to load: a file, or a `text` from stdin or the command line; messages call it by its `name`."""

    name: str
    file: Path | None = None
    text: str | None = None
    language: str | None = None

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
    """Return the only query of a command, from `file` (stdin if it is `-`) or the `text` of `--query`."""
    (source,) = query_sources([] if file is None else [file], text, language, folders=False)
    return source


def query_sources(
    files: Sequence[Path], text: str | None, language: str | None, *, folders: bool = True
) -> list[QuerySource]:
    """Return the queries of a command, from files, stdin for `-`, folders, or the text of `--query`.

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
        elif folders and file.is_dir():
            sources.update((str(path), QuerySource(str(path), path, language=language)) for path in queries_below(file))
        else:
            sources[str(file)] = QuerySource(str(file), file, language=language)
    return list(sources.values())


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
    source: QuerySource, catalog: Path | None, parameters: list[str] | None = None, without: list[str] | None = None
) -> Query[Any]:
    """Compile a query against a catalog, by default the one beside the query's file.

    `parameters` are texts NAME=VALUE, and `without` names optimizer rules to leave out. The compiler is imported here,
    since `--help` does not need it.
    """
    with pause_garbage_collection():
        return _compile_source(source, catalog, parameters, without)


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
    source: QuerySource, catalog: Path | None, parameters: list[str] | None, without: list[str] | None
) -> Query[Any]:
    """Compile a query against a catalog, as `load_query` does but without a pause of garbage collection."""
    from transom.catalog.catalog import Catalog
    from transom.compiler import compile

    text = source.read()
    language = source.language_of(text)
    catalog_file = catalog or source.catalog
    if catalog is None and not catalog_file.exists():
        beside = f"beside {source.file}" if source.file is not None else "in this folder"
        raise UsageError(
            f"no catalog.yaml {beside}",
            hint="give one with --catalog, or draft one for your rows: transom init data.csv",
        )
    values = dict(map(parse_parameter, parameters or []))
    warnings.simplefilter("ignore", QueryWarning)  # the commands print them
    return compile(  # type: ignore[call-overload, no-any-return]
        text,
        Catalog.load(catalog_file),
        language=language,
        without=without or (),
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
