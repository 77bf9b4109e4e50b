"""The driver of the optimizer: applies rules until none matches, and checks the plan after every step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from transom.algebra.expressions.expression import Expression
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
from transom.optimizer.rule import Rewrite, Rule, RuleContext
from transom.optimizer.table_on_the_right import table_on_the_right


def _rule(rewrite: Rewrite) -> Rule:
    """Wrap a rewrite function as a rule that has the name of the function."""
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
"""All rules, in the order in which the optimizer tries them."""


@dataclass(frozen=True, slots=True)
class RewriteStep:
    """One applied rewrite: the name of the rule, and the whole plan after it."""

    rule: str
    plan: Plan


def optimize(
    plan: Plan,
    evaluate_constant: Callable[[Expression], Value],
    *,
    without: Collection[str] = (),
    rules: Sequence[Rule] = RULES,
) -> list[RewriteStep]:
    """Rewrite a plan until no rule matches, leaving out rules named in `without`; return the plan after each step.

    Rules that `without` names are skipped; `evaluate_constant` computes constant expressions.

    Raises UsageError if `without` names an unknown rule, PlanError if a rule breaks the plan or rules loop.
    """
    check_names(without, rules)
    active = [rule for rule in rules if rule.name not in without]
    steps: list[RewriteStep] = []
    seen = {plan}
    current = plan
    while (step := next_step(current, active, evaluate_constant)) is not None:
        check_step(current, step)
        if step.plan in seen:
            raise PlanError(f"{step.rule} led back to a plan that was there before")
        seen.add(step.plan)
        steps.append(step)
        current = step.plan
    return steps


def check_names(without: Collection[str], rules: Sequence[Rule] = RULES) -> None:
    """Raise UsageError if `without`, a list of rules that a user switched off, contains an unknown name."""
    names = [rule.name for rule in rules]
    unknown = sorted(set(without) - set(names))
    if unknown:
        raise UsageError(f"no optimizer rule is called {unknown[0]}", hint=f"rules are {', '.join(names)}")


def next_step(
    plan: Plan, rules: Sequence[Rule], evaluate_constant: Callable[[Expression], Value]
) -> RewriteStep | None:
    """Apply the first of `rules` that matches a node of the plan; return None if no rule matches.

    `evaluate_constant` computes the values of constant expressions for the rules.
    """
    for rule in rules:
        rewritten = apply_to_first_match(plan, rule, (), evaluate_constant)
        if rewritten is not None:
            return RewriteStep(rule.name, rewritten)  # type: ignore[arg-type]
    return None


def apply_to_first_match(
    op: Operator, rule: Rule, ancestors: tuple[Operator, ...], evaluate_constant: Callable[[Expression], Value]
) -> Operator | None:
    """Apply a rule to the first node below `ancestors` that matches, top down; return the new plan, else None.

    `ancestors` are the nodes above `op`.
    """
    changed = rule.rewrite(op, RuleContext(ancestors, evaluate_constant))
    if changed is not None:
        return changed
    for below in inputs(op):
        rewritten = apply_to_first_match(below, rule, (*ancestors, op), evaluate_constant)
        if rewritten is not None:
            return with_inputs(op, lambda part, old=below, new=rewritten: new if part is old else part)  # type: ignore[misc]
    return None


def check_step(before: Plan, step: RewriteStep) -> None:
    """Raise PlanError if a rewrite step changed the columns of the plan, or turned a stream into windows or back.

    Operators check the rest when they are built.
    """
    if step.plan.schema != before.schema or is_stream(step.plan) != is_stream(before):
        raise PlanError(f"{step.rule} changed the columns from {before.schema} to {step.plan.schema}")
