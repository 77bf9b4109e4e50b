"""Compare the query of a checkpoint with another: what changed, and which operators keep their state."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from transom.runtime.checkpoint.fingerprint import SOURCE_OF, changed_entries, fingerprint, node_identity
from transom.runtime.checkpoint.notes import HINTS, about
from transom.runtime.checkpoint.remembered import Remembered

if TYPE_CHECKING:
    from transom.runtime.job import Job

PLAN = "the plan"


class Fate(StrEnum):
    """What becomes of the state of an operator if a run of the query starts.

    A run that resumes the checkpoint keeps it. In a new checkpoint, an operator that both plans have is rebuilt from
    rows that are read again.
    """

    KEPT = "kept"
    REBUILT = "rebuilt"
    NEW = "new"
    LOST = "lost"


@dataclass(frozen=True)
class OperatorState:
    """An operator of either plan, and what becomes of its state; None if it is unknown whether it keeps any."""

    operator: str
    executor: str
    has_state: bool | None
    fate: Fate


@dataclass(frozen=True)
class Difference:
    """How a query differs from the one that a checkpoint belongs to.

    `changes` are those that need a new checkpoint, `ignored` those of hints, which change no answer. Both have a
    description for each name. `text` is the change of the query's text, as lines of a unified diff.
    """

    changes: Mapping[str, str]
    ignored: Mapping[str, str]
    text: tuple[str, ...]
    operators: tuple[OperatorState, ...]

    @property
    def resumes(self) -> bool:
        """Whether a run of the new query can go on from the checkpoint, as no change prevents that."""
        return not self.changes


def user_sources(remembered: Remembered, job: Job) -> list[str]:
    """List the sources that a checkpoint's run read from DataFrames of its caller, not from the catalog.

    The checkpoint records no place for their rows, although the catalog declares one.
    """
    declared = [name.removeprefix(SOURCE_OF) for name in fingerprint(job) if name.startswith(SOURCE_OF)]
    recorded = remembered.fingerprint
    return [name for name in declared if f"extent {name}" in recorded and f"{SOURCE_OF}{name}" not in recorded]


def compare(remembered: Remembered, job: Job, opened_by_caller: Sequence[str] = ()) -> Difference:
    """Compare a checkpoint's query with the query `job`; `opened_by_caller` names sources that the caller opens."""
    now = json.loads(json.dumps(fingerprint(job, opened_by_caller)))
    described = about(job)
    changes = changed_entries(remembered.fingerprint, now)
    operators = _operator_states(
        [*_with_notes(remembered.fingerprint.get(PLAN), remembered.operators)],
        [*_with_notes(now[PLAN], described["operators"])],
        resumes=not changes,
    )
    before, after = remembered.query.strip().split("\n"), job.text.strip().split("\n")
    text = difflib.unified_diff(before, after, "the checkpoint", job.name or "the query", lineterm="", n=1)
    ignored = _changed_hints(remembered.catalog or {}, described["catalog"])
    return Difference(changes, ignored, tuple(text), operators)


def _changed_hints(recorded: Mapping[str, Mapping[str, Any]], now: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Describe, by `HINT of EXTENT`, catalog hints that differ (entries that change no answer), of extents in both."""
    changed = {}
    for extent in recorded.keys() & now.keys():
        for hint in HINTS:
            before, after = recorded[extent].get(hint), now[extent].get(hint)
            if before != after:
                name = f"{hint} of {extent}"
                changed[name] = f"{name} was {_shown(before)}, and is {_shown(after)}"
    return dict(sorted(changed.items()))


def _shown(value: Any) -> str:
    """Format the value of a hint, a catalog entry that changes no answer, for a message."""
    return "not set" if value is None else value if isinstance(value, str) else json.dumps(value)


def _with_notes(plan: Any, notes: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, OperatorState]]:
    """Yield (identity as JSON, description from `notes`) for each node of a plan, each before its inputs.

    A checkpoint of an earlier version has no `notes`, so the name of the node describes it.
    """
    nodes = [*_nodes(plan)]
    for number, node in enumerate(nodes):
        note = notes[number] if len(notes) == len(nodes) else {}
        yield (
            json.dumps(node_identity(node)),
            OperatorState(
                str(note.get("operator", node.get("node"))), str(node.get("executor")), note.get("state"), Fate.LOST
            ),
        )


def _nodes(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield all nodes in the JSON values of a plan, each before its inputs."""
    if isinstance(value, dict) and "code" in value:
        yield value
        value = list(value.get("fields", {}).values())
    if isinstance(value, list):
        for part in value:
            yield from _nodes(part)


def _operator_states(
    before: Sequence[tuple[str, OperatorState]], after: Sequence[tuple[str, OperatorState]], *, resumes: bool
) -> tuple[OperatorState, ...]:
    """Return each operator's state as kept (if the query `resumes`), rebuilt or new; removed operators come last."""
    remaining = Counter(identity for identity, _ in before)
    states = []
    for identity, operator in after:
        common = remaining[identity] > 0
        remaining[identity] -= common
        fate = Fate.KEPT if resumes else Fate.REBUILT if common else Fate.NEW
        states.append(OperatorState(operator.operator, operator.executor, operator.has_state, fate))
    for identity, operator in before:
        if remaining[identity] > 0:
            remaining[identity] -= 1
            states.append(operator)
    return tuple(states)
