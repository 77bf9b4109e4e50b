"""Files of the command line: queries with their catalog and parameters, and what is written."""

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
    """What the colour of a track on a map says."""

    object = "object"
    speed = "speed"


def load(
    file: Path, catalog: Path | None, without: list[str] | None = None, parameters: list[str] | None = None
) -> Query[Any]:
    """The compiled query of a file. This imports the compiler: the other verbs, and `--help`, do without."""
    with garbage_collection_paused():
        return _load(file, catalog, without, parameters)


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """No garbage collection while modules are imported: they make many objects, and all of them stay."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _load(file: Path, catalog: Path | None, without: list[str] | None, parameters: list[str] | None) -> Query[Any]:
    from transom.catalog.catalog import Catalog
    from transom.compiling import compile
    from transom.languages.known import BY_ENDING

    if file.suffix.removeprefix(".").lower() not in BY_ENDING:
        endings = ", ".join(f".{ending}" for ending in BY_ENDING)
        raise UsageError(f"the ending of {file.name} names no language", hint=f"endings are {endings}")
    text = read_text(file)
    place = catalog or file.parent / "catalog.yaml"
    if catalog is None and not place.exists():
        raise UsageError(f"no catalog.yaml beside {file}", hint="give one with --catalog")
    values = dict(map(parameter, parameters or []))
    warnings.simplefilter("ignore", QueryWarning)  # the verbs show them
    return compile(text, Catalog.load(place), without=without or (), name=str(file), parameters=values)


def parameter(words: str) -> tuple[str, Value]:
    """A parameter as it is written on the command line: a number if it looks like one, else a string.

    >>> parameter("mycar=o1"), parameter("limit=5"), parameter("mycar='5'")
    (('mycar', 'o1'), ('limit', 5), ('mycar', '5'))
    """
    name, equals, value = words.partition("=")
    if not equals or not name:
        raise UsageError(f"{words!r} is no parameter", hint="write --parameter NAME=VALUE")
    if len(value) >= 2 and value[0] == value[-1] == "'":
        return name, value[1:-1]
    if value in ("true", "false"):
        return name, value == "true"
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            pass
    return name, value


def read_text(file: Path) -> str:
    """The text of a query file."""
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QueryError("the file is not UTF-8 text", source=str(file), hint="save it as UTF-8") from error
    except OSError as error:
        raise UsageError(f"cannot read {file}", detail=str(error), hint="give the path of a query file") from error


def write_text(file: Path, text: str) -> None:
    """Write a file."""
    try:
        file.write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {file}", detail=str(error), hint="give a path that can be written") from error
