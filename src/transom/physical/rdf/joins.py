"""Planning of joins of solutions: shared scans of one stream, stars as one operator, and chains of joins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from transom.algebra.expressions.expression import TRUE, Column, Constant, Expression, NamedExpression, conjunction
from transom.algebra.expressions.terms import STATEMENT, term_call, variable
from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import BasicGraphPattern, TriplePattern
from transom.algebra.rdf.statements import range_and_slide
from transom.algebra.relations import JoinType, RelationJoin, WindowSelect
from transom.algebra.sources import StreamReceive
from transom.algebra.tree import reads_streams
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.model.schema import Attribute, Schema, merged_schema
from transom.physical import decisions
from transom.physical.decisions import STATELESS
from transom.physical.nodes import windows
from transom.physical.nodes.change_join import ChangeJoin, Compatibility, JoinKey
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.nodes.rdf import (
    MESSAGE_SCHEMA,
    MessageStarMatch,
    MultiPatternScan,
    PatternBranch,
    TableToChanges,
    ValuesExec,
    message_extent,
    solution_schema,
)
from transom.physical.nodes.windows import Executor, Form, ReadStream
from transom.physical.planner.context import Planning
from transom.physical.rdf import decisions as rdf_decisions
from transom.physical.rdf import exists
from transom.physical.rdf.bindings import bound_variables, has_exists, is_outer_key, plain_pattern
from transom.physical.schedule import Schedule


def filter_rows(node: PhysicalNode, condition: Expression) -> PhysicalNode:
    """Put a filter node with this condition on top of planned solutions."""
    return windows.Filter(node, condition, node.schema, node.form, False, STATELESS)


def project_rows(node: PhysicalNode, schema: Schema) -> PhysicalNode:
    """Project planned solutions to the variables of a schema; variables that they lack become unbound."""
    columns = {attribute.name: Column(attribute) for attribute in node.schema}
    items = (NamedExpression(columns.get(a.name, Constant(None, a.type)), a) for a in schema)
    return windows.Project(node, tuple(items), schema, node.form, False, STATELESS)


def rename_variable(node: PhysicalNode, name: str, new_name: str) -> PhysicalNode:
    """Project solutions to the variable `name`, renamed to `new_name`; drop solutions that do not bind it."""
    item = NamedExpression(variable(name), variable(new_name).attribute)
    renamed = windows.Project(node, (item,), solution_schema((new_name,)), node.form, False, STATELESS)
    return filter_rows(renamed, term_call("BOUND", variable(new_name)))


def union_all(planner: Planning, left: PhysicalNode, right: PhysicalNode) -> PhysicalNode:
    """Plan the union of two planned relations: a table if both are stored tables, otherwise changes."""
    if left.form is not right.form:
        left, right = as_changes(planner, left), as_changes(planner, right)
    return windows.UnionAll(left, right, merged_schema(left.schema, right.schema), left.form, False, STATELESS)


def as_changes(planner: Planning, node: PhysicalNode) -> PhysicalNode:
    """Convert a planned table to insertions at the first tick of the query; return other plans unchanged."""
    if node.form is not Form.TABLE:
        return node
    clock = ReadClock(
        Schedule((), planner.start), decisions.read_clock("stored statements are valid from the first tick")
    )
    return TableToChanges(node, clock, node.schema, rdf_decisions.STORED)


def plan_join(planner: Planning, op: RelationJoin) -> PhysicalNode:
    """Plan a join of solutions on shared variables; two patterns of the same stream read it only once."""
    ops, how = (op.left, op.right), op.join_type
    equal, sometimes_shared = _shared_variables(*ops)
    residual = Compatibility(sometimes_shared, False, op.predicate)
    shared_scan = _shared_scan(ops)
    if shared_scan is not None:
        decision = rdf_decisions.change_join(how, ops, bool(equal), residual, planner.slack.ticks)
        return ChangeJoin(shared_scan, None, how, equal, residual, op.schema, Form.CHANGES, decision)
    sides = (planner.plan_windows(op.left), planner.plan_windows(op.right))
    return join_nodes(planner, sides, ops, how, equal, residual, op.schema)


def plan_minus(planner: Planning, op: RelationJoin) -> PhysicalNode:
    """Plan MINUS as an anti join; without shared variables it removes nothing, so the result is the left side.

    Keys for outer variables of EXISTS do not count as shared variables.
    """
    ops = op.left, op.right
    equal, sometimes_shared = _shared_variables(*ops)
    always_shared = [name for name in equal if not is_outer_key(name)]
    sides = planner.plan_windows(op.left), planner.plan_windows(op.right)
    if not always_shared and not sometimes_shared:
        return sides[0]
    overlap = not always_shared
    return join_nodes(planner, sides, ops, JoinType.ANTI, equal, Compatibility(sometimes_shared, overlap), op.schema)


def join_exists(
    planner: Planning, left: tuple[Windows, PhysicalNode], pattern: Windows, how: JoinType, *mark: Attribute
) -> PhysicalNode:
    """Join `left` (relation, plan) with an EXISTS pattern: semi, anti (NOT EXISTS), or a join that adds a flag `mark`.

    A semi join is EXISTS, an anti join NOT EXISTS. A mark join adds the result as a flag column, `mark`.
    """
    schema = left[1].schema + Schema(mark)
    plain = plain_pattern(pattern)
    if plain is not None:
        right, conditions = plain
        equal, sometimes_shared = _shared_variables(left[0], right)
        sides = (left[1], planner.plan_windows(right))
        residual = Compatibility(sometimes_shared, False, conjunction(conditions))
        return join_nodes(planner, sides, (left[0], right), how, equal, residual, schema)
    rewritten = exists.decorrelate(left[0], pattern)
    with_keys = add_variables(left[1], rewritten.key_items)
    sides, ops = (with_keys, planner.plan_windows(rewritten.pattern)), (left[0], rewritten.pattern)
    joined = join_nodes(planner, sides, ops, how, rewritten.keys, Compatibility(), with_keys.schema + Schema(mark))
    return project_rows(joined, schema) if rewritten.key_items else joined


def add_variables(node: PhysicalNode, items: Iterable[NamedExpression]) -> PhysicalNode:
    """Extend planned solutions by computed variables, one after another, as BIND does."""
    for item in items:
        columns = tuple(NamedExpression(Column(attribute), attribute) for attribute in node.schema)
        schema = node.schema + Schema((item.attribute,))
        node = windows.Project(node, (*columns, item), schema, node.form, False, STATELESS)
    return node


def left_join_with_exists(planner: Planning, op: RelationJoin) -> PhysicalNode:
    """Plan OPTIONAL whose condition contains EXISTS: the matching pairs, and left solutions without a match."""
    always_bound = bound_variables(op.left)
    maybe_unbound = [name for name in op.left.schema.names if name not in always_bound]
    key_items = [exists.outer_key(name, f"{name} left", always_bound) for name in maybe_unbound]
    left = exists.extend_all(op.left, key_items)
    pairs = WindowSelect(RelationJoin(left, op.right, TRUE, natural=True), op.predicate)
    keys = (
        *(name for name in op.left.schema.names if name in always_bound),
        *(key.attribute.name for key in key_items),
    )
    pair_rows = planner.plan_windows(pairs)
    matched = project_rows(pair_rows, solution_schema(keys))
    left_rows = planner.plan_windows(left)
    unmatched = join_nodes(
        planner, (left_rows, matched), (left, pairs), JoinType.ANTI, keys, Compatibility(), left_rows.schema
    )
    return union_all(planner, *(project_rows(side, op.schema) for side in (pair_rows, unmatched)))


def join_nodes(
    planner: Planning,
    nodes: tuple[PhysicalNode, PhysicalNode],
    ops: tuple[Windows, Windows],
    how: JoinType,
    equal: tuple[str, ...],
    residual: Compatibility,
    schema: Schema,
) -> PhysicalNode:
    """Join planned solutions (`nodes`, of `ops`) on the variables `equal` and the further condition `residual`.

    `ops` are the relations that `nodes` plan, `residual` is the condition beyond equal keys, `schema` the result's
    columns.
    """
    left, right = nodes
    forms = (left.form, right.form)
    if forms == (Form.TABLE, Form.TABLE):
        return ChangeJoin(left, right, how, equal, residual, schema, Form.TABLE, rdf_decisions.STATIC_JOIN)
    if forms == (Form.TABLE, Form.CHANGES) and how is JoinType.INNER:
        return ChangeJoin(right, left, how, equal, residual, schema, Form.CHANGES, rdf_decisions.STATIC_JOIN)
    if forms == (Form.CHANGES, Form.TABLE) and how not in (JoinType.SEMI, JoinType.MARK):
        return ChangeJoin(left, right, how, equal, residual, schema, Form.CHANGES, rdf_decisions.STATIC_JOIN)
    left, right = as_changes(planner, left), as_changes(planner, right)
    decision = rdf_decisions.change_join(how, ops, bool(equal), residual, planner.slack.ticks)
    joined = ChangeJoin(left, right, how, equal, residual, schema, Form.CHANGES, decision)
    if not _is_fusible(joined, equal):
        return joined
    return replace(joined, left=_fuse(left, equal), right=_fuse(right, equal))


def _is_fusible(node: ChangeJoin, keys: tuple[JoinKey, ...]) -> bool:
    """Whether a join can share a stateful operator with the join above: same `keys` and no further condition.

    It must have the same key and no further condition.
    """
    same_keys = bool(keys) and set(node.keys) == set(keys)
    is_machine = node.form is Form.CHANGES and node.decision.executor is Executor.MACHINE
    return same_keys and is_machine and node.join_type is not JoinType.MARK and node.residual == Compatibility()


def _fuse(node: PhysicalNode, keys: tuple[JoinKey, ...]) -> PhysicalNode:
    """Let a join run in the stateful operator of the join above it, if possible; return other nodes unchanged."""
    if not isinstance(node, ChangeJoin) or not _is_fusible(node, keys):
        return node
    reason = f"{node.decision.reason}, in the operator of the join above, which has the same key"
    return replace(node, fused=True, decision=replace(node.decision, reason=reason))


def _shared_variables(left: Windows, right: Windows) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the shared variables of two sides: those that are always bound on both, and those that may be unbound."""
    common = [name for name in left.schema.names if name in right.schema.names]
    always_bound = bound_variables(left) & bound_variables(right)
    return tuple(n for n in common if n in always_bound), tuple(n for n in common if n not in always_bound)


def plan_graph_pattern(planner: Planning, op: BasicGraphPattern) -> PhysicalNode:
    """Plan a basic graph pattern: triple patterns of one stream read it once, and are joined to the rest."""
    if not op.parts:
        return ValuesExec(((),), solution_schema(()), rdf_decisions.STORED)
    remaining = list(op.parts)
    pieces: list[tuple[frozenset[str], PhysicalNode, tuple[Windows, ...]]] = []
    while star := _find_star(remaining):
        pieces.append(_join_star(planner, star))
        remaining = [part for part in remaining if part not in star]
    pieces += [(frozenset(part.schema.names), planner.plan_windows(part), (part,)) for part in remaining]
    bound, joined, ops = pieces.pop(0)
    while pieces:
        best = max(range(len(pieces)), key=lambda index: (len(bound & pieces[index][0]), -index))
        names, node, parts = pieces.pop(best)
        equal = tuple(sorted(bound & names))
        schema = solution_schema(tuple(dict.fromkeys(a.name for side in (joined, node) for a in side.schema)))
        sides = (BasicGraphPattern(ops), BasicGraphPattern(parts))
        joined = join_nodes(planner, (joined, node), sides, JoinType.INNER, equal, Compatibility(), schema)
        bound, ops = bound | names, (*ops, *parts)
    return joined if joined.schema == op.schema else project_rows(joined, op.schema)


def _find_star(parts: list[Windows]) -> list[TriplePattern]:
    """Find the largest set of triple patterns that read one stream and share a variable; empty if none has two."""
    best: list[TriplePattern] = []
    patterns = [part for part in parts if isinstance(part, TriplePattern) and _reads_stream(part)]
    for pattern in patterns:
        for name in pattern.schema.names:
            star = [p for p in patterns if p.input == pattern.input and name in p.schema.names]
            if len(star) > max(1, len(best)):
                best = star
    return best


def _reads_stream(part: TriplePattern) -> bool:
    """Whether a triple pattern reads a stream, possibly in addition to stored statements."""
    return reads_streams(part.input)


def _join_star(
    planner: Planning, star: list[TriplePattern]
) -> tuple[frozenset[str], PhysicalNode, tuple[Windows, ...]]:
    """Join triple patterns that read one stream once; return solution variables, physical plan, the patterns."""
    variable_sets = [frozenset(part.schema.names) for part in star]
    keys = frozenset.intersection(*variable_sets)
    equal = tuple(name for name in star[0].schema.names if name in keys)
    non_keys = tuple(name for name in dict.fromkeys(n for part in star for n in part.schema.names) if name not in keys)
    partly_shared = tuple(name for name in non_keys if sum(name in variables for variables in variable_sets) > 1)
    names = tuple(dict.fromkeys(n for part in star for n in part.schema.names))
    stream, window = _windowed_stream(star[0])
    below: PhysicalNode = planner.plan_windows(star[0].input) if stream is None else _read_stream(stream)
    branches = tuple(_pattern_branch(part, window, TRUE, part.schema.names) for part in star)
    if stream is not None and stream in planner.local and window is not None and _share_subject(star):
        decision = rdf_decisions.message_star_match(len(star))
        messages = ReadStream(message_extent(stream), MESSAGE_SCHEMA, False, decisions.read_stream(stream))
        return (
            frozenset(names),
            MessageStarMatch(messages, branches, window, solution_schema(names), decision),
            tuple(star),
        )
    scan = _multi_pattern_scan(below, branches)
    decision = rdf_decisions.change_join(
        JoinType.INNER, tuple(star), bool(equal), Compatibility(partly_shared), planner.slack.ticks
    )
    node = ChangeJoin(
        scan, None, JoinType.INNER, equal, Compatibility(partly_shared), solution_schema(names), Form.CHANGES, decision
    )
    return frozenset(names), node, tuple(star)


def _multi_pattern_scan(below: PhysicalNode, branches: tuple[PatternBranch, ...]) -> MultiPatternScan:
    """Build the node that matches several triple patterns in one reading of the statements from `below`."""
    widest = max((branch.schema for branch in branches), key=len)
    return MultiPatternScan(below, branches, widest, rdf_decisions.multi_pattern_scan(len(branches)))


def _read_stream(extent: str) -> ReadStream:
    """Build the source node of the RDF stream `extent`; its rows have no sort-key column."""
    return ReadStream(extent, STATEMENT, False, decisions.read_stream(extent))


def _share_subject(star: list[TriplePattern]) -> bool:
    """Whether all triple patterns have the same subject, so that one message may hold all their statements."""
    return len({part.items[0] for part in star}) == 1


def _shared_scan(sides: tuple[Windows, Windows]) -> MultiPatternScan | None:
    """Build the node that reads a stream once for both inputs of a join; None unless both are patterns of one stream.

    The inputs must be patterns over time windows of the stream.
    """
    branches: list[PatternBranch] = []
    extents: set[str] = set()
    for side in sides:
        pattern = _single_pattern(side)
        if pattern is None:
            return None
        part, conditions = pattern
        extent, window = _windowed_stream(part)
        if extent is None:
            return None
        extents.add(extent)
        branches.append(_pattern_branch(part, window, conjunction(conditions), side.schema.names))
    return _multi_pattern_scan(_read_stream(extents.pop()), tuple(branches)) if len(extents) == 1 else None


def _single_pattern(op: Windows) -> tuple[TriplePattern, list[Expression]] | None:
    """The triple pattern and the filter conditions of a relation with a single pattern; None for other relations."""
    match op:
        case TriplePattern():
            return op, []
        case BasicGraphPattern(parts=(part,)):
            return _single_pattern(part)
        case WindowSelect(input=input, predicate=predicate) if not has_exists(predicate):
            below = _single_pattern(input)
            return None if below is None else (below[0], [*below[1], predicate])
        case _:
            return None


def _windowed_stream(part: TriplePattern) -> tuple[str | None, tuple[int, int] | None]:
    """The stream and the time window (range, slide) that a triple pattern reads; (None, None) for other inputs."""
    match part.input:
        case Window(input=StreamReceive(extent=extent)) if window := range_and_slide(part.input):
            return extent, window
        case _:
            return None, None


def _pattern_branch(
    part: TriplePattern, window: tuple[int, int] | None, condition: Expression, names: tuple[str, ...]
) -> PatternBranch:
    """Build a triple pattern of a shared stream scan: its (range, slide) in ticks, condition, and variables to keep."""
    if not set(names) <= set(part.schema.names):
        raise PlanError("a branch keeps a variable that its pattern does not have")
    return PatternBranch(part.items, window, condition, solution_schema(names))
