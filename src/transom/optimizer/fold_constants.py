"""Expressions that read nothing become constants."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.expressions import Aggregate, Call, Case, Expression, Item, Literal, conjunction, operands, rewrite
from transom.algebra.operator import Operator
from transom.algebra.relations import (
    RelationJoin,
    WindowAggregation,
    WindowJoin,
    WindowProject,
    WindowSelect,
)
from transom.algebra.streams import StreamProject, StreamSelect
from transom.model.types import Type
from transom.optimizer.rule import Context


def fold_constants(op: Operator, context: Context) -> Operator | None:
    """Replace what can be computed now by its value: 1 + 1, TRUE AND p, branches of CASE that are never taken."""

    def fold(expression: Expression) -> Expression:
        return rewrite(expression, lambda part: fold_one(part, context))

    match op:
        case StreamSelect() | WindowSelect() | WindowJoin():
            new: Operator = replace(op, predicate=fold(op.predicate))
        case RelationJoin():
            new = replace(op, predicate=fold(op.predicate))
        case StreamProject() | WindowProject():
            new = replace(op, items=tuple(Item(fold(i.expression), i.attribute) for i in op.items))
        case WindowAggregation():
            groups = tuple(Item(fold(i.expression), i.attribute) for i in op.groups)
            aggregates = tuple(
                Aggregate(a.function, None if a.argument is None else fold(a.argument), a.attribute)
                for a in op.aggregates
            )
            new = replace(op, groups=groups, aggregates=aggregates)
        case _:
            return None
    return None if new == op else new


def fold_one(part: Expression, context: Context) -> Expression:
    """One step, when everything below is folded already."""
    below = operands(part)
    if below and all(isinstance(operand, Literal) for operand in below):
        return Literal(context.constant(part), part.type)
    match part:
        case Call(function=function, arguments=arguments) if function.name == "AND":
            return connect(arguments, neutral=True, part=part)
        case Call(function=function, arguments=arguments) if function.name == "OR":
            return connect(arguments, neutral=False, part=part)
        case Case(branches=branches, otherwise=otherwise):
            possible = [(c, r) for c, r in branches if not (isinstance(c, Literal) and c.value is not True)]
            if not possible:
                return otherwise
            first = possible[0]
            if isinstance(first[0], Literal):
                return first[1]
            return part if len(possible) == len(branches) else Case(tuple(possible), otherwise)
        case _:
            return part


def connect(arguments: tuple[Expression, ...], *, neutral: bool, part: Call) -> Expression:
    """AND (neutral TRUE) or OR (neutral FALSE) without its neutral constants; decided if one constant decides it."""
    if any(isinstance(a, Literal) and a.value is (not neutral) for a in arguments):
        return Literal(not neutral, Type.BOOLEAN)
    rest = [a for a in arguments if not (isinstance(a, Literal) and a.value is neutral)]
    if len(rest) == len(arguments):
        return part
    if len(rest) <= 1 or neutral:
        return conjunction(rest) if rest else Literal(neutral, Type.BOOLEAN)
    return Call(part.function, tuple(rest))
