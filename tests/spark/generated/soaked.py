"""Texts of SPARQL 1.1 for the soak: drawn so that every feature comes in its turn, and so that a plan stays small.

What a text costs on Spark is the analysis of its plan, not its few statements: about the same for every operator, and
twelve times as much for most calls in an expression. So most texts have small plans, and one in every part a large one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from tests.rdf.build import rows
from tests.rdf.generated.met import features
from tests.rdf.generated.oracle import LAST, Case
from tests.rdf.generated.texts import CATALOG, worded
from tests.spark.together import OverRdf
from transom.algebra.expressions.expression import Call
from transom.algebra.tree import reads_streams
from transom.errors import Unsupported
from transom.languages.sparql import syntax
from transom.languages.sparql.parse import parse
from transom.languages.sparql.scope import find_nodes
from transom.languages.sparql.translate import translate
from transom.model.rdf.answer import RdfAnswer
from transom.physical.nodes.node import PhysicalNode, is_node
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import KernelMode
from transom.query import Query
from transom.reference.rdf.evaluate import change_instants, evaluate, timed_operators
from transom.runtime.verify.micro_batches import Split

ORDERED = "ORDER BY and LIMIT"
RARE = {
    **{word: word for word in ("UNION", "VALUES", "BIND", "GRAPH")},
    "EXISTS or NOT EXISTS": "EXISTS",
}
"""Features that few texts with small plans have, and the words of which they have one."""
FEATURES = {"aggregates", "paths", "subqueries", "MINUS", "OPTIONAL", ORDERED, *RARE}
FORMS = {"SELECT", "CONSTRUCT", "DESCRIBE", "ASK"}
SMALL, MIDDLE, LARGE = 35, 60, 250
"""What a plan may cost: of a text, of one with a rare feature, of one that may be large."""
LENGTH = 120
"""So many characters has the pattern of most texts with small plans, at most."""
SIMPLE = {"STR", "DATATYPE", "isBLANK", "isIRI", "isLITERAL", "BOUND", "!", "&&", "||", "IF", "COALESCE"}
"""Functions that Spark has small expressions for."""
STREAMED_EVERY = 8
"""Of so many texts, one is run as a stream, and the others as a replay."""


@dataclass(frozen=True)
class Soaked:
    """A text with its inputs and its answer, and how it is run: without a split it is a replay."""

    seed: int
    text: str
    features: frozenset[str]
    asked: OverRdf
    expected: RdfAnswer
    split: Split | None
    kernel: KernelMode

    @property
    def way(self) -> str:
        """How it is run, in words."""
        return f"{'a replay' if self.split is None else 'a stream'}, kernel {self.kernel}"


def drawn(first: int, count: int) -> Iterator[Soaked]:
    """So many texts that have an answer over streams, from a seed on; no text comes twice."""
    seed, seen = first, set[str]()
    for number in range(count):
        one = None
        while one is None or one.text in seen:
            seed += 1
            one = _drawn(seed, number)
        seen.add(one.text)
        yield one


def _drawn(seed: int, number: int) -> Soaked | None:
    """The text of a seed, if it fits a number and has two rows of answer."""
    case = worded(seed)
    if not _may_fit(case.ours, number):
        return None
    case.ours = _formed(case, number)
    asked = parse(case.ours)
    case.plan = translate(asked, CATALOG).plan
    query: Query[RdfAnswer] = Query(case.ours, "sparql", CATALOG, asked, case.plan)
    if not reads_streams(case.plan) or not _fits(query, number):
        return None
    expected = evaluate(case.plan, case.inputs)
    if len(rows(expected)) < 2:
        return None
    split, kernel = _way(seed, number)
    name = f"text {seed}, {'replay' if split is None else split}, kernel {kernel}: {case.ours}"
    until = max([LAST, *change_instants(timed_operators(case.plan, case.inputs))])
    over = OverRdf(name, query, case.inputs, until)
    return Soaked(seed, case.ours, frozenset(met(case.ours)), over, expected, split, kernel)


def _may_fit(text: str, number: int) -> bool:
    """A look at a text before it is read: whether it has a rare feature, every third time, and is not too long."""
    rare = any(word in text for word in RARE.values())
    return _is_large(number) or (
        len(text.partition(" WHERE ")[2]) <= (2 if rare else 1) * LENGTH and (rare or number % 3 != 1)
    )


def _fits(query: Query[RdfAnswer], number: int) -> bool:
    """Whether a text has a feature, every third time a rare one, and a plan that does not cost too much."""
    has = set(met(query.text))
    limit = LARGE if _is_large(number) else MIDDLE if has & RARE.keys() else SMALL
    try:
        return bool(has & (RARE.keys() if number % 3 == 1 else FEATURES)) and cost(query.physical()) <= limit
    except Unsupported:
        return False


def _is_large(number: int) -> bool:
    """Whether a text may have a large plan."""
    return number % 32 == 30


def _way(seed: int, number: int) -> tuple[Split | None, KernelMode]:
    """How a text is run: most as a replay, every eighth as a stream in a few pieces."""
    turn, last = divmod(number, STREAMED_EVERY)
    if last < STREAMED_EVERY - 1:
        return None, "off" if last % 4 == 1 else "on"
    chance = random.Random(f"split {seed}")
    split = replace(Split(seed=seed), times=chance.choice([2, 3, 4])) if chance.random() < 0.7 else Split()
    return split, "off" if turn % 2 else "on"


def _formed(case: Case, number: int) -> str:
    """The text, or by turns a CONSTRUCT or DESCRIBE of what its SELECT finds."""
    if not case.names or number % 6:
        return case.ours
    head, _, rest = case.ours.partition(" FROM STREAM ")
    sources, _, tail = rest.partition(" WHERE ")
    one, other = f"?{case.names[0]}", f"?{case.names[-1]}"
    template = f"{{ {one} :found {other} . _:new :of {one} ; :with {other} }}"
    form = f"DESCRIBE {one}" if number % 12 else f"CONSTRUCT {template}"
    return f"{form} FROM STREAM {sources} WHERE {{ {head} WHERE {tail} }}"


def met(text: str) -> Iterator[str]:
    """What of SPARQL 1.1 a text has, its form included."""
    form = parse(text).form
    yield from features(text)
    yield type(form).__name__.upper()
    if any(one.modifiers.limit is not None for one in find_nodes(form, syntax.Select)):
        yield ORDERED


def cost(plan: PhysicalNode) -> int:
    """About what it costs to run a plan: one for an operator, two for a simple call, twelve for another."""
    return sum(1 + _calls(node) for node in walk(plan))


def _calls(part: Any) -> int:
    """What the calls in the expressions of an operator cost."""
    if isinstance(part, tuple | list):
        return sum(map(_calls, part))
    if not is_dataclass(part):
        return 0
    inner = sum(_calls(one) for field in fields(part) if not is_node(one := getattr(part, field.name)))
    return inner + (isinstance(part, Call) and (2 if part.function.name in SIMPLE else 12))
