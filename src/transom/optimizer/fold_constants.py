"""Expressions without columns become constants."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.expressions.expression import (
    Aggregate,
    Call,
    Case,
    Constant,
    Expression,
    NamedExpression,
    conjunction,
    operands,
    rewrite,
)
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
from transom.optimizer.rule import RuleContext


def fold_constants(op: Operator, context: RuleContext) -> Operator | None:
    """Compute constants such as 1 + 1, simplify TRUE AND p to p, and remove CASE branches that are never chosen."""

    def fold(expression: Expression) -> Expression:
        """Replace the constant subexpressions of one expression by their values."""
        return rewrite(expression, lambda part: fold_node(part, context))

    match op:
        case StreamSelect() | WindowSelect() | WindowJoin():
            new: Operator = replace(op, predicate=fold(op.predicate))
        case RelationJoin():
            new = replace(op, predicate=fold(op.predicate))
        case StreamProject() | WindowProject():
            new = replace(op, items=tuple(NamedExpression(fold(i.expression), i.attribute) for i in op.items))
        case WindowAggregation():
            groups = tuple(NamedExpression(fold(i.expression), i.attribute) for i in op.groups)
            aggregates = tuple(
                Aggregate(a.function, None if a.argument is None else fold(a.argument), a.attribute)
                for a in op.aggregates
            )
            new = replace(op, groups=groups, aggregates=aggregates)
        case _:
            return None
    return None if new == op else new


def fold_node(part: Expression, context: RuleContext) -> Expression:
    """Simplify one node of an expression whose operands are simplified already; return it unchanged if impossible."""
    below = operands(part)
    if below and all(isinstance(operand, Constant) for operand in below):
        return Constant(context.evaluate_constant(part), part.type)
    match part:
        case Call(function=function, arguments=arguments) if function.name == "AND":
            return simplify_connective(arguments, neutral=True, part=part)
        case Call(function=function, arguments=arguments) if function.name == "OR":
            return simplify_connective(arguments, neutral=False, part=part)
        case Case(branches=branches, otherwise=otherwise):
            possible = [(c, r) for c, r in branches if not (isinstance(c, Constant) and c.value is not True)]
            if not possible:
                return otherwise
            first = possible[0]
            if isinstance(first[0], Constant):
                return first[1]
            return part if len(possible) == len(branches) else Case(tuple(possible), otherwise)
        case _:
            return part


def simplify_connective(arguments: tuple[Expression, ...], *, neutral: bool, part: Call) -> Expression:
    """Simplify AND or OR (`part`): drop operands equal to `neutral`, or return the constant that decides the result.

    `neutral` is the operand to drop: True for AND, False for OR.
    """
    if any(isinstance(a, Constant) and a.value is (not neutral) for a in arguments):
        return Constant(not neutral, Type.BOOLEAN)
    rest = [a for a in arguments if not (isinstance(a, Constant) and a.value is neutral)]
    if len(rest) == len(arguments):
        return part
    if len(rest) <= 1 or neutral:
        return conjunction(rest) if rest else Constant(neutral, Type.BOOLEAN)
    return Call(part.function, tuple(rest))
