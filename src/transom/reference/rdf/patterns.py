"""Definitions 6, 7 and 11, and property paths: from statements to solutions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias, assert_never

from transom.algebra.expressions.expression import Column
from transom.algebra.rdf.patterns import (
    AlternativePath,
    BasicGraphPattern,
    InversePath,
    NegatedPropertySet,
    OneOrMorePath,
    PathPattern,
    PredicatePath,
    PropertyPath,
    SequencePath,
    TermPattern,
    TriplePattern,
    ZeroOrMorePath,
    ZeroOrOnePath,
)
from transom.model.bag import Row
from transom.model.rdf.solutions import Valid
from transom.model.rdf.terms import Term, Triple
from transom.model.schema import Schema, merged_schema
from transom.model.types import Value
from transom.reference.relations import Rows, align_columns, compatible_pairing

Pair: TypeAlias = tuple[Term, Term]
"""The two ends of a path."""


def match_statement(names: Iterable[str], items: Iterable[TermPattern], terms: Iterable[Value]) -> Row | None:
    """Match pattern items to terms, and return the values of the variables `names`; None without a match (R11)."""
    bindings: dict[str, Value] = {}
    for item, term in zip(items, terms, strict=True):
        expected = bindings.setdefault(item.name, term) if isinstance(item, Column) else item
        if expected != term:
            return None
    return tuple(map(bindings.get, names))


def triple_pattern(op: TriplePattern, statements: Sequence[Valid[Row]]) -> list[Valid[Row]]:
    """Match a triple pattern: each matching statement gives a solution with its validity interval (Definition 7)."""
    names = op.schema.names
    matches = ((match_statement(names, op.items, e.payload), e) for e in statements)
    return [Valid(solution, e.start, e.end) for solution, e in matches if solution is not None]


def basic_graph_pattern(op: BasicGraphPattern, parts: Sequence[Rows]) -> Rows:
    """Join the solutions of a basic graph pattern's parts, then drop the variables of blank nodes (Definition 11)."""
    schema = Schema(())
    joined: list[Row] = [()]
    for part, rows in zip(op.parts, parts, strict=True):
        pair = compatible_pairing(schema, part.schema)
        pairs = (pair(left, right) for left in joined for right in rows)
        schema, joined = merged_schema(schema, part.schema), [row for row in pairs if row is not None]
    return align_columns(tuple(joined), schema, op.schema)


def path_pattern(op: PathPattern, statements: Rows, outer: Mapping[str, Term]) -> Rows:
    """Evaluate a property path over one tick's statements; `outer` has bindings from outside an EXISTS (18.4).

    `outer` has the bindings around an EXISTS.
    """
    names = op.schema.names
    items = [_substituted(item, outer) for item in op.items]
    ends = [None if isinstance(item, Column) else item for item in items]
    triples = [Triple(*statement) for statement in statements]  # type: ignore[arg-type]
    solutions = (match_statement(names, items, pair) for pair in evaluate_path(op.path, ends[0], ends[1], triples))
    return tuple(solution for solution in solutions if solution is not None)


def _substituted(item: TermPattern, outer: Mapping[str, Term]) -> TermPattern:
    """Replace a variable in a pattern by its term, if the bindings around an EXISTS bind it."""
    return (outer.get(item.name) or item) if isinstance(item, Column) else item


def evaluate_path(path: PropertyPath, start: Term | None, end: Term | None, statements: Sequence[Triple]) -> list[Pair]:
    """Return the pairs of terms that a path in `statements` connects, from `start` to `end`; None matches any term."""

    def along(step: PropertyPath, first: Term | None, last: Term | None) -> list[Pair]:
        """Return the pairs of terms that the subpath `step` connects, from `first` to `last`; None matches any term."""
        return evaluate_path(step, first, last, statements)

    def with_these_ends(pairs: Iterable[Pair]) -> list[Pair]:
        """Return the pairs of terms (start and end of a path) that fit the path pattern's ends, where fixed."""
        return [p for p in pairs if (start is None or p[0] == start) and (end is None or p[1] == end)]

    match path:
        case PredicatePath(predicate=predicate):
            return with_these_ends((s.subject, s.object) for s in statements if s.predicate == predicate)
        case NegatedPropertySet(forward=forward, backward=backward):
            onward = statements if forward or not backward else ()
            back = statements if backward else ()
            pairs = with_these_ends((s.subject, s.object) for s in onward if s.predicate not in forward)
            return pairs + with_these_ends((s.object, s.subject) for s in back if s.predicate not in backward)
        case InversePath(path=inner):
            return [(s, o) for o, s in along(inner, end, start)]
        case SequencePath(first=first, second=second):
            return [(s, o) for s, m in along(first, start, None) for n, o in along(second, None, end) if m == n]
        case AlternativePath(first=first, second=second):
            return along(first, start, end) + along(second, start, end)
        case ZeroOrOnePath(path=inner):
            return list(dict.fromkeys([*along(inner, start, end), *zero_length_paths(start, end, statements)]))
        case OneOrMorePath(path=inner):
            return transitive_closure(inner, start, end, statements, include_start=False)
        case ZeroOrMorePath(path=inner):
            return transitive_closure(inner, start, end, statements, include_start=True)
        case _:
            assert_never(path)


def zero_length_paths(start: Term | None, end: Term | None, statements: Sequence[Triple]) -> list[Pair]:
    """Return pairs (x, x): x is `start` or `end`, whichever is given (no pair if they differ), else every node.

    The term is `start` or `end`, whichever is not None, or else every node; if both differ, there is no pair.
    """
    if start is not None and end is not None:
        return [(start, end)] if start == end else []
    fixed = start if start is not None else end
    return [(fixed, fixed)] if fixed is not None else [(node, node) for node in nodes(statements)]


def nodes(statements: Sequence[Triple]) -> list[Term]:
    """Return the nodes of the graph: every subject and object of the statements, once."""
    return list(dict.fromkeys(term for s in statements for term in (s.subject, s.object)))


def transitive_closure(
    path: PropertyPath, start: Term | None, end: Term | None, statements: Sequence[Triple], *, include_start: bool
) -> list[Pair]:
    """Return the pairs that a repeated path connects (0 times too if `include_start`); `start` or `end` None: any."""
    if start is None and end is not None:
        return [
            (s, o) for o, s in transitive_closure(InversePath(path), end, None, statements, include_start=include_start)
        ]
    starts = nodes(statements) if start is None else [start]
    pairs = [
        (source, term)
        for source in starts
        for term in reachable_terms(path, source, statements, include_start=include_start)
    ]
    return pairs if end is None else [pair for pair in pairs if pair[1] == end]


def reachable_terms(
    path: PropertyPath, start: Term, statements: Sequence[Triple], *, include_start: bool
) -> list[Term]:
    """Return the distinct terms that a repeated path reaches from `start`; `include_start` adds `start` itself."""
    reached: list[Term] = [start] if include_start else []
    pending = [start]
    while pending:
        source = pending.pop()
        for _, term in evaluate_path(path, source, None, statements):
            if term not in reached:
                reached.append(term)
                pending.append(term)
    return reached
