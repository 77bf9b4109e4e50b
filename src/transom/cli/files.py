"""Read query files with their catalog and parameters, and write text files."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.errors import QueryError, QueryWarning, UsageError

if TYPE_CHECKING:
    from transom.model.types import Value
    from transom.query import Query


class MapColour(StrEnum):
    """What the colour of a track on a map encodes."""

    object = "object"
    speed = "speed"


def load_query(
    file: Path, catalog: Path | None, without: list[str] | None = None, parameters: list[str] | None = None
) -> Query[Any]:
    """Compile a query file; catalog None: catalog.yaml beside it; `without`: disabled rules; `parameters`: NAME=VALUE.

    The compiler is imported here, since `--help` does not need it.
    """
    with pause_garbage_collection():
        return _compile_file(file, catalog, without, parameters)


@contextmanager
def pause_garbage_collection() -> Iterator[None]:
    """Disable garbage collection in the block, which creates many objects that are never freed."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _compile_file(
    file: Path, catalog: Path | None, without: list[str] | None, parameters: list[str] | None
) -> Query[Any]:
    """Compile a query file; catalog None: the one beside it; `without`: disabled rules; `parameters`: NAME=VALUE."""
    from transom.catalog.catalog import Catalog
    from transom.compiler import compile
    from transom.languages.registry import BY_ENDING

    if file.suffix.removeprefix(".").lower() not in BY_ENDING:
        endings = ", ".join(f".{ending}" for ending in BY_ENDING)
        raise UsageError(f"the ending of {file.name} names no language", hint=f"endings are {endings}")
    text = read_text(file)
    catalog_file = catalog or file.parent / "catalog.yaml"
    if catalog is None and not catalog_file.exists():
        raise UsageError(f"no catalog.yaml beside {file}", hint="give one with --catalog")
    values = dict(map(parse_parameter, parameters or []))
    warnings.simplefilter("ignore", QueryWarning)  # the commands print them
    return compile(text, Catalog.load(catalog_file), without=without or (), name=str(file), parameters=values)


def parse_parameter(text: str) -> tuple[str, Value]:
    """Parse a query parameter NAME=VALUE: a number or boolean if it looks like one, else a string, as always in quotes.

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
    """Read a query file as UTF-8; QueryError if it is not, UsageError if it cannot be read."""
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QueryError("the file is not UTF-8 text", source=str(file), hint="save it as UTF-8") from error
    except OSError as error:
        raise UsageError(f"cannot read {file}", detail=str(error), hint="give the path of a query file") from error


def write_text(file: Path, text: str) -> None:
    """Write a UTF-8 text file; UsageError if that fails."""
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {file}", detail=str(error), hint="give a path that can be written") from error
