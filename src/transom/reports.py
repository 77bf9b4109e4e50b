"""Reports about a query besides its answer: the engines that run it, pictures and maps."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, Literal

from transom.algebra.operator import Operator
from transom.errors import Unsupported, UsageError

Engine = Literal["reference", "spark"]
ENGINE_NAMES: dict[Engine, str] = {"reference": "the reference engine", "spark": "Spark"}
"""The engines and their names in messages."""


@dataclass(frozen=True)
class Engines:
    """The engines that run a query; `refusals` gives the reason for each other engine.

    With `replay_only` Spark runs the query only as a replay, and `refusals` says why it does not run it live.
    """

    runs: tuple[Engine, ...]
    refusals: Mapping[Engine, Unsupported] = field(default_factory=dict)
    replay_only: bool = False

    def __str__(self) -> str:
        """Return the engines that run the query, and for each other engine the construct that it does not support."""
        names = ", ".join(ENGINE_NAMES[engine] for engine in self.runs) or "no engine"
        if self.replay_only:
            return f"{names} (replay only; not live: {_describe_gap(self.refusals['spark'])})"
        refused = [f"not on {ENGINE_NAMES[engine]}: {_describe_gap(gap)}" for engine, gap in self.refusals.items()]
        return "; ".join([names, *refused])


def _describe_gap(gap: Unsupported) -> str:
    """Describe an unsupported construct, with its line and column in the query if known."""
    where = gap.position
    return gap.construct if where is None else f"{gap.construct} ({where[0]}:{where[1]})"


def is_operator(content: Any) -> bool:
    """Whether a field of a plan is an operator, which `explain` shows as a node."""
    return isinstance(content, Operator)


def is_syntax(content: Any) -> bool:
    """Whether a field of a syntax tree is a syntax node, which `explain` shows as a node."""
    return is_dataclass(content) and type(content).__module__.startswith("transom.languages")


@dataclass(frozen=True)
class Map:
    """A map as `svg`, as an `html` page with a time slider, and as `geojson`: what `Query.map` returns."""

    svg: str = field(repr=False)
    html: str = field(repr=False)
    geojson: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map to a file, as SVG, HTML, GeoJSON or PNG by its extension; raise UsageError for any other."""
        check_drawing_name(path, MAP_ENDINGS, "map")
        texts = {".html": self.html, ".geojson": self.geojson}
        suffix = Path(path).suffix.lower()
        if suffix in texts:
            _write_file(path, texts[suffix].encode())
        else:
            _write_drawing(path, self.svg)

    def __repr__(self) -> str:
        """Return a short text with the size of the map, instead of its long texts."""
        return f"<Map: SVG of {len(self.svg):,} characters>"

    def _repr_svg_(self) -> str:
        """Return the SVG that notebooks display."""
        return self.svg


PICTURE_ENDINGS = (".svg", ".png")
"""The endings of the files that a picture can be written to."""
MAP_ENDINGS = (".svg", ".png", ".html", ".geojson")
"""The endings of the files that a map can be written to."""


def check_drawing_name(path: str | os.PathLike[str], endings: tuple[str, ...], kind: str) -> None:
    """Raise UsageError if the name of a file has none of the `endings`; `kind` is what is drawn, such as `map`."""
    if Path(path).suffix.lower() not in endings:
        names = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise UsageError(f"{path} is no name for a {kind}", hint=f"let it end in {names}")


def _write_drawing(path: str | os.PathLike[str], svg: str) -> None:
    """Write an SVG drawing to a file, as PNG if its name ends in .png; raise UsageError if that fails."""
    if Path(path).suffix.lower() != ".png":
        return _write_file(path, svg.encode())
    from transom.picture.png import to_png

    return _write_file(path, to_png(svg))


def _write_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file; raise UsageError if that fails."""
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise UsageError(f"cannot write {path}", detail=str(error)) from error


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG text."""

    svg: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing to a file, as SVG or PNG by its extension; raise UsageError for any other."""
        check_drawing_name(path, PICTURE_ENDINGS, "picture")
        _write_drawing(path, self.svg)

    def __repr__(self) -> str:
        """Return a short text with the size of the drawing, instead of its long text."""
        return f"<Picture: SVG of {len(self.svg):,} characters>"

    def _repr_svg_(self) -> str:
        """Return the SVG that notebooks display."""
        return self.svg
