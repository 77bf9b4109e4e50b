"""Notes that a new checkpoint keeps for readers: language, options, extents and plan of its run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from transom.algebra.explain import TreeNode, headline, render_tree
from transom.algebra.state.formula import ZERO
from transom.catalog.extent import Extent
from transom.physical.answer_times import answers_closed_ticks
from transom.physical.nodes.walk import walk
from transom.physical.show import plan_tree
from transom.runtime.checkpoint.remembered import ABOUT, SETTINGS
from transom.runtime.job import Job

HINTS = ("rate", "rows", "keys", "max_rows_per_key", "max_dwell", "max_ahead", "predicates")
"""The entries of an extent that bound state or choose a plan, and change no answer."""
ANSWERS_CLOSED_TICKS = "answers closed ticks"
"""The note of a new checkpoint that says whether its query answers a tick only once it is closed."""
OPTIONS = ("start", "until", "index", "approximate_sums")


def notes(job: Job, settings: Mapping[str, str]) -> dict[str, Any]:
    """Return checkpoint entries that are never compared: Spark `settings`, and a description of the run (options)."""
    return {SETTINGS: dict(settings), ABOUT: about(job)}


def about(job: Job) -> dict[str, Any]:
    """Describe a run in JSON values: language, options, the extents that it reads, and its plan as text."""
    calendar = job.catalog.calendar
    tree = plan_tree(job.plan, lambda formula: {})
    described = {
        "language": job.language,
        "options": {name: getattr(job.options, name) for name in OPTIONS} | {"kernel": job.kernel.used},
        "calendar": {"tick": calendar.length, "epoch": calendar.epoch.isoformat()},
        "catalog": {extent.name: describe_extent(extent) for extent in job.sources},
        "plan": render_tree(tree, "text").split("\n"),
        "operators": [
            {"operator": headline(line), "executor": str(node.decision.executor), "state": node.decision.state != ZERO}
            for line, node in zip(_preorder(tree), walk(job.plan), strict=True)
        ],
        ANSWERS_CLOSED_TICKS: answers_closed_ticks(job.plan),
    }
    return json.loads(json.dumps(described))


def _preorder(tree: TreeNode) -> Iterator[TreeNode]:
    """Yield a node of a displayed plan and all nodes below it, each before the nodes below it."""
    yield tree
    for child in tree.children:
        yield from _preorder(child)


def describe_extent(extent: Extent) -> dict[str, Any]:
    """Describe an extent in JSON values: its attributes, and every entry that the catalog sets."""
    described: dict[str, Any] = {"attributes": [str(attribute) for attribute in extent.schema]}
    for field in fields(extent):
        value = getattr(extent, field.name)
        if field.name not in ("name", "schema", "source") and value not in (None, (), False, 0):
            described[field.name] = _readable(value)
    if extent.source is not None:
        described["source"] = type(extent.source).__name__
    return described


def _readable(value: Any) -> Any:
    """Convert the value of a catalog entry to JSON values; what JSON cannot hold becomes text."""
    if isinstance(value, tuple):
        return [_readable(part) for part in value]
    return value if isinstance(value, bool | int) else str(value)
