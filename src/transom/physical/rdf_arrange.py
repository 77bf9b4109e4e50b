"""From the algebra over RDF to a plan for Spark: one function per family of operators."""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace
from functools import reduce

from transom.algebra.expressions import Call, Column, Exists, Expression, Item, conjunction, conjuncts, parts, rewrite
from transom.algebra.operator import Stream, Windows
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
from transom.algebra.tree import Question, pattern_of, reads_streams, volatile_calls
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.machines.lineage_spec import LineageSpec, Reach
from transom.model.rdf.terms import IRI, BlankNode
from transom.model.schema import Attribute
from transom.model.types import Type
from transom.physical import arrange as rows
from transom.physical import choices, gaps, lines, rdf_choices, rdf_join, walk
from transom.physical.change_aggregate import ChangeAggregate
from transom.physical.choices import STATELESS, Span
from transom.physical.lines import Lines
from transom.physical.node import Clock, Physical
from transom.physical.plan import Choice, Form, UnionAll
from transom.physical.rdf_closure import closure
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
    Stand,
    Unfold,
    Written,
    solutions,
)
from transom.physical.schedule import Schedule


def arrange(question: Question, *, slack: int = 1, kernel: bool = False, local: Collection[str] = ()) -> Physical:
    """The plan for Spark of a question over RDF; `slack` and `kernel` as for other queries.

    `local` are the streams whose messages hold all statements about their subjects.
    """
    if calls := volatile_calls(question):
        raise gaps.VOLATILE.refusal(calls[0].function.name)
    found = Planner(slack, frozenset(local), reads_streams(question)).question(question)
    return walk.rewrite(found, lambda node: replace(node, choice=choices.in_kernel(node.choice))) if kernel else found


@dataclass(frozen=True, slots=True)
class Planner:
    """Chooses the nodes of a plan, operator by operator."""

    slack: int
    local: frozenset[str] = frozenset()
    streams: bool = True

    def question(self, op: Question) -> Physical:
        """What a query hands out."""
        match op:
            case Ask(input=input):
                below = self.solutions(input)
                none = rdf_join.project(below, solutions(()))
                return lines.Distinct(none, none.schema, none.form, self._once(input, none.form))
            case Construct(input=input, template=template):
                below = self.solutions(input)
                nodes = [p for line in template for p in (line.subject, line.predicate, line.object)]
                counts = below.form is not Form.TABLE and any(isinstance(place, BlankNode) for place in nodes)
                choice = rdf_choices.numbered(input, self.slack) if counts else STATELESS
                return Make(below, template, below.form, choice)
            case Describe():
                return self.describe(op)
            case _ if ordered(op):
                return self.sequence(op)
            case _:
                return self.solutions(op)

    def describe(self, op: Describe) -> Physical:
        """Statements joined with the resources, each once."""
        about = Values((variable("s"),), tuple((r,) for r in op.resources if isinstance(r, IRI)))
        found: Physical = self.solutions(about)
        for one in op.resources:
            if isinstance(one, Column):
                below = self.solutions(op.input)
                renamed = rdf_join.only(below, one.name, "s")
                found = self.both(found, renamed)
        each = lines.Distinct(found, found.schema, found.form, self._once(op.input, found.form))
        facts = self.statements(op.statements)
        sides = (TriplePattern(op.statements, *map(variable, "spo")), op.input)
        return rdf_join.mated(self, (facts, each), sides, JoinType.INNER, ("s",), (), None, STATEMENT)

    # --- statements --------------------------------------------------------------------------------

    def statements(self, op: Windows) -> Physical:
        """Statements as they come and go, or as they are stored."""
        match op:
            case StoredGraph(extents=extents):
                return Graph(extents, rdf_choices.STORED) if extents else Written((), STATEMENT, rdf_choices.STORED)
            case RelationUnion(left=left, right=right):
                return self.both(self.statements(left), self.statements(right))
            case Window():
                return self.window(op)
            case _:
                raise PlanError(f"{type(op).__name__} gives no statements")

    def window(self, op: Window) -> Physical:
        """A window over streams: of time, which needs no order, or of the last statements, which are counted (R5)."""
        if isinstance(op.input, StreamUnion) and range_and_slide(op):
            return reduce(self.both, (self.window(replace(op, input=part)) for part in op.input.parts))
        if isinstance(op.input, StoredTable):
            raise PlanError("statements are read from streams and stored graphs, not from tables")
        if (size := range_and_slide(op)) is not None:
            return Last(self.stream(op.input, order=False), *size, rdf_choices.WINDOW)
        if (count := element_count(op)) is None:
            raise PlanError("a window of statements holds a length of time or a number of them", detail=str(op))
        below = self.stream(op.input, order=True)
        spec = LineageSpec("arrival", (Reach("index", (1, 1 - count), (1, 0)),), output="changes")
        choice = rdf_choices.elements(op, op.input, self.slack)
        return Lines(below, spec, (), None, None, (), below.schema, False, choice, Form.CHANGES)

    def stream(self, op: Stream, *, order: bool) -> Physical:
        """The statements of streams with their ticks, before any window."""
        return rows.Planner(0, Span(self.slack), False, {}).stream(op, rows.Want(order=order))

    def both(self, left: Physical, right: Physical) -> Physical:
        """The rows of two sides, both stored or both as changes."""
        if left.form is not right.form:
            left, right = self.moving(left), self.moving(right)
        found = dict.fromkeys(a.name for side in (left, right) for a in side.schema)
        return UnionAll(left, right, solutions(tuple(found)), left.form, False, STATELESS)

    def moving(self, node: Physical) -> Physical:
        """Something stored as changes."""
        if node.form is not Form.TABLE:
            return node
        clock = Clock(Schedule((), 0), choices.clock("what is stored holds from tick 0"))
        return Stand(node, clock, node.schema, rdf_choices.STORED)

    # --- solutions ---------------------------------------------------------------------------------

    def solutions(self, op: Windows) -> Physical:
        """Solutions as they come and go, or as they follow from what is stored."""
        match op:
            case TriplePattern(input=facts):
                return self.match(op, self.statements(facts))
            case BasicGraphPattern():
                return rdf_join.pattern(self, op)
            case WindowSelect(input=input, predicate=predicate):
                return self.filter(input, predicate)
            case RelationUnion(left=left, right=right):
                return self.both(self.solutions(left), self.solutions(right))
            case RelationJoin(join_type=JoinType.ANTI):
                return rdf_join.minus(self, op)
            case RelationJoin(predicate=predicate) if has_exists(predicate):
                return rdf_join.left_join_asking(self, op)
            case RelationJoin():
                return rdf_join.join(self, op)
            case Values(rows=rows):
                return Written(rows, op.schema, rdf_choices.STORED)
            case WindowProject() | WindowDistinct() | Slice() if _counts_order(op):
                below = self.sequence(op)
                form = Form.TABLE if below.form is Form.TABLE else Form.CHANGES
                return Unfold(below, op.schema, form, rdf_choices.sequence(op, self.slack))
            case WindowProject(input=input) if restricts(op):
                below = self.solutions(input)
                return rdf_join.project(below, op.schema)
            case WindowProject():
                return self.extend(op)
            case WindowDistinct(input=input):
                below = self.solutions(input)
                return lines.Distinct(below, op.schema, below.form, self._once(input, below.form))
            case OrderBy(input=input):
                return self.solutions(input)
            case PathPattern(path=path) if isinstance(path, Repeated):
                return closure(self, op, path)
            case PathPattern():
                return self.solutions(as_patterns(op))
            case WindowAggregation():
                return self.aggregation(op)
            case _:
                raise PlanError(f"{type(op).__name__} over something that it cannot be over", detail=str(op))

    def extend(self, op: WindowProject) -> Physical:
        """One more variable; blank nodes are new for what the solution was before the first of several extensions."""
        below, (made,) = self.marked(op.input, self.solutions(op.input), [op.items[-1].expression])
        item = Item(made, op.items[-1].attribute)
        node = rdf_join.bound_to(below, [item])
        if any(isinstance(part, Call) and part.function.name == "BNODE" for part in parts(made)):
            choice = STATELESS if below.form is Form.TABLE else rdf_choices.numbered(op.input, self.slack)
            node = BindNodes(below, item, unextended(op).schema.names, node.schema, node.form, choice)
        return node if node.schema == op.schema else rdf_join.project(node, op.schema)

    def aggregation(self, op: WindowAggregation) -> Physical:
        """Groups of solutions; the group of all solutions exists from tick 0 on."""
        asked = [one.argument for one in op.aggregates if one.argument is not None]
        given = [*(key.expression for key in op.groups), *asked]
        below, made = self.marked(op.input, self.solutions(op.input), given)
        computed = iter(made)
        keys = tuple(Item(next(computed), key.attribute) for key in op.groups)
        aggregates = tuple(
            one if one.argument is None else replace(one, argument=next(computed)) for one in op.aggregates
        )
        start: Physical | None = None if keys else Written(((),), solutions(()), rdf_choices.STORED)
        if self.streams:
            below, start = self.moving(below), None if start is None else self.moving(start)
        choice = rdf_choices.aggregate(op, self.slack)
        return ChangeAggregate(below, start, keys, aggregates, op.schema, choice, below.form)

    def match(self, op: TriplePattern, below: Physical) -> Physical:
        """The solutions of a pattern."""
        return Match(below, op.places, op.schema, below.form, below.ordered, rdf_choices.MATCHED)

    def filter(self, input: Windows, condition: Expression) -> Physical:
        """Conditions on solutions by themselves, and patterns that must be there or must not."""
        every = conjuncts(condition)
        plain = [one for one in every if not has_exists(one)]
        found = self.solutions(input)
        if plain:
            found = rdf_join.kept(found, conjunction(plain))
        mixed: list[Expression] = []
        for one in every:
            pattern = asked(one)
            if pattern is not None:
                how = JoinType.SEMI if pattern[1] else JoinType.ANTI
                found = rdf_join.with_pattern(self, (input, found), pattern[0], how)
            elif has_exists(one):
                mixed.append(one)
        if not mixed:
            return found
        below, (wanted,) = self.marked(input, found, [conjunction(mixed)])
        kept = rdf_join.kept(below, wanted)
        return rdf_join.project(kept, found.schema)

    def marked(
        self, op: Windows, node: Physical, expressions: SequenceOf[Expression]
    ) -> tuple[Physical, list[Expression]]:
        """Solutions with a column for every EXISTS in some expressions, and the expressions that read it."""
        marks: dict[Exists, Column] = {}

        def change(one: Expression) -> Expression:
            if not isinstance(one, Exists):
                return one
            return marks.setdefault(one, Column(Attribute(f"exists {len(marks)}", Type.BOOLEAN)))

        found = [rewrite(one, change) for one in expressions]
        for exists, mark in marks.items():
            node = rdf_join.with_pattern(self, (op, node), pattern_of(exists), JoinType.MARK, mark.attribute)
        return node, found

    def sequence(self, op: Windows) -> Physical:
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
        below, order = self.marked(op.input, self.solutions(op.input), [key.expression for key in op.keys])
        keys = tuple(replace(key, expression=made) for key, made in zip(op.keys, order, strict=True))
        kept = next((step.names for step in after if isinstance(step, Pick)), op.schema.names)
        form = Form.TABLE if below.form is Form.TABLE else Form.WINDOWS
        choice = rdf_choices.STORED if form is Form.TABLE else rdf_choices.sequence(op, self.slack)
        steps = (*([Pick(op.schema.names)] if keys != op.keys else []), *reversed(after))
        per = tuple(name for name in op.schema.names if is_outer(name))
        return Sequence(below, keys, tuple(tie.name for tie in op.ties), steps, solutions(kept), choice, form, per=per)

    def _once(self, op: Windows, form: Form) -> Choice:
        return rdf_choices.STORED if form is Form.TABLE else rdf_choices.once(op, self.slack)


def _counts_order(op: Windows) -> bool:
    """Whether a part of a sequence is taken."""
    while isinstance(op, WindowProject | WindowDistinct) and ordered(op):
        op = op.input
    return isinstance(op, Slice)
