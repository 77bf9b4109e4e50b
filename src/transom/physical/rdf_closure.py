"""Paths with `?`, `*` or `+` in a plan for Spark: one task follows the edges that are valid."""

from __future__ import annotations

from transom.algebra.expressions import Column
from transom.algebra.rdf.patterns import OneOrMore, PathPattern, TriplePattern, ZeroOrOne
from transom.algebra.rdf.solutions import project as select
from transom.algebra.terms import term_call, term_literal, variable
from transom.physical import rdf_choices
from transom.physical.context import Planning
from transom.physical.node import Physical
from transom.physical.rdf_join import both, kept, moving, project
from transom.physical.rdf_paths import Repeated, leads_nowhere
from transom.physical.rdf_plan import PathClosure, Written, solutions

START, END = variable("path start"), variable("path end")
PAIR = solutions((START.name, END.name))


def closure(planner: Planning, op: PathPattern, path: Repeated) -> Physical:
    """The ends of a path, each pair once; from the end where only that is given."""
    subject, object = op.places
    backward = isinstance(subject, Column) and not isinstance(object, Column)
    first, last = (object, subject) if backward else (subject, object)
    ends = (END, START) if backward else (START, END)
    edges = PathPattern(op.input, ends[0], path.path, ends[1])
    start = None if isinstance(first, Column) else first
    statement = variable("path subject"), variable("path link"), variable("path object")
    nodes = None
    if start is None and not isinstance(path, OneOrMore):
        nodes = planner.windows(select(TriplePattern(op.input, *statement), statement[::2]))
    below = _chosen(planner.windows(edges))
    if planner.streams:
        below, nodes = moving(planner, below), None if nodes is None else moving(planner, nodes)
    here = first if isinstance(first, Column) else START
    there = last if isinstance(last, Column) and last != first else END
    schema = solutions((here.name, there.name))
    choice = rdf_choices.closure(edges, op.input, nodes is not None, planner.span.slack)
    found: Physical = PathClosure(below, nodes, not isinstance(path, ZeroOrOne), start, schema, choice, below.form)
    if start is not None and leads_nowhere(path, not backward, not isinstance(object, Column)):
        others = kept(found, term_call("!", term_call("sameTerm", there, term_literal(start))))
        found = both(planner, others, Written(((start, start),), schema, rdf_choices.STORED))
    if last == first:
        found = kept(found, term_call("sameTerm", here, there))
    elif not isinstance(last, Column):
        found = kept(found, term_call("sameTerm", there, term_literal(last)))
    return project(found, op.schema)


def _chosen(node: Physical) -> Physical:
    return node if node.schema == PAIR else project(node, PAIR)
