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
        """The location of an entry nested in this one, by the names and list numbers (from 0) that lead to it."""
        return Location((*self.path, *parts))

    def within(self, start: int, end: int) -> Location:
        """The location of the characters from `start` to `end` in the entry's text."""
        return replace(self, inner=(start, end))

    def at_key(self) -> Location:
        """The location of the entry's name instead of its value."""
        return replace(self, key=True)


class EntryError(Exception):
    """An invalid catalog entry; becomes a CatalogError once its span in the text is known."""

    def __init__(self, message: str, at: Location, hint: str | None = None, detail: str | None = None) -> None:
        """An error in the catalog entry `at`; `hint` suggests a remedy, `detail` adds to the message."""
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
        """The span of a location in the YAML text; if it is not there, that of the nearest enclosing entry."""
        path, is_complete = self._find(at.path)
        value = self.values.get(path) or ValueLocation(Span(0, len(self.text)))
        if at.inner is not None and value.text_span is not None:
            return Span(value.text_span.start + at.inner[0], value.text_span.start + at.inner[1])
        if path in self.keys and (at.key if is_complete else value.entries):
            return self.keys[path]
        return value.span

    def _find(self, path: KeyPath) -> tuple[KeyPath, bool]:
        """The longest prefix of a key path that the text has, and if that is the full path; short forms omit keys."""
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
    """Convert an EntryError to a CatalogError: with a span in the file `source` if read from text, else a key path."""
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
