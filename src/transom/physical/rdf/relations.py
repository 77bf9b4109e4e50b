"""Planning of relations of terms: statements and solutions as changes, and the query forms over them."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import replace
from functools import partial, reduce

from transom.algebra.expressions.expression import (
    Call,
    Column,
    Exists,
    Expression,
    NamedExpression,
    conjunction,
    conjuncts,
    rewrite,
    subexpressions,
)
from transom.algebra.expressions.terms import STATEMENT, variable
from transom.algebra.operator import Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.solutions import strip_binds
from transom.algebra.rdf.statements import StoredGraph, element_count, range_and_slide
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    RelationUnion,
    WindowAggregation,
    WindowDistinct,
    WindowProject,
    WindowSelect,
    is_column_selection,
)
from transom.algebra.sequences import OrderBy, Slice, is_ordered
from transom.algebra.sources import StoredTable, Values
from transom.algebra.streams import StreamUnion
from transom.algebra.tree import RdfPlan, pattern_of_exists, volatile_calls
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec, RangeSpec
from transom.model.rdf.terms import IRI, BlankNode
from transom.model.schema import Attribute
from transom.model.types import Type
from transom.physical import gaps
from transom.physical.decisions import STATELESS
from transom.physical.nodes import keyed_windows
from transom.physical.nodes.change_aggregate import ChangeAggregate
from transom.physical.nodes.change_join import Compatibility
from transom.physical.nodes.keyed_windows import KeyedWindow
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.rdf import (
    BindBlankNodes,
    ConstructExec,
    DistinctStep,
    PatternMatch,
    ProjectStep,
    ReadGraph,
    SequenceStep,
    SequenceToChanges,
    SliceStep,
    Sort,
    TimeWindowChanges,
    ValuesExec,
    solution_schema,
)
from transom.physical.nodes.windows import Decision, Form
from transom.physical.planner.context import Planning
from transom.physical.rdf import decisions, joins
from transom.physical.rdf.bindings import exists_pattern, has_exists, is_outer_key
from transom.physical.rdf.closure import plan_closure
from transom.physical.rdf.joins import as_changes, union_all
from transom.physical.rdf.paths import RepeatedPath, expand_path


def plan_rdf_query(planner: Planning, op: RdfPlan) -> PhysicalNode:
    """Plan an RDF query (SELECT, ASK, CONSTRUCT, DESCRIBE); raise Unsupported if it calls, for example, NOW."""
    if calls := volatile_calls(op):
        raise gaps.VOLATILE_FUNCTION.refusal(calls[0].function.name)
    match op:
        case Ask(input=input):
            below = planner.plan_windows(input)
            empty = joins.project_rows(below, solution_schema(()))
            return keyed_windows.Distinct(
                empty, empty.schema, empty.form, _distinct_decision(planner, input, empty.form)
            )
        case Construct(input=input, template=template):
            below = planner.plan_windows(input)
            terms = [t for triple in template for t in (triple.subject, triple.predicate, triple.object)]
            counts = below.form is not Form.TABLE and any(isinstance(term, BlankNode) for term in terms)
            decision = decisions.blank_nodes(input, planner.slack.ticks) if counts else STATELESS
            return ConstructExec(below, template, below.form, decision)
        case Describe():
            return plan_describe(planner, op)
        case _ if is_ordered(op):
            return plan_sort(planner, op)
        case _:
            return planner.plan_windows(op)


def plan_describe(planner: Planning, op: Describe) -> PhysicalNode:
    """Plan DESCRIBE: the statements whose subject is one of the described resources."""
    constants = Values((variable("s"),), tuple((r,) for r in op.resources if isinstance(r, IRI)))
    subjects: PhysicalNode = planner.plan_windows(constants)
    for resource in op.resources:
        if isinstance(resource, Column):
            below = planner.plan_windows(op.input)
            renamed = joins.rename_variable(below, resource.name, "s")
            subjects = union_all(planner, subjects, renamed)
    decision = _distinct_decision(planner, op.input, subjects.form)
    distinct_subjects = keyed_windows.Distinct(subjects, subjects.schema, subjects.form, decision)
    statements = planner.plan_windows(op.statements)
    sides = (TriplePattern(op.statements, *map(variable, "spo")), op.input)
    return joins.join_nodes(
        planner, (statements, distinct_subjects), sides, JoinType.INNER, ("s",), Compatibility(), STATEMENT
    )


def plan_relation(planner: Planning, op: Windows) -> PhysicalNode:
    """Plan a relation of statements or solutions: a table if it depends only on stored graphs, otherwise changes."""
    match op:
        case Window():
            return plan_window(planner, op)
        case StoredGraph(extents=extents):
            return ReadGraph(extents, decisions.STORED) if extents else ValuesExec((), STATEMENT, decisions.STORED)
        case RelationUnion(left=left, right=right):
            return union_all(planner, planner.plan_windows(left), planner.plan_windows(right))
        case TriplePattern(input=statements):
            below = planner.plan_windows(statements)
            return PatternMatch(below, op.items, op.schema, below.form, below.ordered, decisions.PATTERN_MATCH)
        case BasicGraphPattern():
            return joins.plan_graph_pattern(planner, op)
        case PathPattern(path=path) if isinstance(path, RepeatedPath):
            return plan_closure(planner, op, path)
        case PathPattern():
            return planner.plan_windows(expand_path(op))
        case Values(rows=rows):
            return ValuesExec(rows, op.schema, decisions.STORED)
        case WindowSelect(input=input, predicate=predicate):
            return plan_filter(planner, input, predicate)
        case RelationJoin(natural=True, join_type=JoinType.ANTI):
            return joins.plan_minus(planner, op)
        case RelationJoin(natural=True, predicate=predicate) if has_exists(predicate):
            return joins.left_join_with_exists(planner, op)
        case RelationJoin(natural=True):
            return joins.plan_join(planner, op)
        case WindowProject() | WindowDistinct() | Slice() if _is_sliced(op):
            below = plan_sort(planner, op)
            form = Form.TABLE if below.form is Form.TABLE else Form.CHANGES
            return SequenceToChanges(below, op.schema, form, decisions.sort(op, planner.slack.ticks))
        case WindowProject(input=input) if is_column_selection(op):
            return joins.project_rows(planner.plan_windows(input), op.schema)
        case WindowProject():
            return plan_extend(planner, op)
        case WindowDistinct(input=input):
            below = planner.plan_windows(input)
            decision = _distinct_decision(planner, input, below.form)
            return keyed_windows.Distinct(below, op.schema, below.form, decision)
        case OrderBy(input=input):
            return planner.plan_windows(input)
        case WindowAggregation():
            return plan_aggregation(planner, op)
        case _:
            raise PlanError(f"{type(op).__name__} cannot be applied to this input", detail=str(op))


def plan_window(planner: Planning, op: Window) -> PhysicalNode:
    """Plan a window over RDF streams: a time window, or the last n statements, which a machine counts in order."""
    if isinstance(op.input, StreamUnion) and range_and_slide(op):
        return reduce(
            partial(union_all, planner), (plan_window(planner, replace(op, input=part)) for part in op.input.parts)
        )
    if isinstance(op.input, StoredTable):
        raise PlanError("statements are read from streams and stored graphs, not from tables")
    if (size := range_and_slide(op)) is not None:
        return TimeWindowChanges(planner.unordered(op.input), *size, decisions.TIME_WINDOW)
    if (count := element_count(op)) is None:
        raise PlanError("a window of statements needs a length of time or a number of statements", detail=str(op))
    below = planner.in_order(op.input, index=False)
    spec = KeyedWindowSpec("arrival", (RangeSpec("index", (1, 1 - count), (1, 0)),), output="changes")
    decision = decisions.element_window(op, op.input, planner.slack.ticks)
    return KeyedWindow(below, spec, (), None, None, (), below.schema, False, decision, Form.CHANGES)


def plan_extend(planner: Planning, op: WindowProject) -> PhysicalNode:
    """Plan BIND of an expression, which may contain EXISTS or create blank nodes with BNODE().

    BNODE() gives one label per solution as it was before the first of consecutive BINDs.
    """
    below, (expression,) = add_exists_columns(
        planner, op.input, planner.plan_windows(op.input), [op.items[-1].expression]
    )
    item = NamedExpression(expression, op.items[-1].attribute)
    node = joins.add_variables(below, [item])
    if any(isinstance(part, Call) and part.function.name == "BNODE" for part in subexpressions(expression)):
        decision = STATELESS if below.form is Form.TABLE else decisions.blank_nodes(op.input, planner.slack.ticks)
        node = BindBlankNodes(below, item, strip_binds(op).schema.names, node.schema, node.form, decision)
    return node if node.schema == op.schema else joins.project_rows(node, op.schema)


def plan_aggregation(planner: Planning, op: WindowAggregation) -> PhysicalNode:
    """Plan GROUP BY and aggregates; without GROUP BY, one group exists from the first tick on, even if empty."""
    arguments = [aggregate.argument for aggregate in op.aggregates if aggregate.argument is not None]
    expressions = [*(key.expression for key in op.groups), *arguments]
    below, rewritten = add_exists_columns(planner, op.input, planner.plan_windows(op.input), expressions)
    computed = iter(rewritten)
    keys = tuple(NamedExpression(next(computed), key.attribute) for key in op.groups)
    aggregates = tuple(
        aggregate if aggregate.argument is None else replace(aggregate, argument=next(computed))
        for aggregate in op.aggregates
    )
    start: PhysicalNode | None = None if keys else ValuesExec(((),), solution_schema(()), decisions.STORED)
    if planner.streams:
        below, start = as_changes(planner, below), None if start is None else as_changes(planner, start)
    decision = decisions.change_aggregate(op, planner.slack.ticks)
    return ChangeAggregate(below, start, keys, aggregates, op.schema, decision, below.form)


def plan_filter(planner: Planning, input: Windows, condition: Expression) -> PhysicalNode:
    """Plan FILTER: conditions without EXISTS, then EXISTS and NOT EXISTS as joins, then conditions that mix them."""
    parts = conjuncts(condition)
    plain = [part for part in parts if not has_exists(part)]
    node = planner.plan_windows(input)
    if plain:
        node = joins.filter_rows(node, conjunction(plain))
    mixed: list[Expression] = []
    for part in parts:
        pattern = exists_pattern(part)
        if pattern is not None:
            how = JoinType.SEMI if pattern[1] else JoinType.ANTI
            node = joins.join_exists(planner, (input, node), pattern[0], how)
        elif has_exists(part):
            mixed.append(part)
    if not mixed:
        return node
    with_flags, (flag_condition,) = add_exists_columns(planner, input, node, [conjunction(mixed)])
    return joins.project_rows(joins.filter_rows(with_flags, flag_condition), node.schema)


def add_exists_columns(
    planner: Planning, op: Windows, node: PhysicalNode, expressions: SequenceOf[Expression]
) -> tuple[PhysicalNode, list[Expression]]:
    """Add a flag column for each EXISTS in `expressions`; return the new plan, and expressions that read the flags."""
    flags: dict[Exists, Column] = {}

    def replace_exists(part: Expression) -> Expression:
        """Replace EXISTS by a column that will hold its result; return other expressions unchanged."""
        if not isinstance(part, Exists):
            return part
        return flags.setdefault(part, Column(Attribute(f"exists {len(flags)}", Type.BOOLEAN)))

    rewritten = [rewrite(expression, replace_exists) for expression in expressions]
    for exists, flag in flags.items():
        node = joins.join_exists(planner, (op, node), pattern_of_exists(exists), JoinType.MARK, flag.attribute)
    return node, rewritten


def plan_sort(planner: Planning, op: Windows) -> PhysicalNode:
    """Plan ORDER BY together with the projections, DISTINCT, OFFSET and LIMIT above it, which keep its order."""
    after: list[SequenceStep] = []
    while not isinstance(op, OrderBy):
        match op:
            case WindowProject(input=input):
                after.append(ProjectStep(op.schema.names))
            case WindowDistinct(input=input):
                after.append(DistinctStep())
            case Slice(input=input, offset=offset, limit=limit):
                after.append(SliceStep(offset, limit))
            case _:
                raise PlanError(f"{type(op).__name__} has no order")
        op = input
    below, key_expressions = add_exists_columns(
        planner, op.input, planner.plan_windows(op.input), [key.expression for key in op.keys]
    )
    keys = tuple(replace(key, expression=expression) for key, expression in zip(op.keys, key_expressions, strict=True))
    names = next((step.names for step in after if isinstance(step, ProjectStep)), op.schema.names)
    form = Form.TABLE if below.form is Form.TABLE else Form.WINDOWS
    decision = decisions.STORED if form is Form.TABLE else decisions.sort(op, planner.slack.ticks)
    steps = (*([ProjectStep(op.schema.names)] if keys != op.keys else []), *reversed(after))
    per = tuple(name for name in op.schema.names if is_outer_key(name))
    return Sort(below, keys, tuple(tie.name for tie in op.ties), steps, solution_schema(names), decision, form, per=per)


def _distinct_decision(planner: Planning, op: Windows, form: Form) -> Decision:
    """Return the decision for DISTINCT: a stateful machine that counts copies, or no state for a stored table."""
    return decisions.STORED if form is Form.TABLE else decisions.distinct(op, planner.slack.ticks)


def _is_sliced(op: Windows) -> bool:
    """Whether a relation is a LIMIT or OFFSET, possibly below projections or DISTINCT that keep its order."""
    while isinstance(op, WindowProject | WindowDistinct) and is_ordered(op):
        op = op.input
    return isinstance(op, Slice)
