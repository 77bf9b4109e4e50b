"""Rewriting of property paths: predicates, sequences, alternatives and inverses become joins and unions of patterns.

Only paths with `?`, `*` or `+` at the top remain path patterns.
"""

from __future__ import annotations

from itertools import count
from typing import TypeAlias, assert_never

from transom.algebra.expressions.terms import term_call, term_literal, variable
from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import (
    AlternativePath,
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
    pattern_variables,
)
from transom.algebra.rdf.solutions import join, project, union, variables
from transom.algebra.relations import WindowSelect
from transom.model.rdf.terms import IRI

RepeatedPath: TypeAlias = ZeroOrOnePath | ZeroOrMorePath | OneOrMorePath


def has_repetition(path: PropertyPath) -> bool:
    """Whether a path contains a repetition: `?`, `*` or `+`."""
    match path:
        case PredicatePath() | NegatedPropertySet():
            return False
        case InversePath(path=inner):
            return has_repetition(inner)
        case SequencePath(first=first, second=second) | AlternativePath(first=first, second=second):
            return has_repetition(first) or has_repetition(second)
        case ZeroOrOnePath() | ZeroOrMorePath() | OneOrMorePath():
            return True
        case _:
            assert_never(path)


def count_zero_length_matches(path: PropertyPath, start: bool, end: bool) -> int:
    """Count how often a path connects a term to itself in zero steps; `start`, `end`: this end is not a free variable.

    `start` and `end` say whether that end of the path is fixed.
    """
    match path:
        case PredicatePath() | NegatedPropertySet():
            return 0
        case InversePath(path=inner):
            return count_zero_length_matches(inner, end, start)
        case SequencePath(first=first, second=second):
            return count_zero_length_matches(first, start, False) * count_zero_length_matches(second, False, end)
        case AlternativePath(first=first, second=second):
            return count_zero_length_matches(first, start, end) + count_zero_length_matches(second, start, end)
        case ZeroOrOnePath() | ZeroOrMorePath():
            return int(start or end)
        case OneOrMorePath(path=inner):
            return min(count_zero_length_matches(inner, start, end and not start), 1)
        case _:
            assert_never(path)


def expand_path(op: PathPattern) -> Windows:
    """Rewrite a path to triple patterns that have the same solutions and duplicates; keep `?`, `*` and `+` as paths."""
    subject, object = op.items
    return project(_expand(op.input, op.path, subject, object, count()), variables(op))


def _expand(
    statements: Windows, path: PropertyPath, subject: TermPattern, object: TermPattern, numbers: count[int]
) -> Windows:
    """Rewrite a property path to the joins and unions that find its solutions; `numbers` name new variables."""
    match path:
        case PredicatePath(predicate=predicate):
            return TriplePattern(statements, subject, predicate, object)
        case InversePath(path=inner):
            return _expand(statements, inner, object, subject, numbers)
        case SequencePath(first=first, second=second):
            between = variable(f"_:step {next(numbers)}")
            return join(
                _expand(statements, first, subject, between, numbers),
                _expand(statements, second, between, object, numbers),
            )
        case AlternativePath(first=first, second=second):
            sides = [_expand(statements, branch, subject, object, numbers) for branch in (first, second)]
            return union(*(_project_ends(side, subject, object) for side in sides))
        case NegatedPropertySet(forward=forward, backward=backward):
            forward_matches = (
                _negated_property_set(statements, forward, subject, object, numbers)
                if forward or not backward
                else None
            )
            backward_matches = (
                _negated_property_set(statements, backward, object, subject, numbers) if backward else None
            )
            sides = [
                _project_ends(side, subject, object) for side in (forward_matches, backward_matches) if side is not None
            ]
            return sides[0] if len(sides) == 1 else union(*sides)
        case ZeroOrOnePath() | ZeroOrMorePath() | OneOrMorePath():
            return PathPattern(statements, subject, path, object)
        case _:
            assert_never(path)


def _project_ends(op: Windows, subject: TermPattern, object: TermPattern) -> Windows:
    """Project the solutions of a rewritten path to those of its two ends that are variables."""
    return project(op, pattern_variables((subject, object)))


def _negated_property_set(
    statements: Windows, names: tuple[IRI, ...], subject: TermPattern, object: TermPattern, numbers: count[int]
) -> Windows:
    """Plan the path `!(a|b)`: match statements whose predicate is not in `names`; `numbers` names a variable.

    `numbers` makes the name of the new variable unique.
    """
    predicate = variable(f"_:link {next(numbers)}")
    all_statements = TriplePattern(statements, subject, predicate, object)
    return (
        WindowSelect(all_statements, term_call("NOT IN", predicate, *map(term_literal, names)))
        if names
        else all_statements
    )
