"""The bench on which a plan is prepared, damaged and continued: its folders, its runs, and the comparison."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from tests.matrix.plans import Plan
from tests.spark.kills.chaos import TICKS, Outcome, judge, write_inputs
from tests.spark.kills.chaos_child import begin
from tests.spark.running import others
from transom.model.balance import Balance

FILES = 6
SEED = 24
LATER = FILES // 2
"""The number of the first file that is held back until a plan is continued."""


@dataclass
class Place:
    """The folders of one plan: what it reads, what it reads later, its sink and its checkpoint."""

    plan: Plan
    root: Path
    balances: Mapping[str, Balance] = field(default_factory=dict)
    """The balance of each source since the first start, as the last run has printed it."""

    @property
    def folder(self) -> Path:
        """The folder with everything that the faults may touch."""
        return self.root / "killed" / self.plan.shape

    @property
    def checkpoint(self) -> Path:
        return self.folder / "checkpoint"

    @property
    def spark_logs(self) -> Path:
        return self.checkpoint / "spark"

    @property
    def out(self) -> Path:
        return self.folder / "out"

    @property
    def staging(self) -> Path:
        """The folder beside the sink in which it prepares files."""
        return self.folder / "_out.staging"

    @property
    def copy(self) -> Path:
        """The copy of the folders after the first half of the rows."""
        return self.root / "copy" / self.plan.shape

    def newest(self, log: str) -> Path:
        """The newest file of one of Spark's logs."""
        return max((self.spark_logs / log).glob("[0-9]*"), key=lambda file: int(file.name))

    def add_later(self) -> None:
        """Let the plan see the files that were held back."""
        for file in sorted((self.folder / "later").rglob("*.parquet")):
            file.rename(self.folder / "in" / file.parent.name / file.name)

    def put_back(self, *names: str) -> None:
        """Replace folders by their copies, at the same paths; without names, all of them."""
        for name in names or [folder.name for folder in self.copy.iterdir()]:
            shutil.rmtree(self.folder / name, ignore_errors=True)
            if (self.copy / name).exists():
                shutil.copytree(self.copy / name, self.folder / name)

    def forget(self) -> None:
        """Begin anew: no checkpoint and no sink."""
        for folder in (self.checkpoint, self.out, self.staging):
            shutil.rmtree(folder, ignore_errors=True)


class Bench:
    """A session, a folder, and the plans that are prepared in it."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder, self.seed = spark, folder, SEED
        self._prepared: dict[str, Place] = {}
        self._calm: set[str] = set()

    def prepared(self, plan: Plan) -> Place:
        """A plan that has read half of its files; the folders are the same for each cell, because Spark notes paths."""
        place = self._prepared.get(plan.shape)
        if place is None:
            place = self._prepared[plan.shape] = self._prepare(plan)
        place.put_back()
        place.balances = {}
        return place

    def fresh(self, plans: Sequence[Plan]) -> list[Place]:
        """Plans that have not been run yet, with all their files."""
        self._run_calm(plans)
        places = [self._prepared.get(plan.shape) or Place(plan, self.folder) for plan in plans]
        for place in places:
            if place.plan.shape in self._prepared:
                place.put_back()
                place.add_later()
            place.forget()
        return places

    def _run_calm(self, plans: Sequence[Plan]) -> None:
        """Write the files of plans, and run those without a fault that have no run, all at once."""
        new = [plan for plan in plans if plan.shape not in self._calm]
        for plan in new:
            write_inputs(plan.shape, SEED, self.folder, FILES)
        calm = self.folder / "calm"
        runs = [begin(self.spark, plan.shape, plan.kernel, SEED, TICKS, calm / plan.shape) for plan in new]
        for plan, running in zip(new, runs, strict=True):
            running.wait()
            self._calm.add(plan.shape)

    def _prepare(self, plan: Plan) -> Place:
        (place,) = self.fresh([plan])
        for source in (place.folder / "in").iterdir():
            later = place.folder / "later" / source.name
            later.mkdir(parents=True)
            for number, file in enumerate(sorted(source.glob("*.parquet"))):
                if number >= LATER:
                    file.rename(later / file.name)
        self.continued(place)
        shutil.copytree(place.folder, place.copy)
        return place

    def continued(self, place: Place) -> None:
        """Run a plan until it has read all files that are there; raises what the run raises."""
        running = begin(self.spark, place.plan.shape, place.plan.kernel, SEED, TICKS, place.folder)
        running.wait()
        place.balances = running.progress().totals

    def wrong(self, place: Place) -> tuple[int, str | None]:
        """How many rows were compared, and what is wrong with them or with the balance, if anything."""
        outcome = Outcome(place.plan.shape)
        judge(self.spark, outcome, SEED, place.root)
        killed, calm = (others.found(place.root / way / place.plan.shape / "out") for way in ("killed", "calm"))
        seen = None if killed == calm else f"other readers see {killed.total()} rows, and {calm.total()} without it"
        return outcome.tuples, outcome.wrong or seen or unbalanced(place)


def unbalanced(place: Place) -> str | None:
    """What is wrong with the balance: each source has read each of its rows once, and accounts for each."""
    for name, read in rows_of(place.root / "calm" / place.plan.shape / "in").items():
        balance = place.balances.get(name)
        if balance is None or balance.missing or balance.read != read:
            return f"{name} holds {read} rows, and its balance is: {balance}"
    return None


def rows_of(folder: Path) -> dict[str, int]:
    """How many rows the files of each source have."""
    return {
        source.name: sum(pq.read_metadata(file).num_rows for file in source.glob("*.parquet"))
        for source in folder.iterdir()
    }


def printed(balances: Mapping[str, Any]) -> str:
    """The balances of all sources in one line."""
    return "; ".join(f"{name}: {balance}" for name, balance in sorted(balances.items()))
