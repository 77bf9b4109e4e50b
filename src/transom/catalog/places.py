"""Places in a catalog: paths of keys and positions, and where in the text they stand."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from transom.errors import CatalogError, Span

Path = tuple[str | int, ...]
"""The keys and list positions that lead from the top of a catalog to one of its entries."""


@dataclass(frozen=True, slots=True)
class At:
    """One place: an entry, its key (if `key`), or the characters `inner` of its text."""

    path: Path = ()
    inner: tuple[int, int] | None = None
    key: bool = False

    def then(self, *parts: str | int) -> At:
        """An entry further down."""
        return At((*self.path, *parts))

    def within(self, start: int, end: int) -> At:
        """Some of the characters of this entry's text."""
        return replace(self, inner=(start, end))

    def at_key(self) -> At:
        """The key of this entry."""
        return replace(self, key=True)


class Misfit(Exception):
    """Something in a catalog does not fit; becomes a CatalogError once its place in the text is known."""

    def __init__(self, message: str, at: At, hint: str | None = None, detail: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.at = at
        self.hint = hint
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a value stands; where its very characters stand, if they stand as they are; whether it has entries."""

    span: Span
    words: Span | None = None
    entries: bool = False


@dataclass(slots=True)
class Places:
    """Where the keys and the values of one text stand."""

    text: str
    keys: dict[Path, Span] = field(default_factory=dict)
    values: dict[Path, Spot] = field(default_factory=dict)

    def span(self, at: At) -> Span:
        """The span of a place; the nearest entry around it if the place itself is not in the text."""
        found, complete = self._find(at.path)
        spot = self.values.get(found) or Spot(Span(0, len(self.text)))
        if at.inner is not None and spot.words is not None:
            return Span(spot.words.start + at.inner[0], spot.words.start + at.inner[1])
        if found in self.keys and (at.key if complete else spot.entries):
            return self.keys[found]
        return spot.span

    def _find(self, path: Path) -> tuple[Path, bool]:
        """The path in the text, and whether it leads to the very end: short forms leave out keys."""
        if path[:1] == ("extents",) and len(path) > 1 and path[:2] not in self.values:
            path = path[1:]  # an extent declared at the top, without the word extents
        found: Path = ()
        complete = True
        for part in path:
            complete = (*found, part) in self.values
            if complete:
                found = (*found, part)
        return found, complete


def locate(misfit: Misfit, places: Places | None, source: str | None) -> CatalogError:
    """The error for a misfit: with the place underlined if there is a text, with its path if there is none."""
    if places is None:
        way = ".".join(map(str, misfit.at.path))
        parts = [misfit.detail, f"at {way}" if way else None]
        detail = "; ".join(part for part in parts if part) or None
        return CatalogError(misfit.message, detail=detail, hint=misfit.hint, source=source)
    return CatalogError(
        misfit.message,
        detail=misfit.detail,
        hint=misfit.hint,
        span=places.span(misfit.at),
        text=places.text,
        source=source or "catalog",
    )
