"""Notice changes of a project: of its file, its catalog and its query files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from transom.errors import TransomError
from transom.project.project import QueryProject, find_project, read_project


@dataclass(frozen=True)
class Snapshot:
    """A project as its files are at one time: the project or its error, and the digest of each query."""

    project: QueryProject | None
    error: TransomError | None = None
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """What two equal snapshots have in common."""
        limits = None if self.project is None else self.project.limits
        return (limits, str(self.error), tuple(sorted(self.digests.items())))


class ProjectWatch:
    """Reads a project again and again. A change counts once two reads in a row agree, so that no half file counts."""

    def __init__(self, path: Path) -> None:
        """Read the project; raise ProjectError or UsageError if it is invalid."""
        self.file = find_project(path) or path
        read_project(self.file)
        self.current = self._read()
        self._pending = self.current

    def poll(self) -> Snapshot | None:
        """Read the project; return it if it has changed since the last change, and has been stable for two reads."""
        snapshot = self._read()
        if snapshot.key == self.current.key:
            self._pending = snapshot
            return None
        if snapshot.key != self._pending.key:
            self._pending = snapshot
            return None
        self.current = snapshot
        return snapshot

    def _read(self) -> Snapshot:
        """Read the project as it is now."""
        try:
            project = read_project(self.file)
        except TransomError as error:
            return Snapshot(None, error, {"": _digest(self.file)})
        return Snapshot(project, None, {name: query.digest() for name, query in project.queries.items()})


def _digest(file: Path) -> str:
    """Return a digest of a file's content; of a file that cannot be read, the name of the error."""
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        return type(error).__name__
