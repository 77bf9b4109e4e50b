"""From a plan to one DataFrame: one function per node, chosen by its class."""

from __future__ import annotations

from typing import assert_never

from pyspark.sql import DataFrame

from transom.physical.bridges import TermRows, TypedRows
from transom.physical.change_aggregate import ChangeAggregate
from transom.physical.change_join import ChangeJoin
from transom.physical.lines import Come, Distinct, First, Follow, Grown, Lines, Net, Relate, Steady, Tally, Turn
from transom.physical.node import Clock, Physical
from transom.physical.plan import (
    Changes,
    Collect,
    Compare,
    Cut,
    Emit,
    Exist,
    Filter,
    Form,
    Group,
    Map,
    Meet,
    Meeting,
    Number,
    Product,
    Read,
    ReadScans,
    ReadTable,
    Slide,
    Spread,
    Stay,
    UnionAll,
)
from transom.physical.rdf_plan import (
    BindNodes,
    Fan,
    Graph,
    Last,
    Make,
    Match,
    PathClosure,
    Sequence,
    Stand,
    Unfold,
    Within,
    Written,
)
from transom.physical.tree import closed
from transom.spark import (
    bridges,
    lines,
    rdf_patterns,
    rdf_sequences,
    rdf_solutions,
    relate,
    relations,
    scans,
    sources,
    streams,
    windows,
)
from transom.spark.change_aggregate import change_aggregate
from transom.spark.change_join import change_join
from transom.spark.frames import LoweringContext, without_markers
from transom.spark.pairs import pairs
from transom.spark.rdf_closure import path_closure
from transom.spark.rdf_messages import within
from transom.spark.tally import tally


def lower(node: Physical, run: LoweringContext) -> DataFrame:
    """The frame that a node gives; the columns are those of `frames`."""
    match node := closed(node):
        case Read():
            return sources.read(node, run)
        case ReadTable():
            return sources.read_table(node, run)
        case ReadScans():
            return sources.read_scans(node, run)
        case Clock():
            return sources.clock(node, run)
        case Number():
            return streams.number(node, lower(node.input, run), run)
        case Filter():
            return relations.keep(node, lower(node.input, run), run)
        case Map():
            return relations.project(node, lower(node.input, run), run)
        case UnionAll():
            return rdf_solutions.union_all(node, _rows(node.left, run), _rows(node.right, run))
        case Stay():
            return windows.stay(node, lower(node.input, run), run)
        case Cut():
            return windows.cut(node, lower(node.input, run), run)
        case Spread(input=below, clock=Clock() as clock) if below.form is Form.SCANS:
            return scans.spread(node, lower(below, run), lower(clock, run), run)
        case Spread():
            return windows.spread(node, lower(node.input, run), _clock(node.clock, run), run)
        case Exist():
            return windows.with_existence(lower(node.input, run), lower(node.clock, run), run)
        case Group():
            return relations.group(node, lower(node.input, run), _clock(node.clock, run), run)
        case Slide():
            return relations.slide(node, lower(node.input, run), run)
        case Meet(how=Meeting.PAIRS):
            return pairs(node, lower(node.left, run), lower(node.right, run), run)
        case Meet(how=Meeting.SCANS):
            return scans.meet(node, lower(node.left, run), lower(node.right, run), run)
        case Meet():
            return relations.meet(node, lower(node.left, run), lower(node.right, run), run)
        case Product():
            sides = (lower(node.left, run), lower(node.right, run))
            return relations.product(node, sides, (_clock(node.left_clock, run), _clock(node.right_clock, run)), run)
        case Emit():
            return streams.emit(node, lower(node.input, run), run)
        case Changes():
            return streams.changes(node, lower(node.input, run), run)
        case Compare():
            return streams.compare(node, lower(node.input, run), run)
        case Collect():
            return windows.collect(node, lower(node.input, run), _clock(node.clock, run), run)
        case Lines():
            return lines.lines(node, lower(node.input, run), _clock(node.clock, run), run)
        case Steady():
            return lines.steady(node, lower(node.input, run), run)
        case Follow():
            return lines.follow(node, lower(node.input, run), _clock(node.clock, run), run)
        case Tally():
            return tally(node, lower(node.input, run), run)
        case Come():
            return relate.come(node, lower(node.input, run), lower(node.clock, run), run)
        case Turn():
            return relate.turn(node, lower(node.input, run), run)
        case Grown():
            return relate.grown(node, lower(node.input, run), run)
        case Relate():
            other = None if node.right is None else lower(node.right, run)
            return relate.relate(node, lower(node.left, run), other, run)
        case Distinct(form=Form.TABLE | Form.CHANGES):
            return rdf_solutions.distinct(node, _rows(node.input, run), run)
        case Distinct():
            return relate.distinct(node, lower(node.input, run), run)
        case First():
            return relate.first(node, lower(node.input, run), run)
        case ChangeAggregate():
            start = None if node.start is None else lower(node.start, run)
            return change_aggregate(node, lower(node.input, run), start, run)
        case ChangeJoin():
            other = None if node.right is None else lower(node.right, run)
            return change_join(node, lower(node.left, run), other, run)
        case Net():
            return relate.net(node, lower(node.input, run), run)
        case TypedRows():
            return bridges.typed_rows(node, _rows(node.input, run), run)
        case TermRows():
            return bridges.term_rows(node, lower(node.input, run.for_rows()))
        case Graph():
            return rdf_patterns.graph(node, run)
        case Written():
            return rdf_patterns.written(node, run)
        case Stand():
            at = lower(node.clock, run) if run.live else None
            return rdf_patterns.stand(node, _rows(node.input, run), at, run)
        case Last():
            return rdf_patterns.last(node, lower(node.input, run), run)
        case Match():
            return rdf_patterns.match(node, _rows(node.input, run), run)
        case Fan():
            return rdf_patterns.fan(node, _rows(node.input, run), run)
        case Within():
            return within(node, run)
        case BindNodes():
            return rdf_solutions.bind_nodes(node, _rows(node.input, run), run)
        case PathClosure():
            nodes = None if node.nodes is None else _rows(node.nodes, run)
            return path_closure(node, _rows(node.edges, run), nodes, run)
        case Sequence():
            return rdf_sequences.sequence(node, _rows(node.input, run), run)
        case Unfold():
            return rdf_sequences.unfold(node, lower(node.input, run), run)
        case Make():
            return rdf_solutions.make(node, _rows(node.input, run), run)
        case _:
            assert_never(node)


def _rows(node: Physical, run: LoweringContext) -> DataFrame:
    """The frame of a node without the rows that say of a window that it exists."""
    return without_markers(lower(node, run))


def _clock(clock: Clock | None, run: LoweringContext) -> DataFrame | None:
    return None if clock is None else lower(clock, run)
