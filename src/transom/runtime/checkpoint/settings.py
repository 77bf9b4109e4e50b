"""Settings of Spark that are fixed when a checkpoint is made: recorded in it, and set again at every start."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from transom.errors import CheckpointError
from transom.runtime.checkpoint.remembered import recorded_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STATE_FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"
"""The format of state: with 2, a commit names the files of state that belong to it."""
SOURCE_NAMES = "spark.sql.streaming.queryEvolution.enableSourceEvolution"
"""Whether the sources in the log of offsets have names, since Spark 4.2. All sources of a query must then be named."""
FIXED_SETTINGS = {STATE_FORMAT: "1", SOURCE_NAMES: "false"}
"""The settings, with the values of sessions that do not set them, and of checkpoints that do not record them.

Spark's log of offsets records further ones, such as the number of partitions.
"""


def settings_for(spark: SparkSession, checkpoint: Path) -> dict[str, str]:
    """Return the Spark settings, by name, that a checkpoint was made with; for a new one, those of the session."""
    recorded = recorded_settings(checkpoint)
    if recorded is None:
        return {name: str(spark.conf.get(name, default)) for name, default in FIXED_SETTINGS.items()}
    unknown = sorted(recorded.keys() - FIXED_SETTINGS.keys())
    if unknown:
        raise CheckpointError(
            f"the checkpoint {checkpoint} was made with settings that this version of Transom does not know",
            detail=", ".join(f"{name}={recorded[name]}" for name in unknown),
            hint="continue with the version that made it, or a later one",
        )
    return {**FIXED_SETTINGS, **recorded}


@contextmanager
def applied(spark: SparkSession, settings: Mapping[str, str]) -> Iterator[None]:
    """Apply Spark settings in a `with` block that starts a query; afterwards restore the session's own."""
    before = {name: spark.conf.get(name, None) for name in settings}
    try:
        for name, value in settings.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, earlier in before.items():
            if earlier is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, earlier)
