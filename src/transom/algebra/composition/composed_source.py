"""Composed queries: sources that are answers of inner queries, and tree walks that enter those queries.

Such a source holds its inner query, which the tree walks of `transom.algebra.tree` do not enter. An engine evaluates
the inner query first and reads its answer, or puts the plan of the inner query in place of the source.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from transom.algebra.operator import Operator

Value = TypeVar("Value")


class InnerQuery:
    """Wrapper of the inner query of a source, which hides it from tree walks of the outer plan."""

    __slots__ = ("query",)

    def __init__(self, query: Operator) -> None:
        """Wrap the plan of an inner query, so that walks of the outer plan do not enter it."""
        self.query = query

    def __eq__(self, other: object) -> bool:
        """Whether the other object is also a wrapper and holds an equal plan."""
        return isinstance(other, InnerQuery) and self.query == other.query

    def __hash__(self) -> int:
        """The hash of the wrapped plan."""
        return hash(self.query)

    def __str__(self) -> str:
        """The class name of the outermost operator of the wrapped plan."""
        return type(self.query).__name__


class ComposedSource:
    """A source that is the answer of another query; `composed_sources` finds all of them in a plan."""

    __slots__ = ()

    extent: str
    inner: InnerQuery


def walk_composed(value: object) -> Iterator[Operator]:
    """Yield all operators in a plan, or in a part of it, in pre-order, including those of inner queries."""
    if isinstance(value, tuple):
        for part in value:
            yield from walk_composed(part)
    elif isinstance(value, InnerQuery):
        yield from walk_composed(value.query)
    elif _is_algebra_value(value):
        if isinstance(value, Operator):
            yield value
        for slot in fields(value):  # type: ignore[arg-type]
            yield from walk_composed(getattr(value, slot.name))


def composed_sources(operator: Operator) -> dict[str, ComposedSource]:
    """Return the sources of a plan that read answers of inner queries, by name, the innermost first."""
    sources = [op for op in walk_composed(operator) if isinstance(op, ComposedSource)]
    return {source.extent: source for source in reversed(sources)}


def sources_of(operator: Operator, supplied: Collection[str] = ()) -> list[str]:
    """List the extents (sources, tables) that a plan and its inner queries read; one in `supplied` counts as extent.

    An inner query whose name is in `supplied` counts as an extent of its own.
    """
    return list(dict.fromkeys(_extents_read(operator, supplied)))


def _extents_read(value: object, supplied: Collection[str]) -> Iterator[str]:
    """Yield the extents that a plan and its inner queries read; an inner query in `supplied` is an extent itself.

    An inner query whose name is in `supplied` counts as an extent of its own.
    """
    if isinstance(value, tuple):
        for part in value:
            yield from _extents_read(part, supplied)
    elif isinstance(value, InnerQuery):
        yield from _extents_read(value.query, supplied)
    elif _is_algebra_value(value):
        is_supplied = isinstance(value, ComposedSource) and value.extent in supplied
        if isinstance(value, Operator) and (is_supplied or not isinstance(value, ComposedSource)):
            extents = getattr(value, "extents", None) or (getattr(value, "extent", None),)
            yield from (name for name in extents if name is not None)
        if not is_supplied:
            for slot in fields(value):  # type: ignore[arg-type]
                yield from _extents_read(getattr(value, slot.name), supplied)


def rewrite_composed(value: Value, change: Callable[[Operator], Operator]) -> Value:
    """Apply `change` to every operator of a plan or a part of it, inputs first, also inside inner queries."""
    rewritten: Any = value
    if isinstance(value, tuple):
        parts = tuple(rewrite_composed(part, change) for part in value)
        return value if all(new is old for new, old in zip(parts, value)) else parts  # type: ignore[return-value]
    if isinstance(value, InnerQuery):
        inner = rewrite_composed(value.query, change)
        return value if inner is value.query else InnerQuery(inner)  # type: ignore[return-value]
    if not _is_algebra_value(value):
        return value
    contents = {slot.name: getattr(value, slot.name) for slot in fields(value) if slot.init}  # type: ignore[arg-type]
    changed = {name: new for name, old in contents.items() if (new := rewrite_composed(old, change)) is not old}
    rewritten = replace(rewritten, **changed) if changed else rewritten
    return change(rewritten) if isinstance(rewritten, Operator) else rewritten  # type: ignore[return-value]


def _is_algebra_value(value: object) -> bool:
    """Whether a value is an object of the algebra (operator, expression, ...), so that a walk visits its fields."""
    return is_dataclass(value) and type(value).__module__.startswith("transom.algebra.")
