"""Lower a physical plan to one DataFrame: one function per node class."""

from __future__ import annotations

from typing import assert_never

from pyspark.sql import DataFrame

from transom.physical.nodes.bridges import TermsToValues, ValuesToTerms
from transom.physical.nodes.change_aggregate import ChangeAggregate
from transom.physical.nodes.change_join import ChangeJoin, is_fused
from transom.physical.nodes.keyed_windows import (
    ChangesToStream,
    CombineRelations,
    Distinct,
    IntervalsToChanges,
    KeyedWindow,
    KeyedWindowAggregate,
    SpeedLimitExec,
    SuppressUnchangedExec,
    TopN,
    TrajectoryAggregate,
    WindowsToChanges,
)
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.nodes.rdf import (
    BindBlankNodes,
    ConstructExec,
    MessageStarMatch,
    MultiPatternScan,
    PathClosure,
    PatternMatch,
    ReadGraph,
    SequenceToChanges,
    Sort,
    TableToChanges,
    TimeWindowChanges,
    ValuesExec,
)
from transom.physical.nodes.tree import as_any_node
from transom.physical.nodes.windows import (
    CollectWindows,
    ExpandWindows,
    Filter,
    Form,
    IntervalDiff,
    IntervalJoin,
    JoinStrategy,
    PeriodWindow,
    Project,
    ReadScans,
    ReadStream,
    ReadTable,
    RowNumber,
    RowWindow,
    SlidingWindowAggregate,
    TimeWindow,
    UnionAll,
    WindowAggregate,
    WindowDiff,
    WindowMarkers,
    WindowProduct,
    WindowsToStream,
)
from transom.spark import changes, relations, scans, sources, streams, windows
from transom.spark.frames import LoweringContext, without_markers
from transom.spark.rdf import bridges, patterns, sequences, solutions
from transom.spark.rdf.messages import message_star_match
from transom.spark.stateful import keyed_windows
from transom.spark.stateful.change_aggregate import change_aggregate
from transom.spark.stateful.change_join import change_join
from transom.spark.stateful.join_tree import join_tree
from transom.spark.stateful.keyed_aggregates import keyed_window_aggregate
from transom.spark.stateful.pairs import interval_join_pairs
from transom.spark.stateful.path_closure import path_closure
from transom.spark.stateful.plan_labels import label_node


def lower(node: PhysicalNode, run: LoweringContext) -> DataFrame:
    """Translate a physical plan node and its inputs to a DataFrame; in a live run, label it with the node's index.

    `spark.frames` describes the columns.
    """
    if not run.live:
        return _lower_node(node, run)
    number = len(run.nodes)
    run.nodes.append(node)
    return label_node(_lower_node(node, run), number)


def _lower_node(node: PhysicalNode, run: LoweringContext) -> DataFrame:
    """Translate a node to a DataFrame, with one function for each class of nodes."""
    match node := as_any_node(node):
        case ReadStream():
            return sources.read_stream(node, run)
        case ReadTable():
            return sources.read_table(node, run)
        case ReadScans():
            return sources.read_scans(node, run)
        case ReadClock():
            return sources.read_clock(node, run)
        case RowNumber():
            return streams.row_number(node, lower(node.input, run), run)
        case Filter():
            return relations.filter_rows(node, lower(node.input, run), run)
        case Project():
            return relations.project(node, lower(node.input, run), run)
        case UnionAll():
            return solutions.union_all(node, _lower_rows(node.left, run), _lower_rows(node.right, run))
        case TimeWindow():
            return windows.time_window(node, lower(node.input, run), run)
        case PeriodWindow():
            return windows.period_window(node, lower(node.input, run), run)
        case RowWindow():
            return windows.row_window(node, lower(node.input, run), run)
        case ExpandWindows(input=below, clock=ReadClock() as clock) if below.form is Form.SCANS:
            return scans.expand_windows(node, lower(below, run), lower(clock, run), run)
        case ExpandWindows():
            return windows.expand_windows(node, lower(node.input, run), _lower_clock(node.clock, run), run)
        case WindowMarkers():
            return windows.window_markers(lower(node.input, run), lower(node.clock, run), run)
        case WindowAggregate():
            return relations.window_aggregate(node, lower(node.input, run), _lower_clock(node.clock, run), run)
        case SlidingWindowAggregate():
            return relations.sliding_window_aggregate(node, lower(node.input, run), run)
        case IntervalJoin(how=JoinStrategy.PAIRS):
            return interval_join_pairs(node, lower(node.left, run), lower(node.right, run), run)
        case IntervalJoin(how=JoinStrategy.SCANS):
            return scans.interval_join(node, lower(node.left, run), lower(node.right, run), run)
        case IntervalJoin():
            return relations.interval_join(node, lower(node.left, run), lower(node.right, run), run)
        case WindowProduct():
            sides = (lower(node.left, run), lower(node.right, run))
            return relations.window_product(
                node, sides, (_lower_clock(node.left_clock, run), _lower_clock(node.right_clock, run)), run
            )
        case WindowsToStream():
            return streams.windows_to_stream(node, lower(node.input, run), run)
        case IntervalDiff():
            return streams.interval_diff(node, lower(node.input, run), run)
        case WindowDiff():
            return streams.window_diff(node, lower(node.input, run), run)
        case CollectWindows():
            return windows.collect_windows(node, lower(node.input, run), _lower_clock(node.clock, run), run)
        case KeyedWindow():
            return keyed_windows.keyed_window(node, lower(node.input, run), _lower_clock(node.clock, run), run)
        case SpeedLimitExec():
            return keyed_windows.speed_limit(node, lower(node.input, run), run)
        case TrajectoryAggregate():
            return keyed_windows.trajectory_aggregate(node, lower(node.input, run), _lower_clock(node.clock, run), run)
        case KeyedWindowAggregate():
            return keyed_window_aggregate(node, lower(node.input, run), run)
        case IntervalsToChanges():
            return changes.intervals_to_changes(node, lower(node.input, run), lower(node.clock, run), run)
        case WindowsToChanges():
            return changes.windows_to_changes(node, lower(node.input, run), run)
        case SuppressUnchangedExec():
            return changes.suppress_unchanged(node, lower(node.input, run), run)
        case CombineRelations():
            right = None if node.right is None else lower(node.right, run)
            return changes.combine_relations(node, lower(node.left, run), right, run)
        case Distinct(form=Form.TABLE | Form.CHANGES):
            return solutions.distinct(node, _lower_rows(node.input, run), run)
        case Distinct():
            return changes.distinct(node, lower(node.input, run), run)
        case TopN():
            return changes.top_n(node, lower(node.input, run), run)
        case ChangeAggregate():
            start = None if node.start is None else lower(node.start, run)
            return change_aggregate(node, lower(node.input, run), start, run)
        case ChangeJoin(left=left, right=right) if any(is_fused(side) for side in (left, right) if side is not None):
            return join_tree(node, [_lower_rows(leaf, run) for leaf in node.operator_inputs], run)
        case ChangeJoin():
            right = None if node.right is None else lower(node.right, run)
            return change_join(node, lower(node.left, run), right, run)
        case ChangesToStream():
            return changes.changes_to_stream(node, lower(node.input, run), run)
        case TermsToValues():
            return bridges.terms_to_values(node, _lower_rows(node.input, run), run)
        case ValuesToTerms():
            return bridges.values_to_terms(node, lower(node.input, run.until_last_row()))
        case ReadGraph():
            return patterns.read_graph(node, run)
        case ValuesExec():
            return patterns.inline_values(node, run)
        case TableToChanges():
            ticks = lower(node.clock, run) if run.live else None
            return patterns.table_to_changes(node, _lower_rows(node.input, run), ticks, run)
        case TimeWindowChanges():
            return patterns.time_window_changes(node, lower(node.input, run), run)
        case PatternMatch():
            return patterns.pattern_match(node, _lower_rows(node.input, run), run)
        case MultiPatternScan():
            return patterns.multi_pattern_scan(node, _lower_rows(node.input, run), run)
        case MessageStarMatch():
            return message_star_match(node, run)
        case BindBlankNodes():
            return solutions.bind_blank_nodes(node, _lower_rows(node.input, run), run)
        case PathClosure():
            nodes = None if node.nodes is None else _lower_rows(node.nodes, run)
            return path_closure(node, _lower_rows(node.edges, run), nodes, run)
        case Sort():
            return sequences.sort(node, _lower_rows(node.input, run), run)
        case SequenceToChanges():
            return sequences.sequence_to_changes(node, lower(node.input, run), run)
        case ConstructExec():
            return solutions.construct(node, _lower_rows(node.input, run), run)
        case _:
            assert_never(node)


def _lower_rows(node: PhysicalNode, run: LoweringContext) -> DataFrame:
    """Translate a plan node to a DataFrame; drop its marker rows, which only say that a window exists."""
    return without_markers(lower(node, run))


def _lower_clock(clock: ReadClock | None, run: LoweringContext) -> DataFrame | None:
    """Translate the clock of a node (ticks at which it must answer even without rows); None without a clock."""
    return None if clock is None else lower(clock, run)
