"""Plans for the optimizer: those of generated questions, with more to optimise than any author would write."""

from __future__ import annotations

import random
from dataclasses import replace

from transom.algebra.expressions.expression import (
    TRUE,
    Constant,
    Expression,
    NamedExpression,
    call,
    case,
    identity_items,
)
from transom.algebra.operator import Operator, Plan
from transom.algebra.relations import WindowCrossProduct, WindowProject, WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.streams import StreamProject, StreamSelect
from transom.algebra.tree import is_stream, with_inputs
from transom.model.types import Type


def decorated(plan: Plan, rng: random.Random) -> Plan:
    """A plan with needless operators, constants to fold and products turned round, at random places."""
    return change(plan, rng)  # type: ignore[return-value]


def change(op: Operator, rng: random.Random) -> Operator:
    """An operator with its inputs changed, and perhaps itself."""
    op = with_inputs(op, lambda below: change(below, rng))
    match op:
        case StreamSelect() | WindowSelect() if rng.random() < 0.4:
            return replace(op, predicate=obscured(op.predicate, rng))
        case StreamProject() | WindowProject() if rng.random() < 0.2:
            return replace(op, items=tuple(NamedExpression(shifted(i.expression, rng), i.attribute) for i in op.items))
        case WindowCrossProduct() if rng.random() < 0.3:
            return WindowProject(WindowCrossProduct(op.right, op.left), identity_items(op.schema.attributes))
    if rng.random() > 0.12 or isinstance(op, StoredTable):
        return op
    if is_stream(op):  # a selection might stand below a row window, which needs numbers without gaps
        return StreamProject(op, identity_items(op.schema.attributes))  # type: ignore[arg-type]
    if rng.random() < 0.5:
        return WindowSelect(op, TRUE)  # type: ignore[arg-type]
    return WindowProject(op, identity_items(op.schema.attributes))  # type: ignore[arg-type]


def obscured(predicate: Expression, rng: random.Random) -> Expression:
    """A predicate with constants in it."""
    two = call("+", Constant(1, Type.INTEGER), Constant(1, Type.INTEGER))
    yes = call("=", two, Constant(2, Type.INTEGER))
    no = call("<", two, Constant(rng.choice([1, 2]), Type.INTEGER))
    unknown = call("=", two, Constant(None, Type.INTEGER))
    return rng.choice(
        [
            lambda: call("AND", yes, predicate),
            lambda: call("OR", no, predicate),
            lambda: call("AND", call("OR", unknown, predicate), yes),
            lambda: case([(no, TRUE), (yes, predicate)], TRUE),
            lambda: case([(no, TRUE), (predicate, TRUE)], no),
        ]
    )()


def shifted(expression: Expression, rng: random.Random) -> Expression:
    """An expression of the same type that computes more than it needs."""
    if expression.type is not Type.INTEGER:
        return expression
    nothing = call("*", Constant(0, Type.INTEGER), Constant(rng.randint(1, 9), Type.INTEGER))
    return call("+", expression, nothing)
