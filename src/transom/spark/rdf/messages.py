"""Match star patterns inside a message, which holds all statements about a subject.

The solutions of a message are one array, computed directly above the scan, so that the message itself goes no further.
Most messages have each predicate once. For these, Spark compiles the search; others are searched pattern by pattern.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions import expression
from transom.algebra.expressions.terms import STATEMENT
from transom.physical.nodes.rdf import MessageStarMatch, PatternBranch
from transom.physical.nodes.windows import ReadStream
from transom.spark.columns import TICK
from transom.spark.expressions.types import let_interpreted
from transom.spark.frames import LoweringContext, value_names
from transom.spark.rdf.patterns import first_positions, term_text, window_end
from transom.spark.sources import read_stream
from transom.spark.windows import inserts_and_deletes

_TERMS = [attribute.name for attribute in STATEMENT]
_PREDICATE = 1

BoundVariables = Mapping[str, Column]
"""The columns of variables that are already bound."""


def message_star_match(node: MessageStarMatch, run: LoweringContext) -> DataFrame:
    """Match triple patterns with one subject in each message (array of statements); emit solution changes."""
    assert isinstance(node.input, ReadStream)  # noqa: S101 - the planner puts it above a stream only
    constant = not any(isinstance(branch.terms[_PREDICATE], expression.Column) for branch in node.branches)
    matched = read_stream(
        node.input, run, lambda frame: (_match_constant_predicates if constant else _match_any_predicates)(node, frame)
    )
    rows = matched.select(TICK, F.inline("c0")).drop("_")
    return inserts_and_deletes(rows, window_end(run.time.tick_number(), *node.window), run, value_names(node.schema))


def _match_any_predicates(node: MessageStarMatch, frame: DataFrame) -> DataFrame:
    """Replace each message's statements in `c0` by solutions of the node's triple patterns, even `?s ?p ?o`."""
    return frame.withColumn("c0", _match_patterns(node, F.col("c0"), node.branches, {}))


def _match_constant_predicates(node: MessageStarMatch, frame: DataFrame) -> DataFrame:
    """Replace each message's statements by the solutions of patterns whose predicates are constants.

    Expressions that are used several times have their own projection; otherwise Spark would compute them at each use.
    """
    names = [name for name in frame.columns if name != "c0"]
    message, predicates = F.col("c0"), F.col("c0")["p"]
    predicate_terms = list(dict.fromkeys(str(branch.terms[_PREDICATE]) for branch in node.branches))
    positions = [
        F.array_position(predicates, F.lit(term)).cast("int").alias(f"i{n}") for n, term in enumerate(predicate_terms)
    ]
    are_distinct = F.coalesce(F.size(F.array_distinct(predicates)) == F.size(predicates), F.lit(False))
    searched = frame.select(*names, message, are_distinct.alias("once"), *positions)
    cells = [
        F.get(message[term], F.col(f"i{n}") - F.lit(1)).alias(f"{term}{n}")
        for n in range(len(predicate_terms))
        for term in "so"
    ]
    statements = searched.select(*names, F.when(~F.col("once"), message).alias("other"), "once", *cells)
    bound: dict[str, Column] = {}
    conditions: list[Column] = []
    for branch in node.branches:
        n = predicate_terms.index(str(branch.terms[_PREDICATE]))
        statement = [F.col(f"s{n}"), F.lit(predicate_terms[n]), F.col(f"o{n}")]
        conditions += [F.col(f"s{n}").isNotNull(), *_conditions(branch, statement, bound)]
        bound |= {
            name: statement[position] for name, position in first_positions(branch.terms).items() if name not in bound
        }
    solution = F.when(reduce(and_, conditions), F.array(_solution_struct(node, bound)))
    all_solutions = let_interpreted([F.col("other")], lambda message: _match_patterns(node, message, node.branches, {}))
    return statements.select(*names, F.when(F.col("once"), solution).otherwise(all_solutions).alias("c0"))


def _match_patterns(
    node: MessageStarMatch, message: Column, branches: Sequence[PatternBranch], bound: BoundVariables
) -> Column:
    """Return the array of a message's solutions of the patterns `branches`; `bound`: variables of earlier patterns."""
    if not branches:
        return F.array(_solution_struct(node, bound))
    branch, *later_branches = branches

    def fits(statement: Column) -> Column:
        """Whether a statement (struct of three terms) matches the next triple pattern, given the bound variables."""
        return reduce(and_, _conditions(branch, [statement[term] for term in _TERMS], bound), F.lit(True))

    def extend_matches(statement: Column) -> Column:
        """Return the solutions with this matching statement: bind its variables, match the later patterns."""
        new_variables = {name: statement[_TERMS[position]] for name, position in first_positions(branch.terms).items()}
        return _match_patterns(node, message, later_branches, {**new_variables, **bound})

    return F.flatten(F.transform(F.filter(message, fits), extend_matches))


def _conditions(branch: PatternBranch, statement: Sequence[Column], bound: BoundVariables) -> list[Column]:
    """Return the conditions for a statement (s, p, o) to match a triple pattern with the terms of `bound` variables."""
    first = first_positions(branch.terms)
    conditions = []
    for position, term in enumerate(branch.terms):
        if not isinstance(term, expression.Column):
            conditions.append(statement[position] == F.lit(term_text(term)))
        elif term.name in bound:
            conditions.append(statement[position] == bound[term.name])
        elif first[term.name] != position:
            conditions.append(statement[position] == statement[first[term.name]])
    return conditions


def _solution_struct(node: MessageStarMatch, bound: BoundVariables) -> Column:
    """Build a solution as a struct of the values `c0`, `c1`, ..., from the columns of its bound variables."""
    cells = (bound[a.name].alias(f"c{n}") for n, a in enumerate(node.schema))
    return F.struct(*cells, F.lit(0).alias("_"))  # never a struct without fields
