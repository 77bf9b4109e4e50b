"""One possible change of a source file."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Site:
    """Bytes of a file and what replaces them."""

    layer: str
    path: str
    line: int
    statement: int
    """The line on which the statement begins; coverage records a test under this line."""
    start: int
    end: int
    before: str
    after: str
    kind: str
    code: str
    """The whole source line, without indentation."""
    occurrence: int = 0
    """Which of the equal changes in this file it is, counted from the top."""

    @property
    def name(self) -> str:
        """An identifier that does not depend on line numbers: changes elsewhere leave it alone."""
        return digest(self.path, self.code, self.kind, self.before, self.after, self.occurrence)[:10]

    @property
    def shown(self) -> str:
        """The change in one line."""
        where = f"{self.path}:{self.line}"
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{where}: {before} -> {after or '(removed)'}   in: {self.code}"

    def applied(self, source: bytes) -> bytes:
        """The source with the change."""
        if source[self.start : self.end].decode() != self.before:
            raise ValueError(f"{self.path} has changed since {self.shown} was drawn")
        return source[: self.start] + self.after.encode() + source[self.end :]

    def as_json(self) -> dict[str, Any]:
        """Everything, for a file of results."""
        return {"name": self.name, **asdict(self)}


def digest(*parts: object) -> str:
    """A hash of some values, the same on every machine."""
    return hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()


def numbered(sites: Iterable[Site]) -> Iterator[Site]:
    """Sites of one file in order of position, with equal ones told apart by number."""
    seen: dict[tuple[str, str, str, str], int] = {}
    for site in sorted(sites, key=lambda site: (site.start, site.end, site.after)):
        key = (site.code, site.kind, site.before, site.after)
        yield Site(**{**asdict(site), "occurrence": seen.get(key, 0)})
        seen[key] = seen.get(key, 0) + 1
