"""Stars of patterns matched inside a message, where all statements about a subject come together.

The solutions of a message are one value, a list, made directly above the scan: the message itself goes no further. Most
messages have each predicate once. For these, Spark compiles the search; any other is searched pattern by pattern.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra import expressions
from transom.physical.plan import Read
from transom.physical.rdf_plan import STATEMENT, Branch, Within
from transom.spark.frames import LoweringContext, names
from transom.spark.marks import TICK
from transom.spark.rdf_patterns import first_places, gone, spelled
from transom.spark.sources import read
from transom.spark.types import aside
from transom.spark.windows import comings_and_goings

_TERMS = [attribute.name for attribute in STATEMENT]
_PREDICATE = 1

Known = Mapping[str, Column]
"""The variables that have a term already."""


def within(node: Within, run: LoweringContext) -> DataFrame:
    """The solutions of a star inside each message: statements about one subject."""
    assert isinstance(node.input, Read)  # noqa: S101 - the planner puts it above a stream only
    constant = not any(isinstance(branch.places[_PREDICATE], expressions.Column) for branch in node.branches)
    found = read(node.input, run, lambda frame: (_by_position if constant else _one_by_one)(node, frame))
    rows = found.select(TICK, F.inline("c0")).drop("_")
    return comings_and_goings(rows, gone(run.time.number(), *node.window), run, names(node.schema))


def _one_by_one(node: Within, frame: DataFrame) -> DataFrame:
    """All solutions of each message, as a list of structs in place of the message."""
    return frame.withColumn("c0", _pattern_by_pattern(node, F.col("c0"), node.branches, {}))


def _by_position(node: Within, frame: DataFrame) -> DataFrame:
    """The same where all predicates are known: a message that has none of them twice has one solution or none.

    What is named several times has a step of its own, or Spark would compute it in each place.
    """
    kept = [name for name in frame.columns if name != "c0"]
    message, predicates = F.col("c0"), F.col("c0")["p"]
    wanted = list(dict.fromkeys(str(branch.places[_PREDICATE]) for branch in node.branches))
    places = [F.array_position(predicates, F.lit(term)).cast("int").alias(f"i{n}") for n, term in enumerate(wanted)]
    once = F.coalesce(F.size(F.array_distinct(predicates)) == F.size(predicates), F.lit(False))
    found = frame.select(*kept, message, once.alias("once"), *places)
    cells = [
        F.get(message[term], F.col(f"i{n}") - F.lit(1)).alias(f"{term}{n}") for n in range(len(wanted)) for term in "so"
    ]
    taken = found.select(*kept, F.when(~F.col("once"), message).alias("other"), "once", *cells)
    known: dict[str, Column] = {}
    conditions: list[Column] = []
    for branch in node.branches:
        n = wanted.index(str(branch.places[_PREDICATE]))
        statement = [F.col(f"s{n}"), F.lit(wanted[n]), F.col(f"o{n}")]
        conditions += [F.col(f"s{n}").isNotNull(), *_conditions(branch, statement, known)]
        known |= {name: statement[place] for name, place in first_places(branch.places).items() if name not in known}
    one = F.when(reduce(and_, conditions), F.array(_solution(node, known)))
    every = aside([F.col("other")], lambda message: _pattern_by_pattern(node, message, node.branches, {}))
    return taken.select(*kept, F.when(F.col("once"), one).otherwise(every).alias("c0"))


def _pattern_by_pattern(node: Within, message: Column, branches: Sequence[Branch], known: Known) -> Column:
    """The solutions in any message: for each statement that fits the first pattern, those of the others."""
    if not branches:
        return F.array(_solution(node, known))
    branch, *others = branches

    def fits(statement: Column) -> Column:
        return reduce(and_, _conditions(branch, [statement[term] for term in _TERMS], known), F.lit(True))

    def rest(statement: Column) -> Column:
        new = {name: statement[_TERMS[place]] for name, place in first_places(branch.places).items()}
        return _pattern_by_pattern(node, message, others, {**new, **known})

    return F.flatten(F.transform(F.filter(message, fits), rest))


def _conditions(branch: Branch, statement: Sequence[Column], known: Known) -> list[Column]:
    """When a statement fits a pattern, given what is known; a variable that stands twice finds one term (R11)."""
    first = first_places(branch.places)
    found = []
    for at, place in enumerate(branch.places):
        if not isinstance(place, expressions.Column):
            found.append(statement[at] == F.lit(spelled(place)))
        elif place.name in known:
            found.append(statement[at] == known[place.name])
        elif first[place.name] != at:
            found.append(statement[at] == statement[first[place.name]])
    return found


def _solution(node: Within, known: Known) -> Column:
    cells = (known[a.name].alias(f"c{place}") for place, a in enumerate(node.schema))
    return F.struct(*cells, F.lit(0).alias("_"))  # never a struct without fields
