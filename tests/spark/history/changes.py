"""Queries before and after a change, what they read, and what one uninterrupted run of each answers."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import transom
from tests.spark.kills.shapes import Shape
from transom import Query
from transom.model.answer import Answer
from transom.runtime.results.results import plain_frame
from transom.runtime.results.rows import answer_from_rows, row_difference
from transom.runtime.start import Running
from transom.runtime.verify.micro_batches import Split, read_streams, table_frames, write_streams

TICKS = 40
SUMS = "RSTREAM(SELECT site, SUM(weight) AS total FROM traffic [FROM NOW-4 TO NOW SLIDE 2 SEC] GROUP BY site)"


@dataclass(frozen=True)
class Change:
    """A query as it was and as it is, with the streams and the table that both read."""

    name: str
    old: str
    new: str
    streams: tuple[str, ...] = ("traffic",)
    stored: bool = False
    language: str = "sneeql"

    def query(self, text: str) -> Query:
        shape = Shape(self.name, text, self.streams, self.stored)
        return transom.compile(text, shape.catalog(), language=self.language)

    def inputs(self, seed: int) -> dict[str, Any]:
        return Shape(self.name, self.old, self.streams, self.stored).inputs(seed, TICKS)


CHANGES: Mapping[str, Change] = {
    change.name: change
    for change in (
        Change("predicate", SUMS, SUMS.replace("GROUP", "WHERE weight > 4 GROUP")),
        Change(
            "aggregate",
            "SELECT COUNT(weight) AS n, SUM(weight) AS total FROM traffic [FROM NOW-9 TO NOW SLIDE 2 SEC]",
            "SELECT COUNT(weight) AS n, MAX(weight) AS total FROM traffic [FROM NOW-9 TO NOW SLIDE 2 SEC]",
        ),
        Change("function", SUMS, SUMS.replace("SUM(", "MAX(")),
        Change("range", SUMS, SUMS.replace("NOW-4", "NOW-11")),
        Change("slide", SUMS, SUMS.replace("SLIDE 2", "SLIDE 3")),
        Change(
            "join",
            "RSTREAM(SELECT traffic.id, COUNT(air.temp) AS n FROM traffic [FROM NOW-4 TO NOW SLIDE 2 SEC], "
            "air [FROM NOW-3 TO NOW SLIDE 3 SEC] WHERE traffic.id = air.id GROUP BY traffic.id)",
            "RSTREAM(SELECT traffic.id, COUNT(air.temp) AS n FROM traffic [FROM NOW-6 TO NOW SLIDE 2 SEC], "
            "air [FROM NOW-3 TO NOW SLIDE 4 SEC] WHERE traffic.id = air.id AND air.temp > 0 GROUP BY traffic.id)",
            ("traffic", "air"),
        ),
        Change(
            "scan",
            "RSTREAM(SELECT band.name, COUNT(traffic.weight) AS n FROM traffic [FROM NOW-4 TO NOW SLIDE 2 SEC], "
            "band [SCAN 5 SEC] WHERE traffic.weight = band.weight GROUP BY band.name)",
            "RSTREAM(SELECT band.name, COUNT(traffic.weight) AS n FROM traffic [FROM NOW-3 TO NOW SLIDE 1 SEC], "
            "band [SCAN 4 SEC] WHERE traffic.weight = band.weight GROUP BY band.name)",
            stored=True,
        ),
        Change(
            "nested",
            "SELECT COUNT(top), SUM(top) FROM (RSTREAM(SELECT site, MAX(weight) AS top "
            "FROM traffic [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY site)) [FROM NOW-9 TO NOW SLIDE 2 SEC]",
            "SELECT COUNT(top), SUM(top) FROM (RSTREAM(SELECT site, MIN(weight) AS top "
            "FROM traffic [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY site)) [FROM NOW-4 TO NOW SLIDE 3 SEC]",
        ),
        Change(
            "cql",
            "SELECT RStream(id, COUNT(*) AS n) FROM traffic [RANGE '6 seconds' SLIDE '2 seconds'] GROUP BY id",
            "SELECT RStream(id, COUNT(*) AS n) FROM traffic [RANGE '9 seconds' SLIDE '3 seconds'] GROUP BY id",
            language="cql",
        ),
    )
}

HISTORY: Mapping[str, Change] = CHANGES | {
    change.name: change
    for change in (
        Change("istream", SUMS, SUMS.replace("RSTREAM", "ISTREAM")),
        Change("dstream", SUMS, SUMS.replace("RSTREAM", "DSTREAM")),
        Change("stateless", SUMS, "SELECT site, weight FROM traffic WHERE weight > 4"),
    )
}
"""With queries that begin in history, and that do not go on after another one."""


@dataclass(frozen=True)
class Story:
    """A change, the rows of a seed, and a folder in which they lie as files, one per micro-batch.

    `pieces` is the factor by which the files are larger than a few rows.
    """

    change: Change
    seed: int
    folder: Path
    pieces: int = 2

    def write(self) -> None:
        """Write all files of all streams."""
        query = self.change.query(self.change.old)
        inputs = query.inputs(self.change.inputs(self.seed), TICKS - 1)
        write_streams(self.folder / "in", query.sources, inputs, Split(seed=self.seed, times=self.pieces), TICKS - 1)

    def hide(self, first: int) -> None:
        """Hide all files from a number on: the sources do not have them yet."""
        for file in (self.folder / "in").glob("*/*.parquet"):
            if int(file.stem) >= first:
                file.rename(file.with_name(f".{file.name}"))

    def show(self) -> None:
        """Let the sources have all files; no query may be running, as `show_next` says."""
        for file in (self.folder / "in").glob("*/.*.parquet"):
            file.rename(file.with_name(file.name[1:]))

    def show_next(self) -> bool:
        """Let the sources have the next file of each stream; return whether there was one.

        A query that runs meanwhile reads the files in order. While many are renamed, it may see a later one first, and
        then the rows of the earlier ones are late.
        """
        hidden = [sorted((self.folder / "in" / stream).glob(".*.parquet")) for stream in self.change.streams]
        for files in hidden:
            for file in files[:1]:
                file.rename(file.with_name(file.name[1:]))
        return any(hidden)

    @property
    def files(self) -> int:
        """How many files a stream has."""
        return len([*(self.folder / "in" / self.change.streams[0]).glob("*.parquet")])

    def start(self, spark: SparkSession, text: str, output: str, checkpoint: str, **more: Any) -> Running:
        """Start the old or the new query over the files; the output is a folder of the story, or an address."""
        query = self.change.query(text)
        paths = {name: self.folder / "in" / name for name in self.change.streams}
        sources: dict[str, DataFrame] = read_streams(spark, query.sources, paths, live=True)
        sources |= table_frames(spark, query.sources, query.inputs(self.change.inputs(self.seed), TICKS - 1))
        sink = output if "://" in output else f"parquet:{self.folder / output}"
        folder = self.folder / checkpoint
        return query.start(spark, sink, folder, sources=sources, until=TICKS - 1, **more)

    def difference(self, spark: SparkSession, text: str, output: str, first: int, last: int) -> str | None:
        """How a sink differs from an uninterrupted run of a query, cut to the ticks `first` to `last`."""
        query = self.change.query(text)
        whole = query.simulate(self.change.inputs(self.seed), until=TICKS - 1)
        return row_difference(cut(whole, first, last), self.answer(spark, query, output), index=False)

    def answer(self, spark: SparkSession, query: Query, output: str) -> Answer:
        """What a sink holds."""
        folder = self.folder / output
        plan = query.physical(user_sources=[extent.name for extent in query.sources])
        if not any(folder.glob("*.parquet")):
            return Answer(query.columns, query.result_kind)  # type: ignore[arg-type]
        rows = plain_frame(spark.read.parquet(str(folder)), plan.schema, query.catalog.calendar).collect()
        return answer_from_rows(rows, plan.schema, query.columns, query.result_kind)  # type: ignore[arg-type]


def cut(answer: Answer, first: int, last: int) -> Answer:
    """The part of an answer from a tick to another."""
    return replace(
        answer,
        elements=tuple(e for e in answer.elements if first <= e.tick <= last),
        windows=tuple(w for w in answer.windows if first <= w.tick <= last),
    )


def finished(running: Running) -> Running:
    """Let a query read all that is there, and stop it."""
    running.stream.processAllAvailable()
    running.stop()
    return running


def stopped_between_two(running: Running, batch: int) -> None:
    """Stop a busy query after a micro-batch; the next one has been planned, and waits at the gate."""
    end = time.monotonic() + 120
    while (running.stream.lastProgress or {"batchId": -1})["batchId"] < batch and time.monotonic() < end:
        time.sleep(0.01)
    running.stop()
