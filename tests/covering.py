"""The golden cases of all languages, and a few of them whose plans have every kind of physical node."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import Literal, get_args

import transom
from tests.cases import Case, catalog_of, golden_cases
from tests.sparql.test_golden import catalog_of as rdf_catalog_of
from transom.errors import Unsupported
from transom.physical.nodes.keyed_windows import RelationNode
from transom.physical.nodes.node import PhysicalNode, is_node
from transom.physical.nodes.rdf import RdfNode
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import Executor, RowNode

NODES: tuple[type[PhysicalNode], ...] = (*get_args(RowNode), *get_args(RelationNode), *get_args(RdfNode))
"""All nodes of the planner."""
Language = Literal["sneeql", "cql", "sparql"]
LANGUAGES: tuple[Language, ...] = ("sneeql", "cql", "sparql")
Kind = tuple[str, str, str]
"""The class of a node, the path that it takes (native, Python, kernel), and one of its choices (`ordered=True`)."""


@cache
def cases(language: Language) -> list[Case]:
    """The golden cases of a language that have an answer."""
    found = golden_cases("streaming-sparql" if language == "sparql" else language)
    return [case for case in found if case.expected["kind"] != "error"]


def plan_of(case: Case, language: Language, *, kernel: bool) -> PhysicalNode | None:
    """The plan of a case as the tests run it, with the index of its tuples; None if Spark does not run it."""
    try:
        if language == "sparql":
            return transom.compile(case.text, rdf_catalog_of(case), language="sparql").physical(kernel=kernel)
        query = transom.compile(case.text, catalog_of(case.schema), language=language)
        index = language == "sneeql" and query.result_kind == "tagged-tuples"
        return query.physical(index=index, kernel=kernel)
    except Unsupported:
        return None


def kinds(plan: PhysicalNode) -> set[Kind]:
    """The kinds of nodes in a plan: a class counts once for every value of each flag and enumeration that it has."""
    found: set[Kind] = set()
    for node in walk(plan):
        name, path = type(node).__name__, node.decision.executor.name
        found |= {(name, path, choice) for choice in ["", *_choices(node)]}
    return found


def _choices(node: PhysicalNode) -> Iterator[str]:
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, bool | Enum):
            yield f"{field.name}={value}"
        elif is_node(value):
            yield f"{field.name}.form={value.form}"


@cache
def kinds_by_case(language: Language, *, kernel: bool) -> dict[str, set[Kind]]:
    """The kinds of nodes in the plan of every case that reads a stream."""
    plans = {case.name: plan_of(case, language, kernel=kernel) for case in cases(language)}
    found = {name: kinds(plan) for name, plan in plans.items() if plan is not None}
    return {name: shown for name, shown in found.items() if any(node == "ReadStream" for node, _, _ in shown)}


@cache
def covering(language: Language, *, kernel: bool) -> list[str]:
    """The names of few cases that have all kinds of nodes of a language between them.

    Without the kernel they are those that run in Python: Spark's own operators are the same with the kernel.
    """
    return greedy(wanted(language, kernel=kernel))


def wanted(language: Language, *, kernel: bool) -> dict[str, set[Kind]]:
    """The kinds that must run row by row, by case."""
    shown = kinds_by_case(language, kernel=kernel)
    return {name: {kind for kind in own if kernel or kind[1] != Executor.NATIVE.name} for name, own in shown.items()}


def greedy(shown: Mapping[str, set[Kind]]) -> list[str]:
    """Names whose sets have every member of all sets: again and again the one that adds most."""
    missing = set().union(*shown.values())
    chosen: list[str] = []
    while missing:
        best = max(shown, key=lambda name: len(shown[name] & missing))
        chosen.append(best)
        missing -= shown[best]
    return chosen
