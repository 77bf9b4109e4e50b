"""From nodes over RDF to frames: one function per node, chosen by its class."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from pyspark.sql import DataFrame

from transom.physical.node import Physical
from transom.physical.rdf_plan import (
    BindNodes,
    Fan,
    Graph,
    Last,
    Make,
    Match,
    PathClosure,
    RdfNode,
    Sequence,
    Stand,
    Unfold,
    Within,
    Written,
)
from transom.spark import rdf_patterns, rdf_sequences, rdf_solutions
from transom.spark.frames import LoweringContext, without_markers
from transom.spark.rdf_closure import path_closure
from transom.spark.rdf_messages import within

Below = Callable[[Physical], DataFrame]
"""The frame of another node."""


def lower_rdf(node: RdfNode, below: Below, run: LoweringContext) -> DataFrame:
    """The frame that a node over RDF gives; the columns are those of `frames`, terms are text."""
    match node:
        case Graph():
            return rdf_patterns.graph(node, run)
        case Written():
            return rdf_patterns.written(node, run)
        case Stand():
            clock = below(node.clock) if run.live else None
            return rdf_patterns.stand(node, without_markers(below(node.input)), clock, run)
        case Last():
            return rdf_patterns.last(node, below(node.input), run)
        case Match():
            return rdf_patterns.match(node, without_markers(below(node.input)), run)
        case Fan():
            return rdf_patterns.fan(node, without_markers(below(node.input)), run)
        case Within():
            return within(node, run)
        case BindNodes():
            return rdf_solutions.bind_nodes(node, without_markers(below(node.input)), run)
        case PathClosure():
            nodes = None if node.nodes is None else without_markers(below(node.nodes))
            return path_closure(node, without_markers(below(node.edges)), nodes, run)
        case Sequence():
            return rdf_sequences.sequence(node, without_markers(below(node.input)), run)
        case Unfold():
            return rdf_sequences.unfold(node, below(node.input), run)
        case Make():
            return rdf_solutions.make(node, without_markers(below(node.input)), run)
        case _:
            assert_never(node)
