"""Queries over answers of other queries: walking a plan through the queries behind its sources.

A source that is the answer of another query also holds that query, out of sight of the walks of either algebra. An
engine evaluates the query first and reads its answer, or puts the plan of the query in place of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from transom.algebra.operator import Operator

Value = TypeVar("Value")


class Behind:
    """The query behind a source: no operator of the plan that reads the source."""

    __slots__ = ("query",)

    def __init__(self, query: Operator) -> None:
        self.query = query

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Behind) and self.query == other.query

    def __hash__(self) -> int:
        return hash(self.query)

    def __str__(self) -> str:
        return type(self.query).__name__


class Composed:
    """A source that is the answer of another query; `composed_sources` has all of them."""

    __slots__ = ()

    extent: str
    inner: Behind


def everything(value: object) -> Iterator[Operator]:
    """All operators in a value, top first; the queries behind sources are entered."""
    if isinstance(value, tuple):
        for part in value:
            yield from everything(part)
    elif isinstance(value, Behind):
        yield from everything(value.query)
    elif _is_algebra(value):
        if isinstance(value, Operator):
            yield value
        for one in fields(value):  # type: ignore[arg-type]
            yield from everything(getattr(value, one.name))


def composed_in(operator: Operator) -> dict[str, Composed]:
    """The sources of a query that are answers of others, by extent; those behind others come first."""
    found = [op for op in everything(operator) if isinstance(op, Composed)]
    return {op.extent: op for op in reversed(found)}


def sources_of(operator: Operator, given: Collection[str] = ()) -> list[str]:
    """The extents at the bottom of a query, each once; a composed one counts as a source where its rows are `given`."""
    return list(dict.fromkeys(_sources(operator, given)))


def _sources(value: object, given: Collection[str]) -> Iterator[str]:
    if isinstance(value, tuple):
        for part in value:
            yield from _sources(part, given)
    elif isinstance(value, Behind):
        yield from _sources(value.query, given)
    elif _is_algebra(value):
        handed = isinstance(value, Composed) and value.extent in given
        if isinstance(value, Operator) and (handed or not isinstance(value, Composed)):
            own = getattr(value, "extents", None) or (getattr(value, "extent", None),)
            yield from (name for name in own if name is not None)
        if not handed:
            for one in fields(value):  # type: ignore[arg-type]
                yield from _sources(getattr(value, one.name), given)


def rewritten(value: Value, change: Callable[[Operator], Operator]) -> Value:
    """A query in which every operator is changed, bottom first, also in the queries behind sources."""
    made: Any = value
    if isinstance(value, tuple):
        parts = tuple(rewritten(part, change) for part in value)
        return value if all(new is old for new, old in zip(parts, value)) else parts  # type: ignore[return-value]
    if isinstance(value, Behind):
        inner = rewritten(value.query, change)
        return value if inner is value.query else Behind(inner)  # type: ignore[return-value]
    if not _is_algebra(value):
        return value
    below = {one.name: getattr(value, one.name) for one in fields(value) if one.init}  # type: ignore[arg-type]
    changed = {name: new for name, old in below.items() if (new := rewritten(old, change)) is not old}
    made = replace(made, **changed) if changed else made
    return change(made) if isinstance(made, Operator) else made  # type: ignore[return-value]


def _is_algebra(value: object) -> bool:
    return is_dataclass(value) and type(value).__module__.startswith("transom.algebra.")
