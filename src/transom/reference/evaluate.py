"""evaluateStream and evaluateWindow (Figures 1 and 4): one function per operator, chosen by its class."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from transom.algebra.operator import Stream, Windows
from transom.algebra.rdf.patterns import BasicGraphPattern, PathPattern, TriplePattern
from transom.algebra.rdf.statements import StoredGraph
from transom.algebra.relations import (
    RelationExcept,
    RelationIntersect,
    RelationJoin,
    RelationUnion,
    SuppressUnchanged,
    WindowCrossProduct,
    WindowJoin,
    WindowMerge,
)
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive, Values
from transom.algebra.streams import (
    DStream,
    IStream,
    Renumber,
    RStream,
    SpeedLimit,
    StreamProject,
    StreamSelect,
    StreamUnion,
)
from transom.algebra.tree import narrow
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.model.bag import Bag, Element
from transom.reference import relations, sources, streams, windows
from transom.reference.sources import Inputs


def evaluate_stream(op: Stream, inputs: Inputs) -> list[Element]:
    """Evaluate a stream operator and its inputs to all elements that it produces in the run, in stream order."""
    inputs.on_operator(op)
    match op := narrow(op):
        case StreamAcquire():
            return sources.stream_acquire(op, inputs)
        case StreamReceive():
            return sources.stream_receive(op, inputs)
        case StreamSelect():
            return streams.stream_select(op, evaluate_stream(op.input, inputs))
        case StreamProject():
            return streams.stream_project(op, evaluate_stream(op.input, inputs))
        case StreamUnion(parts=parts):
            return streams.stream_union([evaluate_stream(part, inputs) for part in parts])
        case Renumber():
            return streams.renumber(evaluate_stream(op.input, inputs))
        case SpeedLimit():
            accepted, rejected = streams.speed_limit(op, evaluate_stream(op.input, inputs))
            inputs.on_rejected(op, accepted, rejected)
            return accepted
        case RStream():
            return streams.r_stream(evaluate_window(op.input, inputs))
        case IStream():
            return streams.i_stream(evaluate_window(op.input, inputs))
        case DStream():
            return streams.d_stream(evaluate_window(op.input, inputs))
        case _:
            assert_never(op)


def evaluate_window(op: Windows, inputs: Inputs) -> list[Bag]:
    """Evaluate an operator to all windows that it creates in the run, by tick; raises PlanError for RDF patterns."""
    inputs.on_operator(op)
    match op := narrow(op):
        case Window(input=StoredTable() as table):
            return windows.scan(op, table, inputs)
        case Window():
            return windows.window(op, evaluate_stream(_input_stream(op), inputs), inputs)
        case SuppressUnchanged():
            return relations.suppress_unchanged(op, evaluate_window(op.input, inputs))
        case WindowMerge():
            return relations.window_merge(op, evaluate_window(op.input, inputs))
        case WindowCrossProduct():
            left, right = evaluate_window(op.left, inputs), evaluate_window(op.right, inputs)
            return relations.window_cross_product(op, left, right)
        case WindowJoin():
            left, right = evaluate_window(op.left, inputs), evaluate_window(op.right, inputs)
            return relations.window_join(op, left, right)
        case RelationJoin() | RelationUnion() | RelationExcept() | RelationIntersect():
            left, right = evaluate_window(op.left, inputs), evaluate_window(op.right, inputs)
            return relations.at_every_instant(op, left, right)
        case StoredGraph() | TriplePattern() | PathPattern() | BasicGraphPattern() | Values():
            raise PlanError(f"{type(op).__name__} is evaluated to solutions, not to windows")
        case _:
            bags = evaluate_window(op.input, inputs)
            return [
                w if w.is_final else replace(w, rows=relations.snapshot(op, (w.rows,))) for w in inputs.watched(bags)
            ]


def _input_stream(op: Window) -> Stream:
    """Return the input stream of a window; AssertionError if the window is over a stored table, which has no stream."""
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - the case above takes tables
    return op.input
