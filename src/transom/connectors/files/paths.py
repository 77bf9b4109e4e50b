"""Paths and wildcards to the files they stand for."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from pathlib import Path

from transom.errors import DataError, UsageError

SPECIAL = re.compile(r"([\\{}\[\]*?])")
"""What means more than itself in a path for Spark."""


def find_files(patterns: Iterable[str], folder: Path | None, extent: str) -> list[str]:
    """The files of some patterns, each pattern's in order of their names, no file twice; DataError if one has none."""
    found: dict[str, None] = {}
    for pattern in patterns:
        paths = _matches(pattern, folder)
        if not paths:
            if os.path.isdir(os.path.join(folder or "", pattern)):
                raise DataError(
                    f"{pattern} for {extent} is a folder, not a file",
                    hint=f"write {os.path.join(pattern, '*.csv')} for all CSV files in it",
                )
            where = folder if folder is not None else Path.cwd()
            raise DataError(f"no file {pattern} for {extent}", hint=f"paths are relative to {where}")
        found.update(dict.fromkeys(paths))
    return list(found)


def files_for_spark(pattern: str, folder: Path | None, extent: str, *, may_come: bool) -> list[str]:
    """The files of a pattern, whose names Spark reads; none where they `may_come` later and the pattern is a glob."""
    try:
        found = find_files([pattern], folder, extent)
    except DataError:
        if may_come and SPECIAL.search(pattern):
            return []
        raise
    for path in found:
        name = os.path.basename(path)
        if name.startswith(("_", ".")) or ":" in name:
            message = f"Spark does not read a file of the name {name} for {extent}"
            raise DataError(message, hint="names do not begin with _ or a dot, and hold no colon")
    return found


def _matches(pattern: str, folder: Path | None) -> list[str]:
    plain = os.path.join(folder or "", pattern)
    if os.path.isfile(plain):
        return [plain]
    whole = os.path.join(glob.escape(str(folder)) if folder else "", pattern)
    return sorted(path for path in glob.glob(whole, recursive=True) if os.path.isfile(path))


def escaped(path: str) -> str:
    """A path in which Spark sees no wildcards."""
    return "file:" + SPECIAL.sub(r"\\\1", os.path.abspath(path))


def spark_glob(pattern: str, folder: Path | None) -> str:
    """A pattern as Spark reads it: braces mean themselves, [!a] is [^a]."""
    plain = os.path.join(folder or "", pattern)
    if os.path.isfile(plain):
        return escaped(plain)
    if "**" in pattern:
        raise UsageError(f"a live run does not follow ** in {pattern}", hint="write one path per folder")
    within = re.sub(r"([\\{}])", r"\\\1", pattern).replace("[!", "[^")
    if os.path.isabs(pattern):
        return "file:" + within
    return os.path.join(escaped(str(folder or "")), within)
