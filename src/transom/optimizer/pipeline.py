"""The driver: applies rules to every node until none applies, and checks the plan after every step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from transom.algebra.expressions import Expression
from transom.algebra.operator import Operator, Plan
from transom.algebra.tree import inputs, is_stream, with_inputs
from transom.errors import PlanError, UsageError
from transom.model.types import Value
from transom.optimizer.cheap_restrictions_first import cheap_restrictions_first
from transom.optimizer.drop_trivial import drop_trivial
from transom.optimizer.fold_constants import fold_constants
from transom.optimizer.merge_projections import merge_projections
from transom.optimizer.merge_selections import merge_selections
from transom.optimizer.product_to_join import product_to_join
from transom.optimizer.prune_columns import prune_columns
from transom.optimizer.push_selection_below_product import push_selection_below_product
from transom.optimizer.push_selection_below_projection import push_selection_below_projection
from transom.optimizer.push_selection_below_window import push_selection_below_window
from transom.optimizer.relations_in_step import relations_in_step
from transom.optimizer.rule import Context, Rewrite, Rule
from transom.optimizer.table_on_the_right import table_on_the_right


def _rule(rewrite: Rewrite) -> Rule:
    return Rule(getattr(rewrite, "__name__", "?"), rewrite)


RULES: tuple[Rule, ...] = tuple(
    map(
        _rule,
        (
            fold_constants,
            drop_trivial,
            merge_selections,
            push_selection_below_projection,
            push_selection_below_product,
            push_selection_below_window,
            product_to_join,
            relations_in_step,
            merge_projections,
            prune_columns,
            cheap_restrictions_first,
            table_on_the_right,
        ),
    )
)
"""All rules, in the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class Step:
    """One rewrite that took place: the rule's name and the whole plan after it."""

    rule: str
    plan: Plan


def optimize(
    plan: Plan,
    constant: Callable[[Expression], Value],
    *,
    without: Collection[str] = (),
    rules: Sequence[Rule] = RULES,
) -> list[Step]:
    """The steps from a plan to one to which no rule applies any more; `constant` computes what reads nothing."""
    check_names(without, rules)
    active = [rule for rule in rules if rule.name not in without]
    steps: list[Step] = []
    seen = {plan}
    current = plan
    while (step := next_step(current, active, constant)) is not None:
        check_step(current, step)
        if step.plan in seen:
            raise PlanError(f"{step.rule} led back to a plan that was there before")
        seen.add(step.plan)
        steps.append(step)
        current = step.plan
    return steps


def check_names(without: Collection[str], rules: Sequence[Rule] = RULES) -> None:
    """Every name that is switched off must be one of a rule."""
    names = [rule.name for rule in rules]
    unknown = sorted(set(without) - set(names))
    if unknown:
        raise UsageError(f"no optimizer rule is called {unknown[0]}", hint=f"rules are {', '.join(names)}")


def next_step(plan: Plan, rules: Sequence[Rule], constant: Callable[[Expression], Value]) -> Step | None:
    """The first rule that applies somewhere in the plan, applied there."""
    for rule in rules:
        changed = apply_somewhere(plan, rule, (), constant)
        if changed is not None:
            return Step(rule.name, changed)  # type: ignore[arg-type]
    return None


def apply_somewhere(
    op: Operator, rule: Rule, above: tuple[Operator, ...], constant: Callable[[Expression], Value]
) -> Operator | None:
    """The tree with a rule applied to the first node that it fits, from the top; None if it fits nowhere."""
    changed = rule.rewrite(op, Context(above, constant))
    if changed is not None:
        return changed
    for below in inputs(op):
        inner = apply_somewhere(below, rule, (*above, op), constant)
        if inner is not None:
            return with_inputs(op, lambda part, old=below, new=inner: new if part is old else part)  # type: ignore[misc]
    return None


def check_step(before: Plan, step: Step) -> None:
    """A rewrite keeps the columns and the kind of the answer; operators check the rest when they are built."""
    if step.plan.schema != before.schema or is_stream(step.plan) != is_stream(before):
        raise PlanError(f"{step.rule} changed the columns from {before.schema} to {step.plan.schema}")
