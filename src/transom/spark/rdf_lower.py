"""From nodes over RDF to frames: one function per node, chosen by its class."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from pyspark.sql import DataFrame

from transom.physical.plan import Physical
from transom.physical.rdf_plan import (
    Bind,
    Both,
    Choose,
    Fan,
    Graph,
    Keep,
    Last,
    Make,
    Match,
    Mate,
    Once,
    RdfNode,
    Sequence,
    Stand,
    Unfold,
    Within,
    Written,
)
from transom.spark import rdf_mates, rdf_patterns, rdf_sequences, rdf_solutions
from transom.spark.frames import Run

Below = Callable[[Physical], DataFrame]
"""The frame of another node."""


def lower_rdf(node: RdfNode, below: Below, run: Run) -> DataFrame:
    """The frame that a node over RDF gives; the columns are those of `frames`, terms are text."""
    match node:
        case Graph():
            return rdf_patterns.graph(node, run)
        case Written():
            return rdf_patterns.written(node, run)
        case Stand():
            clock = below(node.clock) if run.live else None
            return rdf_patterns.stand(node, _changes(below(node.input)), clock, run)
        case Last():
            return rdf_patterns.last(node, below(node.input), run)
        case Match():
            return rdf_patterns.match(node, _changes(below(node.input)), run)
        case Fan():
            return rdf_patterns.fan(node, _changes(below(node.input)), run)
        case Within():
            return rdf_patterns.within(node, below(node.input), run)
        case Keep():
            return rdf_solutions.keep(node, _changes(below(node.input)))
        case Bind():
            return rdf_solutions.bind(node, _changes(below(node.input)))
        case Choose():
            return rdf_solutions.choose(node, _changes(below(node.input)))
        case Both():
            return rdf_solutions.both(node, _changes(below(node.left)), _changes(below(node.right)))
        case Mate():
            other = None if node.right is None else _changes(below(node.right))
            return rdf_mates.mate(node, _changes(below(node.left)), other, run)
        case Once():
            return rdf_mates.once(node, _changes(below(node.input)), run)
        case Sequence():
            return rdf_sequences.sequence(node, _changes(below(node.input)), run)
        case Unfold():
            return rdf_sequences.unfold(node, below(node.input), run)
        case Make():
            return rdf_solutions.make(node, _changes(below(node.input)), run)
        case _:
            assert_never(node)


def _changes(frame: DataFrame) -> DataFrame:
    """Changes without the words that a window exists."""
    return frame.where("p").drop("p") if "p" in frame.columns else frame
