"""The command `state`: what a query remembers, from its checkpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from transom.cli import output
from transom.cli.arguments import Quiet
from transom.cli.output import warn, write_data
from transom.cli.run import MasterOption, require_spark, start_session
from transom.printable import escape, escape_json, escape_lines

if TYPE_CHECKING:
    from transom.machines.entries import StateEntry
    from transom.runtime.state.reading import CheckpointState, NodeState


class StateFormat(StrEnum):
    """How `state` shows what a query remembers."""

    text = "text"
    json = "json"


def show_state(
    checkpoint: Annotated[Path, typer.Argument(metavar="DIR", help="The checkpoint of a query, which may be running.")],
    key: Annotated[
        str | None, typer.Option("--key", "-k", metavar="K", help="Print what is remembered of this key; 7 or 7,north.")
    ] = None,
    format: Annotated[StateFormat, typer.Option(help="For people or for programs.")] = StateFormat.text,
    master: MasterOption = None,
    quiet: Quiet = False,
) -> None:
    """Show how many rows each operator of a query remembers, and its bound; the checkpoint is not changed."""
    output.set_verbosity(quiet=quiet)
    folder = checkpoint.absolute()
    require_spark()
    from transom.runtime.state.reading import check_folder, read_state

    check_folder(folder)
    state = read_state(start_session(master), folder, key)
    if format is StateFormat.json:
        write_data(json.dumps(to_json(state, key), ensure_ascii=False, indent=2, default=str), escape_json)
        return
    for line in state_lines(state, key):
        write_data(line, escape_lines)
    for node in state.nodes:
        for stored in node.operators:
            if stored.not_decoded:
                what = "is not decoded" if stored.kept else "cannot be read"
                warn(f"warning: the state of {escape(node.title)} {what}: {escape(stored.not_decoded)}")


def state_lines(state: CheckpointState, key: str | None) -> Iterator[str]:
    """Yield the lines that the command `state` prints; with a `key`, such as `7,north`, also its state entries."""
    yield f"micro-batch {state.batch}, watermark {_instant(state.watermark)}"
    if not state.nodes:
        yield "the query keeps no state"
    for node in state.nodes:
        yield escape(node.title)
        yield f"  {_usage(node)}"
        for stored in node.operators:
            if stored.kept is not None:
                counts = [] if stored.kept.keys is None else [f"keys {stored.kept.keys:,}"]
                counts += [f"{part} {count:,}" for part, count in stored.kept.parts.items()]
                yield f"  {stored.name}: {', '.join(counts) or 'nothing'}"
                if key is not None:
                    yield from (f"    {_entry(entry, node.columns)}" for entry in stored.kept.entries)


def _usage(node: NodeState) -> str:
    """Describe how many rows a plan node has in state, and the bound on that number."""
    used = "an unknown number of" if node.used is None else f"{node.used:,}"
    if node.limit is not None:
        return f"{used} of at most {node.limit:,} rows"
    return f"{used} rows" + (f", bound: {escape(node.bound)}" if node.bound else "")


def _entry(entry: StateEntry, columns: Sequence[str]) -> str:
    """Format a state entry: kind (`part`), input's number unless 0, tick, number of equal rows, values by `columns`."""
    parts = [entry.part]
    parts += [f"of side {entry.side}"] if entry.side else []
    parts += [f"at tick {entry.tick}"] if entry.tick is not None else []
    parts += [f"x {entry.copies}"] if entry.copies != 1 else []
    text = " ".join(parts)
    if entry.values is None:
        return text
    named = columns if entry.part in _NAMED else ()
    values = [json.dumps(value, ensure_ascii=False, default=str) for value in entry.values]
    names = [*(f"{name}=" for name in named), *[""] * len(values)]
    return escape(f"{text}: {', '.join(name + value for name, value in zip(names, values, strict=False))}")


_NAMED = ("row", "next row", "waiting")
"""The parts whose values are those of an input row."""


def to_json(state: CheckpointState, key: str | None) -> dict[str, Any]:
    """Convert a checkpoint's state to JSON: `batch`, `watermark`, `nodes`; with the entries of `key` if given."""
    return {
        "batch": state.batch,
        "watermark": _instant(state.watermark),
        "nodes": [_node_json(node, key) for node in state.nodes],
    }


def _node_json(node: NodeState, key: str | None) -> dict[str, Any]:
    """Convert a plan node's state to a JSON object, with its stored entries if a `key` was selected."""
    operators = []
    for stored in node.operators:
        entries: dict[str, Any] = {"id": stored.operator, "name": stored.name}
        if stored.kept is not None:
            kept = stored.kept
            entries |= {"keys": kept.keys, "parts": dict(kept.parts), "rows": kept.rows}
            if key is not None:
                entries["entries"] = [entry._asdict() for entry in kept.entries]
        if stored.not_decoded is not None:
            entries["not_decoded"] = stored.not_decoded
        operators.append(entries)
    return {
        "node": node.title,
        "rows": node.used,
        "bound": {"rows": node.limit, "formula": node.bound},
        "columns": list(node.columns),
        "operators": operators,
    }


def _instant(milliseconds: int) -> str:
    """Format a watermark as an instant in UTC."""
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=milliseconds)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")
