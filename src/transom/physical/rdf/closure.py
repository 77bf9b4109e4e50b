"""Planning of paths with `?`, `*` or `+`: one task follows the valid edges."""

from __future__ import annotations

from transom.algebra.expressions.expression import Column
from transom.algebra.expressions.terms import term_call, term_literal, variable
from transom.algebra.rdf.patterns import OneOrMorePath, PathPattern, TriplePattern, ZeroOrOnePath
from transom.algebra.rdf.solutions import project as select
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.rdf import PathClosure, ValuesExec, solution_schema
from transom.physical.planner.context import Planning
from transom.physical.rdf import decisions
from transom.physical.rdf.joins import as_changes, filter_rows, project_rows, union_all
from transom.physical.rdf.paths import RepeatedPath, count_zero_length_matches

START, END = variable("path start"), variable("path end")
END_PAIR = solution_schema((START.name, END.name))


def plan_closure(planner: Planning, op: PathPattern, path: RepeatedPath) -> PhysicalNode:
    """Plan a property path with `?`, `*` or `+`: its distinct pairs of a start and an end term.

    If one end is constant, the path is followed from there.
    """
    subject, object = op.items
    backward = isinstance(subject, Column) and not isinstance(object, Column)
    first, last = (object, subject) if backward else (subject, object)
    ends = (END, START) if backward else (START, END)
    edges = PathPattern(op.input, ends[0], path.path, ends[1])
    start = None if isinstance(first, Column) else first
    statement = variable("path subject"), variable("path link"), variable("path object")
    nodes = None
    if start is None and not isinstance(path, OneOrMorePath):
        nodes = planner.plan_windows(select(TriplePattern(op.input, *statement), statement[::2]))
    edge_node = _project_ends(planner.plan_windows(edges))
    if planner.streams:
        edge_node, nodes = as_changes(planner, edge_node), None if nodes is None else as_changes(planner, nodes)
    first_variable = first if isinstance(first, Column) else START
    last_variable = last if isinstance(last, Column) and last != first else END
    schema = solution_schema((first_variable.name, last_variable.name))
    decision = decisions.path_closure(edges, op.input, nodes is not None, planner.slack.ticks)
    node: PhysicalNode = PathClosure(
        edge_node, nodes, not isinstance(path, ZeroOrOnePath), start, schema, decision, edge_node.form
    )
    if start is not None and count_zero_length_matches(path, not backward, not isinstance(object, Column)):
        other_pairs = filter_rows(node, term_call("!", term_call("sameTerm", last_variable, term_literal(start))))
        node = union_all(planner, other_pairs, ValuesExec(((start, start),), schema, decisions.STORED))
    if last == first:
        node = filter_rows(node, term_call("sameTerm", first_variable, last_variable))
    elif not isinstance(last, Column):
        node = filter_rows(node, term_call("sameTerm", last_variable, term_literal(last)))
    return project_rows(node, op.schema)


def _project_ends(node: PhysicalNode) -> PhysicalNode:
    """Project the solutions of a path's edges to two columns, the start and the end of an edge."""
    return node if node.schema == END_PAIR else project_rows(node, END_PAIR)
