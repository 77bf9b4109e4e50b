"""Joins of solutions in a plan for Spark: patterns of one stream over one scan, stars as one operator, chains."""

from __future__ import annotations

from collections.abc import Iterable

from transom.algebra.expressions import TRUE, Column, Expression, Item, Literal, conjunction
from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import BasicGraphPattern, TriplePattern
from transom.algebra.rdf.statements import range_and_slide
from transom.algebra.relations import JoinType, RelationJoin, WindowSelect, merged
from transom.algebra.sources import StreamReceive
from transom.algebra.terms import term_call, variable
from transom.algebra.tree import reads_streams
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.model.schema import Attribute, Schema
from transom.physical import choices, plan, rdf_choices, rdf_exists
from transom.physical.change_join import ChangeJoin, Compatible
from transom.physical.choices import STATELESS
from transom.physical.context import Planning
from transom.physical.node import Clock, Physical
from transom.physical.plan import Form, Read
from transom.physical.rdf_known import bound, has_exists, is_outer, plain_pattern
from transom.physical.rdf_plan import (
    MESSAGE,
    STATEMENT,
    Branch,
    Fan,
    Stand,
    Within,
    Written,
    messages,
    solutions,
)
from transom.physical.schedule import Schedule


def kept(node: Physical, condition: Expression) -> Physical:
    """The solutions for which a condition is true."""
    return plan.Filter(node, condition, node.schema, node.form, False, STATELESS)


def project(node: Physical, schema: Schema) -> Physical:
    """Some variables of solutions; those that are not there are unbound."""
    there = {attribute.name: attribute for attribute in node.schema}
    items = (Item(Column(there[a.name]) if a.name in there else Literal(None, a.type), a) for a in schema)
    return plan.Map(node, tuple(items), schema, node.form, False, STATELESS)


def only(node: Physical, name: str, called: str) -> Physical:
    """One variable of solutions under another name; no solution where it is unbound."""
    item = Item(variable(name), variable(called).attribute)
    there = plan.Map(node, (item,), solutions((called,)), node.form, False, STATELESS)
    return kept(there, term_call("BOUND", variable(called)))


def both(planner: Planning, left: Physical, right: Physical) -> Physical:
    """The rows of two sides, both stored or both as changes."""
    if left.form is not right.form:
        left, right = moving(planner, left), moving(planner, right)
    return plan.UnionAll(left, right, merged(left.schema, right.schema), left.form, False, STATELESS)


def moving(planner: Planning, node: Physical) -> Physical:
    """Something stored as changes, from the first tick on."""
    if node.form is not Form.TABLE:
        return node
    clock = Clock(Schedule((), planner.start), choices.clock("stored statements hold from the first tick on"))
    return Stand(node, clock, node.schema, rdf_choices.STORED)


def join(planner: Planning, op: RelationJoin) -> Physical:
    """Two sides: over one scan where both are patterns of one stream."""
    ops, how = (op.left, op.right), op.join_type
    equal, loose = _shared(*ops)
    residual = Compatible(loose, False, op.predicate)
    scan = _fanned(ops)
    if scan is not None:
        choice = rdf_choices.mate(how, ops, bool(equal), residual, planner.span.slack)
        return ChangeJoin(scan, None, how, equal, residual, op.schema, Form.CHANGES, choice)
    sides = (planner.windows(op.left), planner.windows(op.right))
    return mated(planner, sides, ops, how, equal, residual, op.schema)


def minus(planner: Planning, op: RelationJoin) -> Physical:
    """What nothing on the right speaks against; without a common variable nothing does, keys of EXISTS aside."""
    ops = op.left, op.right
    equal, loose = _shared(*ops)
    own = [name for name in equal if not is_outer(name)]
    sides = planner.windows(op.left), planner.windows(op.right)
    if not own and not loose:
        return sides[0]
    overlap = not own
    return mated(planner, sides, ops, JoinType.ANTI, equal, Compatible(loose, overlap), op.schema)


def with_pattern(
    planner: Planning, left: tuple[Windows, Physical], pattern: Windows, how: JoinType, *mark: Attribute
) -> Physical:
    """The solutions for which a pattern is there, or is not; or all, with a column that says whether it is."""
    schema = left[1].schema + Schema(mark)
    inner = plain_pattern(pattern)
    if inner is not None:
        right, conditions = inner
        equal, loose = _shared(left[0], right)
        sides = (left[1], planner.windows(right))
        residual = Compatible(loose, False, conjunction(conditions))
        return mated(planner, sides, (left[0], right), how, equal, residual, schema)
    found = rdf_exists.correlated(left[0], pattern)
    keyed = bound_to(left[1], found.made)
    sides, ops = (keyed, planner.windows(found.pattern)), (left[0], found.pattern)
    joined = mated(planner, sides, ops, how, found.keys, Compatible(), keyed.schema + Schema(mark))
    return project(joined, schema) if found.made else joined


def bound_to(node: Physical, items: Iterable[Item]) -> Physical:
    """Solutions with some more variables."""
    for item in items:
        own = tuple(Item(Column(attribute), attribute) for attribute in node.schema)
        schema = node.schema + Schema((item.attribute,))
        node = plan.Map(node, (*own, item), schema, node.form, False, STATELESS)
    return node


def left_join_asking(planner: Planning, op: RelationJoin) -> Physical:
    """A left join whose condition asks for patterns: the pairs that fulfil it, and the left solutions without one."""
    sure = bound(op.left)
    maybe = [name for name in op.left.schema.names if name not in sure]
    made = [rdf_exists.key_of(name, f"{name} left", sure) for name in maybe]
    left = rdf_exists.extended(op.left, made)
    pairs = WindowSelect(RelationJoin(left, op.right, TRUE, natural=True), op.predicate)
    keys = (*(name for name in op.left.schema.names if name in sure), *(key.attribute.name for key in made))
    some = planner.windows(pairs)
    matched = project(some, solutions(keys))
    rows = planner.windows(left)
    alone = mated(planner, (rows, matched), (left, pairs), JoinType.ANTI, keys, Compatible(), rows.schema)
    return both(planner, *(project(side, op.schema) for side in (some, alone)))


def mated(
    planner: Planning,
    nodes: tuple[Physical, Physical],
    ops: tuple[Windows, Windows],
    how: JoinType,
    equal: tuple[str, ...],
    residual: Compatible,
    schema: Schema,
) -> Physical:
    """Two sides of which each is stored or comes and goes."""
    left, right = nodes
    forms = (left.form, right.form)
    if forms == (Form.TABLE, Form.TABLE):
        return ChangeJoin(left, right, how, equal, residual, schema, Form.TABLE, rdf_choices.STATIC)
    if forms == (Form.TABLE, Form.CHANGES) and how is JoinType.INNER:
        return ChangeJoin(right, left, how, equal, residual, schema, Form.CHANGES, rdf_choices.STATIC)
    if forms == (Form.CHANGES, Form.TABLE) and how not in (JoinType.SEMI, JoinType.MARK):
        return ChangeJoin(left, right, how, equal, residual, schema, Form.CHANGES, rdf_choices.STATIC)
    left, right = moving(planner, left), moving(planner, right)
    choice = rdf_choices.mate(how, ops, bool(equal), residual, planner.span.slack)
    return ChangeJoin(left, right, how, equal, residual, schema, Form.CHANGES, choice)


def _shared(left: Windows, right: Windows) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The variables of both sides: those that both always bind, and the others."""
    common = [name for name in left.schema.names if name in right.schema.names]
    sure = bound(left) & bound(right)
    return tuple(n for n in common if n in sure), tuple(n for n in common if n not in sure)


def pattern(planner: Planning, op: BasicGraphPattern) -> Physical:
    """The parts of a basic graph pattern: stars first, then what shares variables with what is there."""
    if not op.parts:
        return Written(((),), solutions(()), rdf_choices.STORED)
    left = list(op.parts)
    pieces: list[tuple[frozenset[str], Physical, tuple[Windows, ...]]] = []
    while star := _star(left):
        pieces.append(_mate_all(planner, star))
        left = [part for part in left if part not in star]
    pieces += [(frozenset(part.schema.names), planner.windows(part), (part,)) for part in left]
    known, found, ops = pieces.pop(0)
    while pieces:
        at = max(range(len(pieces)), key=lambda place: (len(known & pieces[place][0]), -place))
        names_there, node, more = pieces.pop(at)
        equal = tuple(sorted(known & names_there))
        schema = solutions(tuple(dict.fromkeys(a.name for side in (found, node) for a in side.schema)))
        sides = (BasicGraphPattern(ops), BasicGraphPattern(more))
        found = mated(planner, (found, node), sides, JoinType.INNER, equal, Compatible(), schema)
        known, ops = known | names_there, (*ops, *more)
    return found if found.schema == op.schema else project(found, op.schema)


def _star(parts: list[Windows]) -> list[TriplePattern]:
    """The patterns that share a variable and read the same moving statements: as many as there are, at least two."""
    best: list[TriplePattern] = []
    patterns = [part for part in parts if isinstance(part, TriplePattern) and _moves(part)]
    for one in patterns:
        for name in one.schema.names:
            star = [p for p in patterns if p.input == one.input and name in p.schema.names]
            if len(star) > max(1, len(best)):
                best = star
    return best


def _moves(part: TriplePattern) -> bool:
    return reads_streams(part.input)


def _mate_all(planner: Planning, star: list[TriplePattern]) -> tuple[frozenset[str], Physical, tuple[Windows, ...]]:
    """A star as one operator over one scan."""
    every = [frozenset(part.schema.names) for part in star]
    keys = frozenset.intersection(*every)
    equal = tuple(name for name in star[0].schema.names if name in keys)
    loose = tuple(name for name in dict.fromkeys(n for part in star for n in part.schema.names) if name not in keys)
    twice = tuple(name for name in loose if sum(name in own for own in every) > 1)
    found = tuple(dict.fromkeys(n for part in star for n in part.schema.names))
    stream, window = _source(star[0])
    below: Physical = planner.windows(star[0].input) if stream is None else _read(stream)
    branches = tuple(_branch(part, window, TRUE, part.schema.names) for part in star)
    if stream is not None and stream in planner.local and window is not None and _of_one_subject(star):
        choice = rdf_choices.within_message(len(star))
        whole = Read(messages(stream), MESSAGE, False, choices.read(stream))
        return frozenset(found), Within(whole, branches, window, solutions(found), choice), tuple(star)
    fan = _fan(below, branches)
    choice = rdf_choices.mate(JoinType.INNER, tuple(star), bool(equal), Compatible(twice), planner.span.slack)
    node = ChangeJoin(fan, None, JoinType.INNER, equal, Compatible(twice), solutions(found), Form.CHANGES, choice)
    return frozenset(found), node, tuple(star)


def _fan(below: Physical, branches: tuple[Branch, ...]) -> Fan:
    widest = max((branch.schema for branch in branches), key=len)
    return Fan(below, branches, widest, rdf_choices.fan(len(branches)))


def _read(extent: str) -> Read:
    return Read(extent, STATEMENT, False, choices.read(extent))


def _of_one_subject(star: list[TriplePattern]) -> bool:
    """Whether all patterns ask about one subject."""
    return len({part.places[0] for part in star}) == 1


def _fanned(sides: tuple[Windows, Windows]) -> Fan | None:
    """Both sides as branches of one scan, where each is a pattern over a time window of the same stream."""
    branches: list[Branch] = []
    extents: set[str] = set()
    for side in sides:
        simple = _simple(side)
        if simple is None:
            return None
        part, conditions = simple
        extent, window = _source(part)
        if extent is None:
            return None
        extents.add(extent)
        branches.append(_branch(part, window, conjunction(conditions), side.schema.names))
    return _fan(_read(extents.pop()), tuple(branches)) if len(extents) == 1 else None


def _simple(op: Windows) -> tuple[TriplePattern, list[Expression]] | None:
    """A single pattern and its conditions."""
    match op:
        case TriplePattern():
            return op, []
        case BasicGraphPattern(parts=(part,)):
            return _simple(part)
        case WindowSelect(input=input, predicate=predicate) if not has_exists(predicate):
            below = _simple(input)
            return None if below is None else (below[0], [*below[1], predicate])
        case _:
            return None


def _source(part: TriplePattern) -> tuple[str | None, tuple[int, int] | None]:
    """The one stream that a pattern reads through a time window, and the window."""
    match part.input:
        case Window(input=StreamReceive(extent=extent)) if window := range_and_slide(part.input):
            return extent, window
        case _:
            return None, None


def _branch(
    part: TriplePattern, window: tuple[int, int] | None, condition: Expression, kept: tuple[str, ...]
) -> Branch:
    if not set(kept) <= set(part.schema.names):
        raise PlanError("a branch keeps what its pattern has not")
    return Branch(part.places, window, condition, solutions(kept))
