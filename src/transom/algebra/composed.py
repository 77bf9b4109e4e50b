"""Queries over answers of other queries: walking a plan through the queries behind its sources, in both algebras.

A source that is the answer of another query is a source of its own algebra that also holds the query behind it. An
engine evaluates the query first and reads its answer, or puts the plan of the query in place of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from transom.algebra.operator import AnyOperator

Value = TypeVar("Value")


class Composed:
    """A source that is the answer of another query; `composed_sources` has all of them."""

    __slots__ = ()

    extent: str


def everything(value: object) -> Iterator[AnyOperator]:
    """All operators of both algebras in a value, top first; the queries behind sources are entered."""
    if isinstance(value, tuple):
        for part in value:
            yield from everything(part)
    elif _is_algebra(value):
        if isinstance(value, AnyOperator):
            yield value
        for one in fields(value):  # type: ignore[arg-type]
            yield from everything(getattr(value, one.name))


def composed_in(operator: AnyOperator) -> dict[str, Composed]:
    """The sources of a query that are answers of others, by extent; those behind others come first."""
    found = [op for op in everything(operator) if isinstance(op, Composed)]
    return {op.extent: op for op in reversed(found)}


def sources_of(operator: AnyOperator, given: Collection[str] = ()) -> list[str]:
    """The extents at the bottom of a query, each once; a composed one counts as a source where its rows are `given`."""
    return list(dict.fromkeys(_sources(operator, given)))


def _sources(value: object, given: Collection[str]) -> Iterator[str]:
    if isinstance(value, tuple):
        for part in value:
            yield from _sources(part, given)
    elif _is_algebra(value):
        if isinstance(value, AnyOperator) and (not isinstance(value, Composed) or value.extent in given):
            own = getattr(value, "extents", None) or (getattr(value, "extent", None),)
            yield from (name for name in own if name is not None)
        if not isinstance(value, Composed) or value.extent not in given:
            for one in fields(value):  # type: ignore[arg-type]
                yield from _sources(getattr(value, one.name), given)


def rewritten(value: Value, change: Callable[[AnyOperator], AnyOperator]) -> Value:
    """A query in which every operator is changed, bottom first."""
    made: Any = value
    if isinstance(value, tuple):
        parts = tuple(rewritten(part, change) for part in value)
        return value if all(new is old for new, old in zip(parts, value)) else parts  # type: ignore[return-value]
    if not _is_algebra(value):
        return value
    below = {one.name: getattr(value, one.name) for one in fields(value) if one.init}  # type: ignore[arg-type]
    changed = {name: new for name, old in below.items() if (new := rewritten(old, change)) is not old}
    made = replace(made, **changed) if changed else made
    return change(made) if isinstance(made, AnyOperator) else made  # type: ignore[return-value]


def _is_algebra(value: object) -> bool:
    return is_dataclass(value) and type(value).__module__.startswith("transom.algebra.")
