"""Locations in a catalog: key paths, and the text spans that they map to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from transom.errors import CatalogError, Span

KeyPath = tuple[str | int, ...]
"""The keys and list indexes from the root of a catalog to one of its entries."""


@dataclass(frozen=True, slots=True)
class Location:
    """Where in a catalog: at an entry, at its name if `key`, or at the characters `inner` of its text."""

    path: KeyPath = ()
    inner: tuple[int, int] | None = None
    key: bool = False

    def then(self, *parts: str | int) -> Location:
        """Return the location of a nested entry; `parts` are the names and list numbers (from 0) that lead to it."""
        return Location((*self.path, *parts))

    def within(self, start: int, end: int) -> Location:
        """Return the location of the characters from `start` to `end` in the entry's text."""
        return replace(self, inner=(start, end))

    def at_key(self) -> Location:
        """Return the location of the entry's name, instead of that of its value."""
        return replace(self, key=True)


class EntryError(Exception):
    """An invalid catalog entry; becomes a CatalogError once its span in the text is known."""

    def __init__(self, message: str, at: Location, hint: str | None = None, detail: str | None = None) -> None:
        """Create an error about the catalog entry at a location; `hint` suggests a remedy, `detail` adds facts."""
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint
        self.detail = detail


@dataclass(frozen=True, slots=True)
class ValueLocation:
    """The span of a value, the span of its literal characters if they appear verbatim, and if it is a mapping."""

    span: Span
    text_span: Span | None = None
    entries: bool = False


@dataclass(slots=True)
class SourceMap:
    """The spans of all entries' names and values in a catalog's text."""

    text: str
    keys: dict[KeyPath, Span] = field(default_factory=dict)
    values: dict[KeyPath, ValueLocation] = field(default_factory=dict)

    def span(self, at: Location) -> Span:
        """Return the span of a location in the YAML text, or else that of the nearest enclosing entry in the text."""
        path, is_complete = self._find(at.path)
        value = self.values.get(path) or ValueLocation(Span(0, len(self.text)))
        if at.inner is not None and value.text_span is not None:
            return Span(value.text_span.start + at.inner[0], value.text_span.start + at.inner[1])
        if path in self.keys and (at.key if is_complete else value.entries):
            return self.keys[path]
        return value.span

    def _find(self, path: KeyPath) -> tuple[KeyPath, bool]:
        """Return the longest prefix of a key path that occurs in the text, and whether it is the whole path.

        Short forms of entries omit keys.
        """
        if path[:1] == ("extents",) and len(path) > 1 and path[:2] not in self.values:
            path = path[1:]  # an extent declared at the top level
        prefix: KeyPath = ()
        is_complete = True
        for part in path:
            is_complete = (*prefix, part) in self.values
            if is_complete:
                prefix = (*prefix, part)
        return prefix, is_complete


def to_catalog_error(error: EntryError, source_map: SourceMap | None, source: str | None) -> CatalogError:
    """Convert an EntryError to a CatalogError on the file `source`, which shows its text or, without text, the entry.

    `source` is the name of the catalog's file.
    """
    if source_map is None:
        key_path = ".".join(map(str, error.at.path))
        parts = [error.detail, f"at {key_path}" if key_path else None]
        detail = "; ".join(part for part in parts if part) or None
        return CatalogError(error.message, detail=detail, hint=error.hint, source=source)
    return CatalogError(
        error.message,
        detail=error.detail,
        hint=error.hint,
        span=source_map.span(error.at),
        text=source_map.text,
        source=source or "catalog",
    )
