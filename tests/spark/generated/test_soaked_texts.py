"""Thousands of drawn texts of SPARQL 1.1 on Spark against the reference engine, which Oxigraph judges on such texts.

TRANSOM_SOAK_LEDGER names a file to which each part without a difference appends a line. Parts that the file lists for
the same seed are not run again, so a soak of 100 minutes can be run in pieces.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from datetime import UTC, datetime
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

from tests.spark.generated.soaked import FEATURES, FORMS, Soaked, drawn
from tests.spark.kills.shapes_rdf import difference
from tests.spark.together import differences
from tests.spark.trying import plain, side_by_side
from transom.physical.nodes.windows import KernelMode

SEED = int(os.environ.get("TRANSOM_SOAK_SEED", "1"))
PARTS, TEXTS = int(os.environ.get("TRANSOM_SOAK_PARTS", "16")), 32
"""Parts of 32 texts; `just soak` runs 128 of them, the nightly tests 16."""
COUNTED = 8
"""Parts whose features are counted."""
TOGETHER = int(os.environ.get("TRANSOM_SOAK_TOGETHER", "4"))
SEEDS = 100_000
"""As many seeds as a part has to itself."""
TOLD: Counter[str] = Counter()
LEDGER = os.environ.get("TRANSOM_SOAK_LEDGER")


def parts_done() -> set[int]:
    """The parts of this seed that the ledger lists."""
    path = Path(LEDGER or "")
    lines = path.read_text("utf-8").splitlines() if path.is_file() else []
    return {entry["part"] for entry in map(json.loads, lines) if entry["seed"] == SEED}


def record(part: int, texts: list[Soaked]) -> None:
    """Append a part without a difference to the ledger."""
    if LEDGER:
        asked = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=True)
        entry = {"seed": SEED, "part": part, "texts": len(texts), "commit": asked.stdout.strip()}
        entry["date"] = datetime.now(UTC).date().isoformat()
        with open(LEDGER, "a", encoding="utf-8") as ledger:
            ledger.write(json.dumps(entry) + "\n")


@cache
def batch_session(spark: SparkSession) -> SparkSession:
    """A session for replays of few rows: stages are planned once, and not again when the one before has ended."""
    session = plain(spark).newSession()
    for name, value in {
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.lightweightPlanChangeValidation": "false",
        "spark.sql.ui.explainMode": "simple",
    }.items():
        session.conf.set(name, value)
    return session


def texts_of(part: int) -> list[Soaked]:
    return list(drawn((SEED * 128 + part) * SEEDS, TEXTS))


def wrong(spark: SparkSession, texts: list[Soaked]) -> dict[str, str]:
    """How the answers to texts that are run in one way differ from those of the reference engine."""
    first = texts[0]
    expected = {one.asked.name: one.expected for one in texts}
    session = batch_session(spark) if first.split is None else spark
    cases = [one.asked for one in texts]
    return differences(
        session, cases, first.split, first.kernel, lambda name, found: difference(expected[name], found), TOGETHER
    )


def runs_of(texts: list[Soaked]) -> list[list[Soaked]]:
    """Texts that are run in the same way, replays first."""

    def way(one: Soaked) -> tuple[bool, str, KernelMode]:
        return one.split is not None, str(one.split), one.kernel

    return [list(some) for _, some in groupby(sorted(texts, key=way), way)]


def counted(texts: list[Soaked]) -> Counter[str]:
    """How many texts have each feature, and how many are run in each way."""
    return Counter(said for one in texts for said in (*one.features & (FEATURES | FORMS), one.way, "texts"))


@pytest.mark.soak
@pytest.mark.parametrize("part", [part for part in range(PARTS) if part not in parts_done()])
def test_soaked_texts(spark: Any, capfd: Any, part: int) -> None:
    texts = texts_of(part)
    runs = [partial(wrong, spark, some) for some in runs_of(texts)]
    found = {name: what for some in (runs[0](), runs[1](), *side_by_side(runs[2:])) for name, what in some.items()}
    TOLD.update(counted(texts))
    with capfd.disabled():
        print(f"\n{dict(sorted(TOLD.items()))} so far, {len(found)} differences in part {part}")
    assert not found, "\n\n".join(f"{name}\n{what}" for name, what in found.items())
    record(part, texts)


@pytest.mark.soak
def test_the_texts_meet_everything() -> None:
    found = counted([one for part in range(COUNTED) for one in texts_of(part)])
    count = COUNTED * TEXTS
    assert found["texts"] == count
    for kernel in ("on", "off"):
        assert found[f"a stream, kernel {kernel}"] == count // 16
        assert found[f"a replay, kernel {kernel}"] >= count // 5
    assert {feature: found[feature] for feature in FEATURES | FORMS if found[feature] < count // 64} == {}
