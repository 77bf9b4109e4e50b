"""Statements on Spark: stored graphs, VALUES, time windows, triple patterns, multi-pattern scans."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions import expression
from transom.algebra.expressions.terms import STATEMENT
from transom.algebra.rdf.patterns import TermPattern
from transom.model.types import Value
from transom.physical.nodes.rdf import (
    MultiPatternScan,
    PatternBranch,
    PatternMatch,
    ReadGraph,
    TableToChanges,
    TimeWindowChanges,
    ValuesExec,
)
from transom.spark.columns import COUNT, ORDER, SIDE, TICK, TICK_NUMBER
from transom.spark.event_time import div, join_table
from transom.spark.frames import LoweringContext, carried_columns, value_names
from transom.spark.rdf import expressions
from transom.spark.windows import inserts_and_deletes


def carried_term_columns(frame: DataFrame) -> list[Column]:
    """Return the columns that accompany terms: tick, window key, `count` and `row_order`, if the frame has them."""
    return carried_columns(frame, COUNT, ORDER)


def read_graph(node: ReadGraph, run: LoweringContext) -> DataFrame:
    """Read the distinct statements of the stored graphs of a node: subject `c0`, predicate `c1`, object `c2`."""
    frames = [run.tables[extent].select(*value_names(STATEMENT)) for extent in node.extents]
    if not frames:
        return _constant_rows(run, [], len(STATEMENT))
    return reduce(DataFrame.union, frames).distinct()


def inline_values(node: ValuesExec, run: LoweringContext) -> DataFrame:
    """Return the constant solutions of a SPARQL VALUES clause as rows of terms."""
    return _constant_rows(run, [tuple(map(term_text, row)) for row in node.rows], len(node.schema))


def _constant_rows(run: LoweringContext, rows: list[tuple[str | None, ...]], width: int) -> DataFrame:
    """Build a frame of constant rows of `width` terms (None: unbound) without running a Spark job."""
    struct_type = ", ".join(["_: int", *(f"c{n}: string" for n in range(width))])
    cells = [F.struct(F.lit(0).alias("_"), *_constant_cells(row)) for row in rows]
    row_array = F.array(*cells) if cells else F.array().cast(f"array<struct<{struct_type}>>")
    return run.spark.range(1).select(F.inline(row_array.cast(f"array<struct<{struct_type}>>"))).drop("_")


def _constant_cells(row: tuple[str | None, ...]) -> list[Column]:
    """Return the terms of a constant row as columns `c0`, `c1`, ...; None means unbound and becomes NULL."""
    return [F.lit(term).cast("string").alias(f"c{n}") for n, term in enumerate(row)]


def term_text(term: Value) -> str | None:
    """Return the N-Triples text of a constant term; None, which means unbound, stays None."""
    return None if term is None else str(term)


def table_to_changes(
    node: TableToChanges, frame: DataFrame, clock: DataFrame | None, run: LoweringContext
) -> DataFrame:
    """Convert a stored table to insertions: at tick 0 in a replay, or at the tick of `clock` in a live run."""
    if clock is None:
        return frame.select(run.time.as_event_time(F.lit(0)), F.lit(1).alias(COUNT), *value_names(node.schema))
    at, table = clock.alias("at"), frame.withColumn("is_match", F.lit(1)).alias("table")
    name = f"transom_table_{next(run.metric_numbers)}"
    pairs = join_table(at, table, F.lit(True), "table.is_match", name)
    cells = [F.col(f"table.{value_name}").alias(value_name) for value_name in value_names(node.schema)]
    return pairs.select(F.col("at.tick").alias(TICK), F.lit(1).alias(COUNT), *cells)


def time_window_changes(node: TimeWindowChanges, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Emit an insertion of each statement at its tick, and its retraction when it leaves the time window."""
    return inserts_and_deletes(
        frame, window_end(run.time.tick_number(), node.width, node.slide), run, value_names(node.schema)
    )


def window_end(tick: Column, width: int, slide: int) -> Column:
    """The tick at which a statement of tick `tick` leaves a window `width` ticks long, sliding by `slide` (R3).

    The window has a length of `width` ticks and slides by `slide` ticks.
    """
    return div(tick + F.lit(width), slide) * F.lit(slide)


def pattern_match(node: PatternMatch, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Match a triple pattern: each matching statement, or each change of such a statement, gives one solution."""
    positions = first_positions(node.terms)
    cells = [F.col(f"c{positions[a.name]}").alias(f"c{n}") for n, a in enumerate(node.schema)]
    return frame.where(_matches_pattern(node.terms)).select(*carried_term_columns(frame), *cells)


def first_positions(terms: tuple[TermPattern, ...]) -> dict[str, int]:
    """Map each variable of a triple pattern to its first position: 0 (subject), 1 (predicate) or 2 (object)."""
    positions: dict[str, int] = {}
    for position, term in enumerate(terms):
        if isinstance(term, expression.Column):
            positions.setdefault(term.name, position)
    return positions


def _matches_pattern(terms: tuple[TermPattern, ...]) -> Column:
    """Whether the statement in `c0`, `c1`, `c2` matches a triple pattern; a repeated variable needs equal terms."""
    first = first_positions(terms)
    condition = F.lit(True)
    for position, term in enumerate(terms):
        if not isinstance(term, expression.Column):
            condition = condition & (F.col(f"c{position}") == F.lit(term_text(term)))
        elif first[term.name] != position:
            condition = condition & (F.col(f"c{position}") == F.col(f"c{first[term.name]}"))
    return condition


def multi_pattern_scan(node: MultiPatternScan, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Match several triple patterns in one pass over the statements, and emit the changes of their solutions.

    `side` is the number of the pattern.
    """
    matches = [_branch_match(branch, side, len(node.schema)) for side, branch in enumerate(node.branches)]
    has_signs = COUNT in frame.columns
    carried = [TICK, *([COUNT] if has_signs else [])]
    rows = frame.select(*carried, F.inline(F.array(*matches))).where(F.col(SIDE).isNotNull())
    branch_columns = [SIDE, *value_names(node.schema)]
    if has_signs:
        rows = rows.select(
            run.time.tick_number().alias(TICK_NUMBER), F.col(COUNT).cast("int").alias(COUNT), *branch_columns
        )
    else:
        moments = F.array(
            _change_struct(run.time.tick_number(), 1),
            _change_struct(_branch_window_end(node, run.time.tick_number()), -1),
        )
        rows = rows.select(F.inline(moments), *branch_columns)
    if run.until is not None:
        rows = rows.where(F.col(TICK_NUMBER) <= F.lit(run.until))
    return rows.select(run.time.as_event_time(F.col(TICK_NUMBER)), COUNT, SIDE, *value_names(node.schema))


def _branch_window_end(node: MultiPatternScan, tick: Column) -> Column:
    """Return the tick at which a statement leaves the window of its pattern; column `side` has the pattern's number."""
    windows = [branch.window or (1, 1) for branch in node.branches]
    end = window_end(tick, *windows[0])
    for window in sorted(set(windows) - {windows[0]}):
        same_window = [F.lit(side) for side, other in enumerate(windows) if other == window]
        end = F.when(F.col(SIDE).isin(*same_window), window_end(tick, *window)).otherwise(end)
    return end


def _change_struct(tick: Column, count: int) -> Column:
    """Build a change as a struct: its tick `tick_number` and its signed count `count`."""
    return F.struct(tick.cast("long").alias(TICK_NUMBER), F.lit(count).alias(COUNT))


def _branch_condition(branch: PatternBranch) -> Column:
    """Whether a statement satisfies the FILTER condition of one of the triple patterns that are matched together."""
    if branch.condition == expression.TRUE:
        return F.lit(True)
    columns = {name: F.col(f"c{position}") for name, position in first_positions(branch.terms).items()}
    return expressions.holds(branch.condition, columns)


def _branch_match(branch: PatternBranch, side: int, width: int) -> Column:
    """Return a struct of the pattern's number `side` and the matched terms, padded to `width`; NULL if no match.

    The struct has `side`, the number, and `width` terms.
    """
    positions = first_positions(branch.terms)
    cells = [F.col(f"c{positions[a.name]}").alias(f"c{n}") for n, a in enumerate(branch.schema)]
    cells += [F.lit(None).cast("string").alias(f"c{n}") for n in range(len(cells), width)]
    return F.when(_matches_pattern(branch.terms) & _branch_condition(branch), F.struct(F.lit(side).alias(SIDE), *cells))
