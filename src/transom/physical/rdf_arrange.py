"""Relations of terms in a plan for Spark: statements and solutions as they come and go, and what is made of them."""

from __future__ import annotations

from collections.abc import Sequence as SequenceOf
from dataclasses import replace
from functools import partial, reduce

from transom.algebra.expressions import Call, Column, Exists, Expression, Item, conjunction, conjuncts, parts, rewrite
from transom.algebra.operator import Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.solutions import unextended
from transom.algebra.rdf.statements import StoredGraph, element_count, range_and_slide
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    RelationUnion,
    WindowAggregation,
    WindowDistinct,
    WindowProject,
    WindowSelect,
    restricts,
)
from transom.algebra.sequences import OrderBy, Slice, ordered
from transom.algebra.sources import StoredTable, Values
from transom.algebra.streams import StreamUnion
from transom.algebra.terms import variable
from transom.algebra.tree import Question, pattern_of, volatile_calls
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.machines.lineage_spec import LineageSpec, Reach
from transom.model.rdf.terms import IRI, BlankNode
from transom.model.schema import Attribute
from transom.model.types import Type
from transom.physical import gaps, lines, rdf_choices, rdf_join
from transom.physical.change_aggregate import ChangeAggregate
from transom.physical.change_join import Compatible
from transom.physical.choices import STATELESS
from transom.physical.context import Planning
from transom.physical.lines import Lines
from transom.physical.node import Physical
from transom.physical.plan import Choice, Form
from transom.physical.rdf_closure import closure
from transom.physical.rdf_join import both, moving
from transom.physical.rdf_known import asked, has_exists, is_outer
from transom.physical.rdf_paths import Repeated, as_patterns
from transom.physical.rdf_plan import (
    STATEMENT,
    After,
    BindNodes,
    Cut,
    Graph,
    Last,
    Make,
    Match,
    Pick,
    Sequence,
    Single,
    Unfold,
    Written,
    solutions,
)


def question(planner: Planning, op: Question) -> Physical:
    """What a query over RDF hands out."""
    if calls := volatile_calls(op):
        raise gaps.VOLATILE.refusal(calls[0].function.name)
    match op:
        case Ask(input=input):
            below = planner.windows(input)
            none = rdf_join.project(below, solutions(()))
            return lines.Distinct(none, none.schema, none.form, _once(planner, input, none.form))
        case Construct(input=input, template=template):
            below = planner.windows(input)
            nodes = [p for line in template for p in (line.subject, line.predicate, line.object)]
            counts = below.form is not Form.TABLE and any(isinstance(place, BlankNode) for place in nodes)
            choice = rdf_choices.numbered(input, planner.span.slack) if counts else STATELESS
            return Make(below, template, below.form, choice)
        case Describe():
            return describe(planner, op)
        case _ if ordered(op):
            return sequence(planner, op)
        case _:
            return planner.windows(op)


def describe(planner: Planning, op: Describe) -> Physical:
    """Statements joined with the resources, each once."""
    about = Values((variable("s"),), tuple((r,) for r in op.resources if isinstance(r, IRI)))
    found: Physical = planner.windows(about)
    for one in op.resources:
        if isinstance(one, Column):
            below = planner.windows(op.input)
            renamed = rdf_join.only(below, one.name, "s")
            found = both(planner, found, renamed)
    each = lines.Distinct(found, found.schema, found.form, _once(planner, op.input, found.form))
    facts = planner.windows(op.statements)
    sides = (TriplePattern(op.statements, *map(variable, "spo")), op.input)
    return rdf_join.mated(planner, (facts, each), sides, JoinType.INNER, ("s",), Compatible(), STATEMENT)


def relation(planner: Planning, op: Windows) -> Physical:
    """Statements or solutions as they come and go, or as they follow from what is stored."""
    match op:
        case Window():
            return window(planner, op)
        case StoredGraph(extents=extents):
            return Graph(extents, rdf_choices.STORED) if extents else Written((), STATEMENT, rdf_choices.STORED)
        case RelationUnion(left=left, right=right):
            return both(planner, planner.windows(left), planner.windows(right))
        case TriplePattern(input=facts):
            below = planner.windows(facts)
            return Match(below, op.places, op.schema, below.form, below.ordered, rdf_choices.MATCHED)
        case BasicGraphPattern():
            return rdf_join.pattern(planner, op)
        case PathPattern(path=path) if isinstance(path, Repeated):
            return closure(planner, op, path)
        case PathPattern():
            return planner.windows(as_patterns(op))
        case Values(rows=rows):
            return Written(rows, op.schema, rdf_choices.STORED)
        case WindowSelect(input=input, predicate=predicate):
            return select(planner, input, predicate)
        case RelationJoin(natural=True, join_type=JoinType.ANTI):
            return rdf_join.minus(planner, op)
        case RelationJoin(natural=True, predicate=predicate) if has_exists(predicate):
            return rdf_join.left_join_asking(planner, op)
        case RelationJoin(natural=True):
            return rdf_join.join(planner, op)
        case WindowProject() | WindowDistinct() | Slice() if _counts_order(op):
            below = sequence(planner, op)
            form = Form.TABLE if below.form is Form.TABLE else Form.CHANGES
            return Unfold(below, op.schema, form, rdf_choices.sequence(op, planner.span.slack))
        case WindowProject(input=input) if restricts(op):
            return rdf_join.project(planner.windows(input), op.schema)
        case WindowProject():
            return extend(planner, op)
        case WindowDistinct(input=input):
            below = planner.windows(input)
            return lines.Distinct(below, op.schema, below.form, _once(planner, input, below.form))
        case OrderBy(input=input):
            return planner.windows(input)
        case WindowAggregation():
            return aggregation(planner, op)
        case _:
            raise PlanError(f"{type(op).__name__} over something that it cannot be over", detail=str(op))


def window(planner: Planning, op: Window) -> Physical:
    """A window over streams: of time, which needs no order, or of the last statements, which are counted (R5)."""
    if isinstance(op.input, StreamUnion) and range_and_slide(op):
        return reduce(partial(both, planner), (window(planner, replace(op, input=part)) for part in op.input.parts))
    if isinstance(op.input, StoredTable):
        raise PlanError("statements are read from streams and stored graphs, not from tables")
    if (size := range_and_slide(op)) is not None:
        return Last(planner.unordered(op.input), *size, rdf_choices.WINDOW)
    if (count := element_count(op)) is None:
        raise PlanError("a window of statements holds a length of time or a number of them", detail=str(op))
    below = planner.in_order(op.input, index=False)
    spec = LineageSpec("arrival", (Reach("index", (1, 1 - count), (1, 0)),), output="changes")
    choice = rdf_choices.elements(op, op.input, planner.span.slack)
    return Lines(below, spec, (), None, None, (), below.schema, False, choice, Form.CHANGES)


def extend(planner: Planning, op: WindowProject) -> Physical:
    """One more variable; blank nodes are new for what the solution was before the first of several extensions."""
    below, (made,) = marked(planner, op.input, planner.windows(op.input), [op.items[-1].expression])
    item = Item(made, op.items[-1].attribute)
    node = rdf_join.bound_to(below, [item])
    if any(isinstance(part, Call) and part.function.name == "BNODE" for part in parts(made)):
        choice = STATELESS if below.form is Form.TABLE else rdf_choices.numbered(op.input, planner.span.slack)
        node = BindNodes(below, item, unextended(op).schema.names, node.schema, node.form, choice)
    return node if node.schema == op.schema else rdf_join.project(node, op.schema)


def aggregation(planner: Planning, op: WindowAggregation) -> Physical:
    """Groups of solutions; the group of all solutions exists from tick 0 on."""
    asked = [one.argument for one in op.aggregates if one.argument is not None]
    given = [*(key.expression for key in op.groups), *asked]
    below, made = marked(planner, op.input, planner.windows(op.input), given)
    computed = iter(made)
    keys = tuple(Item(next(computed), key.attribute) for key in op.groups)
    aggregates = tuple(one if one.argument is None else replace(one, argument=next(computed)) for one in op.aggregates)
    start: Physical | None = None if keys else Written(((),), solutions(()), rdf_choices.STORED)
    if planner.streams:
        below, start = moving(planner, below), None if start is None else moving(planner, start)
    choice = rdf_choices.aggregate(op, planner.span.slack)
    return ChangeAggregate(below, start, keys, aggregates, op.schema, choice, below.form)


def select(planner: Planning, input: Windows, condition: Expression) -> Physical:
    """Conditions on solutions by themselves, and patterns that must be there or must not."""
    every = conjuncts(condition)
    plain = [one for one in every if not has_exists(one)]
    found = planner.windows(input)
    if plain:
        found = rdf_join.kept(found, conjunction(plain))
    mixed: list[Expression] = []
    for one in every:
        pattern = asked(one)
        if pattern is not None:
            how = JoinType.SEMI if pattern[1] else JoinType.ANTI
            found = rdf_join.with_pattern(planner, (input, found), pattern[0], how)
        elif has_exists(one):
            mixed.append(one)
    if not mixed:
        return found
    below, (wanted,) = marked(planner, input, found, [conjunction(mixed)])
    kept = rdf_join.kept(below, wanted)
    return rdf_join.project(kept, found.schema)


def marked(
    planner: Planning, op: Windows, node: Physical, expressions: SequenceOf[Expression]
) -> tuple[Physical, list[Expression]]:
    """Solutions with a column for every EXISTS in some expressions, and the expressions that read it."""
    marks: dict[Exists, Column] = {}

    def change(one: Expression) -> Expression:
        if not isinstance(one, Exists):
            return one
        return marks.setdefault(one, Column(Attribute(f"exists {len(marks)}", Type.BOOLEAN)))

    found = [rewrite(one, change) for one in expressions]
    for exists, mark in marks.items():
        node = rdf_join.with_pattern(planner, (op, node), pattern_of(exists), JoinType.MARK, mark.attribute)
    return node, found


def sequence(planner: Planning, op: Windows) -> Physical:
    """An order and what is taken of it."""
    after: list[After] = []
    while not isinstance(op, OrderBy):
        match op:
            case WindowProject(input=input):
                after.append(Pick(op.schema.names))
            case WindowDistinct(input=input):
                after.append(Single())
            case Slice(input=input, offset=offset, limit=limit):
                after.append(Cut(offset, limit))
            case _:
                raise PlanError(f"{type(op).__name__} has no order")
        op = input
    below, order = marked(planner, op.input, planner.windows(op.input), [key.expression for key in op.keys])
    keys = tuple(replace(key, expression=made) for key, made in zip(op.keys, order, strict=True))
    kept = next((step.names for step in after if isinstance(step, Pick)), op.schema.names)
    form = Form.TABLE if below.form is Form.TABLE else Form.WINDOWS
    choice = rdf_choices.STORED if form is Form.TABLE else rdf_choices.sequence(op, planner.span.slack)
    steps = (*([Pick(op.schema.names)] if keys != op.keys else []), *reversed(after))
    per = tuple(name for name in op.schema.names if is_outer(name))
    return Sequence(below, keys, tuple(tie.name for tie in op.ties), steps, solutions(kept), choice, form, per=per)


def _once(planner: Planning, op: Windows, form: Form) -> Choice:
    return rdf_choices.STORED if form is Form.TABLE else rdf_choices.once(op, planner.span.slack)


def _counts_order(op: Windows) -> bool:
    """Whether a part of a sequence is taken."""
    while isinstance(op, WindowProject | WindowDistinct) and ordered(op):
        op = op.input
    return isinstance(op, Slice)
