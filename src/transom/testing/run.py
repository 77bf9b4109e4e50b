"""Run test cases, on the reference engine or on Spark, and compare their answers with the expected ones."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from transom.catalog.reading.locations import KeyPath
from transom.errors import DataError, QueryError, RunWarning, TransomError, UsageError
from transom.model.run_time import parse_time
from transom.model.view import PrintOptions
from transom.query import Query
from transom.testing.answers import RowError, RowFormat, difference, yaml_row
from transom.testing.cases import QueryCase

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[list[Any]]


@dataclass(frozen=True)
class Step:
    """The answers of a case, or of one of its batches: expected rows (None: not recorded) and actual rows.

    `path` leads to the entry `expected`. `missing` and `unexpected` are positions in the two lists.
    """

    path: KeyPath
    format: RowFormat
    expected: list[Any] | None
    actual: Rows
    missing: Sequence[int] = ()
    unexpected: Sequence[int] = ()

    @property
    def agrees(self) -> bool:
        """Whether the actual rows are the expected ones."""
        return self.expected is not None and not self.missing and not self.unexpected


@dataclass(frozen=True)
class Outcome:
    """The result of one case: its steps, or the error that stopped it. `problems` are lines of other differences."""

    case: QueryCase
    seconds: float = 0.0
    steps: Sequence[Step] = ()
    problems: Sequence[str] = ()
    error: TransomError | None = None
    view: PrintOptions = field(default_factory=PrintOptions)

    @property
    def passed(self) -> bool:
        """Whether the case has the expected answers."""
        return self.error is None and not self.problems and all(step.agrees for step in self.steps)

    def lines(self) -> list[str]:
        """Describe how the answers differ: `-` marks a missing row with its line in the file, `+` an unexpected row."""
        if self.error is not None:
            return self.error.render().split("\n")
        lines = list(self.problems)
        file = self.case.file
        for step in self.steps:
            if step.agrees:
                continue
            line = file.line(step.path)
            if step.expected is None:
                lines.append(f"{file.path}:{line}: no answers are recorded: write [] for none, or run with --update")
            if step.missing or step.unexpected:
                columns = ", ".join(step.format.header)
                lines.append(f"{file.path}:{line}: - is missing, + is not expected: [{columns}]")
            for position in step.missing:
                row = (step.expected or [])[position]
                lines.append(f"  - {yaml_row(row)}{self._time(row)}  (line {file.line((*step.path, position))})")
            lines += [f"  + {yaml_row(step.actual[n])}{self._time(step.actual[n])}" for n in step.unexpected]
        return lines

    def _time(self, row: Sequence[Any]) -> str:
        """Return a row's instant as text, after ` at `; empty if the catalog has no epoch."""
        return f" at {self.view.value(row[0])}" if self.view.calendar is not None and isinstance(row[0], int) else ""


def run_case(case: QueryCase, spark: SparkSession | None = None) -> Outcome:
    """Run a case, on Spark if there is a session, and compare its answers with the expected ones."""
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        try:
            outcome = _run(case, spark)
        except TransomError as error:
            outcome = Outcome(case, error=error)
    return replace(outcome, seconds=time.perf_counter() - started)


def _run(case: QueryCase, spark: SparkSession | None) -> Outcome:
    """Run a case as `run_case` does; raise TransomError if it cannot be run."""
    entry = case.entry
    if entry.error is not None:
        return _run_refused(case, entry.error)
    query = case.compile()
    runner = _Runner(case, query, spark)
    problems = [
        f"{case.file.path}:{case.file.line((*case.path, key))}: {key}: expected {wanted}, found {actual}"
        for key, wanted, actual in (
            ("kind", entry.kind, query.result_kind),
            ("columns", entry.columns, list(query.columns)),
        )
        if wanted is not None and wanted != actual
    ]
    steps = runner.batches() if entry.batches is not None else [runner.whole()]
    calendar = query.catalog.calendar
    return Outcome(case, steps=steps, problems=problems, view=PrintOptions(calendar if calendar.has_epoch else None))


def _run_refused(case: QueryCase, message: str) -> Outcome:
    """Compile a case's query, which must fail, and check that the text of its error contains `message`."""
    at = f"{case.file.path}:{case.file.line((*case.path, 'error'))}"
    try:
        case.compile()
    except QueryError as error:
        if message in error.message:
            return Outcome(case)
        return Outcome(case, problems=[f"{at}: expected the error {message!r}, found {error.message!r}"])
    return Outcome(case, problems=[f"{at}: expected the error {message!r}, but the query is valid"])


class _Runner:
    """Runs the query of a case over its rows."""

    def __init__(self, case: QueryCase, query: Query[Any], spark: SparkSession | None) -> None:
        """Read the rows of a case; raise CaseError if a stream that the query reads has no entry for them."""
        self.case, self.query, self.spark = case, query, spark
        self.rows = case.inputs(query.catalog, ("inputs",), case.entry.inputs)
        self.start = self._tick(case.entry.start, "start") or 0
        self.format = RowFormat(query.result_kind, query.columns, query.prefixes)
        batches = [batch.inputs for batch in case.entry.batches or ()]
        named = {name for inputs in (case.entry.inputs, *batches) for name in inputs}
        sources = {extent.name: extent for extent in query.sources}
        if spark is not None:
            self._refuse_computed(named - set(sources))
        for name in () if named - set(sources) else sources:  # rows of an inner query replace the rows below it
            if name not in named and sources[name].is_stream:
                hint = f"write {name}: [] under inputs if it has none"
                raise case.file.error(f"no rows for {name}, which the query reads", case.at("name"), hint)

    def _refuse_computed(self, names: set[str]) -> None:
        """Raise CaseError if there are `names`: streams whose rows Spark computes, so that no case can give them."""
        read = " or ".join(extent.name for extent in self.query.sources)
        for name in sorted(names):
            at = self.case.at("inputs", name).at_key() if name in self.case.entry.inputs else self.case.at("name")
            hint = f"give rows of {read}, or run the case on the reference engine, without --spark"
            raise self.case.file.error(f"Spark computes {name} and does not take its rows", at, hint)

    def _tick(self, value: Any, *path: str | int) -> int | None:
        """Convert a time in the case, the entry at `path`, to a tick (unit of event time); None stays None."""
        try:
            return None if value is None else parse_time(value, str(path[-1]), self.query.catalog.calendar)
        except UsageError as error:
            raise self.case.file.error(error.message, self.case.at(*path), error.hint) from None

    def whole(self) -> Step:
        """Run the query over all rows of the case, and compare its answer with the expected rows."""
        until = self._tick(self.case.entry.until, "until")
        inputs = self._inputs(self.rows, until, [("inputs",)])
        answer, indexed = self._answer(inputs, until, ())
        return self._compare(("expected",), self.case.entry.expected, answer, indexed, 0)

    def batches(self) -> list[Step]:
        """Run the query after each batch over all rows so far; return each answer compared to expected rows."""
        steps: list[Step] = []
        ends: list[int] = []
        rows, paths = dict(self.rows), list[KeyPath]([("inputs",)])
        streams: Mapping[str, Sequence[Any]] = {}
        for number, batch in enumerate(self.case.entry.batches or ()):
            path = ("batches", number)
            paths.append((*path, "inputs"))
            for name, more in self.case.inputs(self.query.catalog, paths[-1], batch.inputs).items():
                if not self.query.catalog.sources[name].is_stream:
                    hint = "write all its versions under the inputs of the case: {0: [...], 60: [...]}"
                    raise self.case.file.error(f"{name} is a table", self.case.at(*paths[-1], name).at_key(), hint)
                rows[name] = [*rows.get(name, ()), *more]
            rows_so_far = {extent.name: [] for extent in self.query.sources if extent.is_stream} | rows
            until = self._tick(batch.until, *path, "until")
            inputs = self._inputs(rows_so_far, until, paths)
            last = ends[-1] if ends else self.start - 1
            if until is None:
                ticks = [element.tick for elements in inputs.streams.values() for element in elements]
                until = max([last, self.start, *ticks])
                inputs = self._inputs(rows_so_far, until, paths)
            if until < last:
                hint = f"write {last} or more"
                raise self.case.file.error(f"the batch before ends at tick {last}", self.case.at(*path, "until"), hint)
            for name, elements in inputs.streams.items() if ends else ():
                if sum(element.tick <= last for element in elements) > len(streams[name]):
                    message = f"rows of {name} come after the end of the batch before, tick {last}"
                    hint = "put them into that batch, or set its until to an earlier tick"
                    raise self.case.file.error(message, self.case.at(*paths[-1], name).at_key(), hint)
            ends.append(until)
            streams = {
                name: [element for element in elements if element.tick <= until]
                for name, elements in inputs.streams.items()
            }
            answer, indexed = self._answer(inputs, until, ends)
            steps.append(self._compare((*path, "expected"), batch.expected, answer, indexed, last + 1))
        return steps

    def _inputs(self, rows: Mapping[str, Any], until: int | None, paths: Sequence[KeyPath]) -> Any:
        """Build inputs up to tick `until` from rows by source; `paths` (YAML keys) locate the rows in errors."""
        try:
            return self.query.inputs(rows, until, start=self.start)
        except DataError as error:
            raise self.case.locate_row(error, paths) from error.__cause__

    def _answer(self, inputs: Any, until: int | None, batch_end_ticks: Sequence[int]) -> tuple[Any, bool]:
        """Return the answer up to `until`, and whether its tuples are numbered; micro-batches end at `batch_end_ticks`.

        On Spark the query runs as a stream, with a micro-batch up to each of the ticks `batch_end_ticks`.
        """
        answer = self.query.evaluate(inputs)
        if self.spark is None:
            return answer.clipped(self.start, until, until), True
        from transom.testing.spark import answer_on_spark

        try:
            return answer_on_spark(self.query, self.spark, inputs, answer, until, batch_end_ticks)
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
                raise
            from transom.runtime.failures import translate_error, unknown_error

            raise translate_error(error) or unknown_error(error) from error

    def _compare(self, path: KeyPath, expected: list[Any] | None, answer: Any, indexed: bool, first: int) -> Step:
        """Compare an answer from tick `first` on with `expected` rows at `path`; `indexed`: its tuples are numbered."""
        form = replace(self.format, indexed=indexed)
        actual = form.rows(answer, first)
        keys = []
        for number, row in enumerate(expected or ()):
            try:
                keys.append(form.key(row))
            except RowError as error:
                inner = () if error.inner is None else (1 if form.kind == "windows" else 2, error.inner)
                raise self.case.file.error(str(error), self.case.at(*path, number, *inner), error.hint) from None
        actual_keys = [form.key(row) for row in actual]
        missing, unexpected = difference(keys, actual_keys, numbered=form.kind == "windows")
        return Step((*self.case.path, *path), form, expected, actual, missing, unexpected)
