"""The hand-over of a checkpoint: a changed query goes on where the query of an older checkpoint stood.

The older checkpoint says up to which tick its sink has all answers. It is marked, so that its query never goes on and
no answer comes twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.connectors.private_files import make_folder
from transom.errors import CheckpointError, Unavailable, UsageError
from transom.runtime.checkpoint.checkpoint import EPOCH_FOLDER, Checkpoint
from transom.runtime.checkpoint.lock import LOCK_FILE, CheckpointLock
from transom.runtime.checkpoint.logs.spark_files import LocalFolder
from transom.runtime.checkpoint.logs.spark_logs import batch_watermark
from transom.runtime.checkpoint.notes import ANSWERS_CLOSED_TICKS
from transom.runtime.checkpoint.remembered import ABOUT, PLAN_FILE
from transom.runtime.checkpoint.sealed import damaged_file, write_atomically
from transom.spark.event_time import TickTime

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from transom.model.time import Calendar

HANDOVER_FILE = "handover.json"
"""The file in an older checkpoint that names the checkpoint that goes on, and the last tick that it answered."""
REBUILT_FILE = "rebuilt.json"
"""The file in a checkpoint that was rebuilt: the number of its last older part, and the tick of the hand-over."""
WITHHELD_FILE = "withheld"
"""The file with the number of a micro-batch that was begun and not delivered, because the query was being stopped."""
PREDECESSOR_FILE = "predecessor.json"
"""The file in a checkpoint whose query takes over from one that may still be running: which one, and since when."""
OLDER_FOLDER = "before"
"""The folder with the older parts of a checkpoint that was rebuilt, by number."""
ANNOUNCED = "announced"
"""The entry of a mark of a hand-over that has not happened yet."""
_ANEW_HINT = "start the query with a new checkpoint and --since"


@dataclass(frozen=True)
class Handover:
    """Where an older query stood: its last closed tick, and the first tick that it counted if that is known."""

    tick: int
    first: int = 0


@dataclass(frozen=True)
class Predecessor:
    """The run from which a run takes over while both may be running; `tick` is that of the hand-over, None before."""

    run: str
    folder: Path
    tick: int | None
    first: int = 0


def read_handover(spark: SparkSession, older: Path, calendar: Calendar) -> Handover:
    """Return the last tick whose answers an older query has delivered in full; the caller holds the checkpoint's lock.

    Raises CheckpointError if the checkpoint is missing, damaged, in the middle of a micro-batch, or has no closed tick.
    """
    if not (older / PLAN_FILE).exists():
        raise CheckpointError(f"{older} is not a checkpoint", hint="name the folder that the older query resumes from")
    checkpoint = Checkpoint.open(spark, older)
    checkpoint.check()
    recorded: dict[str, Any] = json.loads((older / PLAN_FILE).read_bytes())
    check_calendar(older, recorded, calendar)
    _check_taken_over(older)
    logs = checkpoint.logs
    if logs.planned > logs.committed and _withheld(older) != logs.planned:
        raise CheckpointError(
            f"micro-batch {logs.planned} of {older} was begun and not finished, so its answers may be in the sink",
            hint="start its query as it was, stop it with SIGTERM, and hand over then",
        )
    return handover_after(checkpoint, recorded, logs.committed, calendar)


def handover_after(checkpoint: Checkpoint, plan_record: Mapping[str, Any], batch: int, calendar: Calendar) -> Handover:
    """Return the last tick fully answered after micro-batch `batch`; CheckpointError if none; `plan_record`: plan.json.

    `plan_record` is the content of its `plan.json`. Raises CheckpointError if no tick was closed by then.
    """
    if batch >= 0 and "state" not in checkpoint.files.entries(""):
        raise CheckpointError(
            f"the query of {checkpoint.folder} keeps no state, so it has no tick up to which it has answered",
            detail="it answers each row at once, and a row may also be in windows of later ticks",
            hint=_ANEW_HINT,
        )
    if not plan_record.get(ABOUT, {}).get(ANSWERS_CLOSED_TICKS, False):
        raise CheckpointError(
            f"the query of {checkpoint.folder} also answers ticks that are not closed",
            detail="it gives each row at once in all its windows, or an earlier version made the checkpoint",
            hint=f"{_ANEW_HINT} and a new sink",
        )
    closed = closed_tick(checkpoint, plan_record, batch, calendar)
    if closed is None:
        raise CheckpointError(
            f"no tick of {checkpoint.folder} is closed",
            detail="its query has just begun, and has answered nothing",
            hint=_ANEW_HINT,
        )
    return Handover(closed, 0 if plan_record.get("since") is not None else plan_record.get("start", 0))


def closed_tick(checkpoint: Checkpoint, plan_record: Mapping[str, Any], batch: int, calendar: Calendar) -> int | None:
    """Return the last tick fully answered after micro-batch `batch`, None if none; `plan_record`: content of plan.json.

    `plan_record` has the last tick of the run, as its options or its `plan.json` say.
    """
    watermark = 0 if batch < 0 else batch_watermark(checkpoint.files, batch)
    if watermark <= 0:
        return None
    closed, until = TickTime(calendar).last_closed_tick(watermark), plan_record.get("until")
    return closed if until is None else min(closed, until)


def check_calendar(older: Path, plan_record: Mapping[str, Any], calendar: Calendar) -> None:
    """Raise CheckpointError if the tick length or epoch in `plan_record` (plan.json) differ from the new query's."""
    now = {"the length of a tick": calendar.length, "the epoch": calendar.epoch.isoformat()}
    for name, value in now.items():
        if plan_record.get(name) != value:
            raise CheckpointError(
                f"{older} counts other ticks: {name} was {plan_record.get(name)}, and is {value}",
                hint=f"keep {name} in the catalog",
            )


def mark_withheld(folder: Path, batch: int) -> None:
    """Record that a stopped run has not delivered a micro-batch, which waits for the next start of its query."""
    (folder / WITHHELD_FILE).write_text(str(batch), "utf-8")


def clear_withheld(folder: Path) -> None:
    """Delete the record of a withheld (undelivered) micro-batch, since its query restarts and delivers it."""
    (folder / WITHHELD_FILE).unlink(missing_ok=True)


def _withheld(folder: Path) -> int | None:
    """Return the number of the micro-batch that the last stop did not deliver to the sink; None if there is none."""
    try:
        return int((folder / WITHHELD_FILE).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None


def take_over(spark: SparkSession, older: Path, newer: Path, calendar: Calendar) -> Handover:
    """Return the last complete tick of a stopped older query, and record that checkpoint `newer` continues it.

    A repeated call for the same `newer` returns the same. Raises Unavailable while the older query runs, and
    CheckpointError if its checkpoint was handed over to another one.
    """
    if older.resolve() == newer.resolve():
        raise UsageError(f"{older} cannot go on after itself", hint="give a new folder with --checkpoint")
    if not (older / PLAN_FILE).exists():
        raise CheckpointError(f"{older} is not a checkpoint", hint="name the folder that the older query resumes from")
    _mark_for(older, newer)
    try:
        lock = CheckpointLock(older).acquire()
    except Unavailable as running:
        raise Unavailable(
            running.message,
            detail="a query takes over from a running one only if both write to the same PostgreSQL database and it "
            "answers no tick before it is closed",
            hint="stop the older query with SIGTERM first",
        ) from None
    try:
        mark = _mark_for(older, newer)
        if mark is not None and not mark.get(ANNOUNCED):
            return Handover(mark["tick"], mark["first"])
        Checkpoint.open(spark, older).take_over()  # a run on another host may not hold the lock of this one
        handover = read_handover(spark, older, calendar)
        (newer / PREDECESSOR_FILE).unlink(missing_ok=True)  # of a takeover that was announced and never began
        mark_handed_over(older, newer.resolve(), handover)
        return handover
    finally:
        lock.release()


def _mark_for(older: Path, newer: Path) -> dict[str, Any] | None:
    """Return the record that `older` was handed over to `newer`, or None; CheckpointError if it was to another one."""
    mark = _read(older / HANDOVER_FILE)
    if mark is not None and mark["to"] != str(newer.resolve()):
        raise _handed_over_error(older, mark)
    return mark


def mark_handed_over(older: Path, newer: Path, handover: Handover, *, announced: bool = False) -> None:
    """Record in `older` that checkpoint `newer` continues its query; `announced`: it will, but has not yet.

    If `announced`, its query goes on until the database of its sink says that the newer one has taken over.
    """
    mark = {
        "to": str(newer),
        "tick": handover.tick,
        "first": handover.first,
        **({ANNOUNCED: True} if announced else {}),
    }
    _write(older / HANDOVER_FILE, mark)


def is_handed_over(folder: Path) -> bool:
    """Whether a newer checkpoint has replaced this one, whose query must not start again from it."""
    mark = _read(folder / HANDOVER_FILE)
    return mark is not None and not mark.get(ANNOUNCED)


def refuse_handed_over(folder: Path, *, announced: bool = False) -> None:
    """Raise CheckpointError if a newer checkpoint replaced this one or, with `announced`, will do so."""
    mark = _read(folder / HANDOVER_FILE)
    if mark is not None and (announced or not mark.get(ANNOUNCED)):
        raise _handed_over_error(folder, mark)


def read_predecessor(folder: Path) -> Predecessor | None:
    """Return the older run that a checkpoint's run replaces while both are running; None if it replaces none."""
    file = folder / PREDECESSOR_FILE
    try:
        content = json.loads(file.read_bytes())
        tick = content["tick"]
        return Predecessor(str(content["run"]), Path(content["folder"]), tick and int(tick), int(content["first"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise damaged_file(file, str(error)) from error


def write_predecessor(folder: Path, predecessor: Predecessor) -> None:
    """Record in the checkpoint `folder` the older run that this run replaces while both are running."""
    content = {"run": predecessor.run, "folder": str(predecessor.folder)}
    _write(folder / PREDECESSOR_FILE, content | {"tick": predecessor.tick, "first": predecessor.first})


def _check_taken_over(folder: Path) -> None:
    """Raise CheckpointError if a checkpoint's run has not yet replaced the older run that it was started after."""
    predecessor = read_predecessor(folder)
    if predecessor is not None and predecessor.tick is None:
        raise CheckpointError(
            f"the query of {folder} has not taken over from {predecessor.folder} yet",
            hint=f"start it again until it has caught up, or go on after {predecessor.folder}",
        )


def _handed_over_error(folder: Path, mark: dict[str, Any]) -> CheckpointError:
    """Build the error for a checkpoint that a newer one has replaced, or will; `mark` is the record of that."""
    if mark.get(ANNOUNCED):
        return CheckpointError(
            f"the query of {mark['to']} is about to take over from {folder}",
            hint=f"start the query of that checkpoint, or delete {folder / HANDOVER_FILE} if it never runs again",
        )
    return CheckpointError(
        f"the checkpoint {folder} was handed over to {mark['to']} after tick {mark['tick']}",
        hint=f"start the query of that checkpoint, or delete {folder / HANDOVER_FILE} if that query never started",
    )


def rebuild(spark: SparkSession, folder: Path, calendar: Calendar) -> Handover:
    """Move a checkpoint's files aside to start it anew, and return the last tick whose answers are complete.

    A kill in the middle is completed by `finish_rebuild`, which the next start calls. Raises CheckpointError if the
    checkpoint was handed over to another one, which answers the later ticks.
    """
    lock = CheckpointLock(folder).acquire()
    try:
        _open_to_rebuild(spark, folder).take_over()
        handover = read_handover(spark, folder, calendar)
        earlier = _read(folder / REBUILT_FILE)
        number = 1 if earlier is None else int(earlier["number"]) + 1
        _write(folder / REBUILT_FILE, {"number": number, "tick": handover.tick, "first": handover.first})
        _move_aside(folder, number)
        return handover
    finally:
        lock.release()


def check_rebuild(spark: SparkSession, folder: Path, calendar: Calendar) -> Handover:
    """Return the hand-over that `rebuild` would begin with now; raise its error if it would refuse.

    Nothing is changed and no lock is taken, so the query of the checkpoint may run meanwhile.
    """
    checkpoint = _open_to_rebuild(spark, folder)
    checkpoint.inspect()
    recorded: dict[str, Any] = json.loads((folder / PLAN_FILE).read_bytes())
    check_calendar(folder, recorded, calendar)
    _check_taken_over(folder)
    return handover_after(checkpoint, recorded, checkpoint.logs.committed, calendar)


def _open_to_rebuild(spark: SparkSession, folder: Path) -> Checkpoint:
    """Open a checkpoint that is rebuilt; CheckpointError if it was handed over, UsageError if it is not a local one."""
    refuse_handed_over(folder, announced=True)
    checkpoint = Checkpoint.open(spark, folder)
    if not isinstance(checkpoint.files, LocalFolder):
        raise UsageError(
            f"{folder} is not on a local disk, and is not rebuilt", hint="give a new checkpoint and --after"
        )
    return checkpoint


def finish_rebuild(folder: Path) -> Handover | None:
    """Complete an interrupted rebuild; return the replaced query's last complete and first tick, None if no rebuild."""
    journal = _read(folder / REBUILT_FILE)
    if journal is None:
        return None
    if not (folder / OLDER_FOLDER / str(journal["number"]) / PLAN_FILE).exists():
        lock = CheckpointLock(folder).acquire()
        try:
            _move_aside(folder, journal["number"])
        finally:
            lock.release()
    return Handover(journal["tick"], journal["first"])


def _move_aside(folder: Path, number: int) -> None:
    """Move a checkpoint's files into the subfolder named `number` of its folder of older parts, `plan.json` last.

    The epochs stay, so that a run of the older query on another host is fenced.
    """
    older = folder / OLDER_FOLDER / str(number)
    make_folder(older)
    kept = (LOCK_FILE, EPOCH_FOLDER, OLDER_FOLDER, REBUILT_FILE, PLAN_FILE)
    for name in sorted(path.name for path in folder.iterdir() if path.name not in kept):
        os.replace(folder / name, older / name)
    os.replace(folder / PLAN_FILE, older / PLAN_FILE)


def _read(file: Path) -> dict[str, Any] | None:
    """Read the record of a handover or rebuild; None if the file is missing, CheckpointError if it is damaged."""
    try:
        content: dict[str, Any] = json.loads(file.read_bytes())
        return {**content, "tick": int(content["tick"]), "first": int(content["first"])}
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError) as error:
        raise damaged_file(file, str(error)) from error


def _write(file: Path, content: dict[str, Any]) -> None:
    """Write a JSON file so that a kill never leaves half of it."""
    write_atomically(file, json.dumps(content, indent=1))
