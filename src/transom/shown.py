"""What a query says of itself beside its answers: which engines run it, and drawings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, Literal

from transom.algebra.operator import Operator
from transom.errors import Unsupported, UsageError

Engine = Literal["reference", "spark"]
ENGINES: dict[Engine, str] = {"reference": "the reference engine", "spark": "Spark"}
"""The engines, with their names in a sentence."""


@dataclass(frozen=True)
class Engines:
    """The engines that run a query; `refusals` says of each other one why it does not.

    With `replay_only` Spark runs the query over recorded rows, and `refusals` says why it does not run it live.
    """

    runs: tuple[Engine, ...]
    refusals: Mapping[Engine, Unsupported] = field(default_factory=dict)
    replay_only: bool = False

    def __str__(self) -> str:
        named = ", ".join(ENGINES[engine] for engine in self.runs) or "no engine"
        if self.replay_only:
            return f"{named} (replay only; not live: {_located(self.refusals['spark'])})"
        refused = [f"not on {ENGINES[engine]}: {_located(gap)}" for engine, gap in self.refusals.items()]
        return "; ".join([named, *refused])


def _located(gap: Unsupported) -> str:
    """What is not supported, and its line and column in the query."""
    where = gap.position
    return gap.construct if where is None else f"{gap.construct} ({where[0]}:{where[1]})"


def is_operator(content: Any) -> bool:
    """Whether something is a part of a plan that `explain` shows."""
    return isinstance(content, Operator)


def is_syntax(content: Any) -> bool:
    """Whether something is a node of a syntax tree."""
    return is_dataclass(content) and type(content).__module__.startswith("transom.languages")


@dataclass(frozen=True)
class Map:
    """A map: `svg`, the same in a page to move about in as `html`, and what it shows as `geojson`."""

    svg: str = field(repr=False)
    html: str = field(repr=False)
    geojson: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map into a file, in the form that its ending names."""
        texts = {".svg": self.svg, ".html": self.html, ".geojson": self.geojson}
        text = texts.get(Path(path).suffix.lower())
        if text is None:
            raise UsageError(f"{path} is no name for a map", hint="let it end in .svg, .html or .geojson")
        _write(path, text)

    def __repr__(self) -> str:
        return f"<Map: SVG of {len(self.svg):,} characters>"

    def _repr_svg_(self) -> str:
        return self.svg


def _write(path: str | os.PathLike[str], text: str) -> None:
    try:
        Path(path).write_text(text, "utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {path}", detail=str(error)) from error


@dataclass(frozen=True)
class Picture:
    """A drawing; `svg` is its text."""

    svg: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the drawing into a file."""
        _write(path, self.svg)

    def __repr__(self) -> str:
        return f"<Picture: SVG of {len(self.svg):,} characters>"

    def _repr_svg_(self) -> str:
        return self.svg
