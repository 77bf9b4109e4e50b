"""Resolve paths and wildcards to files."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path

from transom.errors import DataError, UsageError

GLOB_CHARACTERS = re.compile(r"([\\{}\[\]*?])")
"""The characters that have a special meaning in Spark's path globs."""


def find_files(patterns: Iterable[str], catalog_folder: Path | None, extent_name: str) -> list[str]:
    """List the files that match paths or globs relative to `catalog_folder`; raise DataError if one matches none.

    They are in the order of the patterns, and sorted for each pattern. `extent_name` is for the error message.
    """
    unique_paths: dict[str, None] = {}
    for pattern in patterns:
        paths = _matches(pattern, catalog_folder)
        if not paths:
            if os.path.isdir(os.path.join(catalog_folder or "", pattern)):
                raise DataError(
                    f"{pattern} for {extent_name} is a folder, not a file",
                    hint=f"write {os.path.join(pattern, '*.csv')} for all CSV files in it",
                )
            base = catalog_folder if catalog_folder is not None else Path.cwd()
            raise DataError(f"no file {pattern} for {extent_name}", hint=f"paths are relative to {base}")
        unique_paths.update(dict.fromkeys(paths))
    return list(unique_paths)


def files_for_spark(pattern: str, catalog_folder: Path | None, extent_name: str, *, may_be_empty: bool) -> list[str]:
    """List the files that match a glob; DataError if Spark would skip one or, unless `may_be_empty`, if there is none.

    DataError is raised if Spark would skip one, or if there is none. With `may_be_empty`, a glob without matches is an
    empty list, because files may arrive later.
    """
    try:
        paths = find_files([pattern], catalog_folder, extent_name)
    except DataError:
        if may_be_empty and GLOB_CHARACTERS.search(pattern):
            return []
        raise
    for path in paths:
        name = os.path.basename(path)
        if name.startswith(("_", ".")) or ":" in name:
            message = f"Spark does not read a file of the name {name} for {extent_name}"
            raise DataError(message, hint="names do not begin with _ or a dot, and hold no colon")
    return paths


def _matches(pattern: str, catalog_folder: Path | None) -> list[str]:
    """List the files that match a glob in `catalog_folder`, sorted; a file of exactly this name is the only match."""
    plain = os.path.join(catalog_folder or "", pattern)
    if os.path.isfile(plain):
        return [plain]
    glob_path = os.path.join(glob.escape(str(catalog_folder)) if catalog_folder else "", pattern)
    return sorted(path for path in glob.glob(glob_path, recursive=True) if os.path.isfile(path))


def escape_glob(path: str) -> str:
    """Return the file URL by which Spark finds exactly this path, with its glob characters escaped."""
    return "file:" + GLOB_CHARACTERS.sub(r"\\\1", os.path.abspath(path))


def spark_glob(pattern: str, catalog_folder: Path | None) -> str:
    """Translate a Python glob, relative to `catalog_folder`, to a file URL for Spark; raise UsageError for `**`.

    Braces are literal, and [!a] becomes [^a].
    """
    plain = os.path.join(catalog_folder or "", pattern)
    if os.path.isfile(plain):
        return escape_glob(plain)
    if "**" in pattern:
        raise UsageError(f"a live run does not follow ** in {pattern}", hint="write one path per folder")
    translated = re.sub(r"([\\{}])", r"\\\1", pattern).replace("[!", "[^")
    if os.path.isabs(pattern):
        return "file:" + translated
    return os.path.join(escape_glob(str(catalog_folder or "")), translated)
