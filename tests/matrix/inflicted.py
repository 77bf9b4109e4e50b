"""Faults that damage a stopped run in this process: the run is continued, its error is followed, and rows compared."""

from __future__ import annotations

import contextlib
import time
import warnings
from collections.abc import Iterator

from pyspark.errors import PySparkException

from tests.matrix import damage
from tests.matrix.bench import Bench, Place, printed
from tests.matrix.faults import SAME, Fault, Kind, refused, warned
from tests.matrix.ledger import Record
from tests.matrix.plans import Plan
from tests.matrix.remedies import Remedy, files_to_delete, remedy_of
from tests.spark.kills.chaos import TICKS, last_entry
from tests.spark.kills.chaos_child import begin
from transom.cli.errors import wrap_os_error
from transom.errors import RunWarning, TransomError
from transom.runtime.failures import translate_error, unknown_error

ROOM = 24_000
"""Bytes that are free on a disk that is too small."""


def run_cell(bench: Bench, plan: Plan, fault: Fault) -> Record:
    """Run one cell and judge it."""
    began = time.monotonic()
    place = bench.prepared(plan)
    began_work = time.monotonic() if time.monotonic() - began > 5 else began
    if fault.kind is Kind.DISK:
        outcome, message = _on_small_disk(bench, place, fault)
    else:
        outcome, message = _damaged(bench, place, fault)
    rows, wrong = bench.wrong(place)
    return Record(
        plan.shape,
        fault.name,
        fault.expected_of(plan.shape),
        outcome,
        wrong,
        rows,
        printed(place.balances),
        round(time.monotonic() - began_work, 1),
        message=message.replace(str(bench.folder), "..."),
    )


def _damaged(bench: Bench, place: Place, fault: Fault) -> tuple[str, str]:
    """Damage a stopped run, continue it, and do what the error says."""
    if fault.name == "old_copy":
        _first_later_files(place)
        bench.continued(place)
        place.put_back("checkpoint")
    elif fault.name == "torn_planned":
        place.add_later()
        plan_one(bench, place)
    place_before = fault.inflict
    if place_before is not None:
        place_before(place)
    place.add_later()
    error, warning = attempt(bench, place)
    if error is None and warning is None:
        return SAME, ""
    said = error.render() if error is not None else str(warning)
    if error is None:
        if fault.names not in said:
            return f"warned without the name of what is wrong ({fault.names})", said
        remedy = Remedy.REPLACE if "put them back" in said else None
        if remedy is None:
            return "warned without a remedy", said
        for file in (place.copy / "out").iterdir():
            if not (place.out / file.name).exists():
                (place.out / file.name).write_bytes(file.read_bytes())
        return warned(remedy), said
    return follow(bench, place, fault, error), said


def _first_later_files(place: Place) -> None:
    """Let the plan see the first two files of each source that were held back."""
    for source in (place.folder / "later").iterdir():
        for file in sorted(source.glob("*.parquet"))[:2]:
            file.rename(place.folder / "in" / source.name / file.name)


def plan_one(bench: Bench, place: Place) -> None:
    """Let Spark plan the next micro-batch, and stop the run before it is delivered, as `stop` does."""
    before = last_entry(place.spark_logs / "offsets")
    running = begin(bench.spark, place.plan.shape, place.plan.kernel, bench.seed, TICKS, place.folder)
    running._gate.close()
    end = time.monotonic() + 60
    while last_entry(place.spark_logs / "offsets") == before and time.monotonic() < end:
        time.sleep(0.01)
    running.stop()
    planned, committed = (last_entry(place.spark_logs / log) for log in ("offsets", "commits"))
    if planned != committed + 1:
        raise AssertionError(f"micro-batch {planned} is planned and {committed} committed")


def attempt(bench: Bench, place: Place) -> tuple[TransomError | None, RunWarning | None]:
    """Continue a run; return the error that a user would see, and the warning about files that are gone."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        error: TransomError | None = None
        try:
            bench.continued(place)
        except TransomError as raised:
            error = raised
        except OSError as raised:
            error = wrap_os_error(raised)
        except PySparkException as raised:
            error = translate_error(raised) or unknown_error(raised)
    gone = [one.message for one in seen if isinstance(one.message, RunWarning) and "are gone" in str(one.message)]
    return error, gone[0] if gone else None


def follow(bench: Bench, place: Place, fault: Fault, error: TransomError) -> str:
    """Do what an error says, continue the run, and return the outcome."""
    said = error.render()
    remedy = remedy_of(error)
    if remedy is None:
        return "refused without a remedy"
    if fault.names not in said:
        return f"refused without the name of what is wrong ({fault.names})"
    if remedy is Remedy.DELETE:
        for file in files_to_delete(error):
            file.unlink()
    elif remedy is Remedy.COPY or (remedy is Remedy.REPLACE and fault.kind is Kind.DAMAGE):
        place.put_back("checkpoint", "out", "_out.staging")
    elif remedy is Remedy.NEW:
        place.forget()
    error_again, warning = attempt(bench, place)
    if error_again is not None:
        return f"refused: {remedy.value}; then refused again: {error_again.render()}"
    if warning is not None:
        return f"refused: {remedy.value}; then warned: {warning}"
    return refused(remedy)


def _on_small_disk(bench: Bench, place: Place, fault: Fault) -> tuple[str, str]:
    """Continue a run on a disk without room, make room, and continue it again."""
    place.add_later()
    with contextlib.ExitStack() as disks:
        filler = disks.enter_context(_disk_of(place, fault))
        error, _ = attempt(bench, place)
        if error is None:
            return SAME, ""
        if remedy_of(error) is Remedy.ROOM:
            filler.unlink()
        outcome = follow(bench, place, fault, error)
        filler.unlink(missing_ok=True)
        return outcome, error.render()


@contextlib.contextmanager
def _disk_of(place: Place, fault: Fault) -> Iterator[damage.Path]:
    """A disk that is too small for the checkpoint, or for the sink and its staging folder."""
    if fault.name == "disk_checkpoint":
        with damage.small_disk(place.checkpoint, ROOM) as filler:
            yield filler
        return
    with damage.small_disk(place.folder, 1 << 20) as filler, damage.small_disk(place.checkpoint, 32 << 20) as other:
        other.unlink()
        filler.unlink()
        yield damage.fill(place.folder, 0)
