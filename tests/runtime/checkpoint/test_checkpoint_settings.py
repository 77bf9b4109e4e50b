"""What a checkpoint remembers, and the settings of Spark that it was made with. Nothing here needs Spark."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

import transom
from transom.errors import CheckpointError
from transom.runtime.checkpoint.fingerprint import check_fingerprint, fingerprint
from transom.runtime.checkpoint.notes import notes
from transom.runtime.checkpoint.remembered import PLAN_FILE, read_remembered
from transom.runtime.checkpoint.settings import FIXED_SETTINGS, SOURCE_NAMES, STATE_FORMAT, applied, settings_for
from transom.runtime.options import RunOptions
from transom.version import __version__

TEXT = "RSTREAM(SELECT site, MAX(temp) AS hottest FROM road [FROM NOW-9 TO NOW SLIDE 10 SEC] GROUP BY site)"
CATALOG = {
    "tick": "1 s",
    "epoch": "2026-01-01T00:00:00Z",
    "extents": {"road": {"kind": "pushed", "rate": "9 per s", "keys": 7, "attributes": ["site:integer", "temp:float"]}},
}


class Settings(dict[str, str]):
    """The settings of a session, as `spark.conf` has them."""

    def set(self, name: str, value: str) -> None:
        self[name] = value

    def unset(self, name: str) -> None:
        self.pop(name, None)


def session(**settings: str) -> SparkSession:
    return cast(SparkSession, SimpleNamespace(conf=Settings({STATE_FORMAT: "2"} if settings else {})))


def made(folder: Path, settings: dict[str, str] | None = None) -> dict[str, Any]:
    """A new checkpoint of the query; without settings one as an earlier version made it."""
    job = transom.compile(TEXT, CATALOG).job(MagicMock(), RunOptions(kernel="off"))
    kept = {} if settings is None else notes(job, settings)
    assert not check_fingerprint(folder, fingerprint(job), TEXT, uncompared_notes=kept)
    assert check_fingerprint(folder, fingerprint(job), TEXT, uncompared_notes=kept)
    return fingerprint(job)


def test_new_checkpoints_take_the_settings_of_the_session(tmp_path: Path) -> None:
    assert settings_for(session(), tmp_path) == {STATE_FORMAT: "1", SOURCE_NAMES: "false"}
    assert settings_for(session(own="yes"), tmp_path) == {STATE_FORMAT: "2", SOURCE_NAMES: "false"}


@pytest.mark.parametrize("value", ["1", "2"])
def test_recorded_settings_win_over_those_of_the_session(tmp_path: Path, value: str) -> None:
    made(tmp_path, {STATE_FORMAT: value, SOURCE_NAMES: "true"})
    for spark in (session(), session(own="yes")):
        assert settings_for(spark, tmp_path) == {STATE_FORMAT: value, SOURCE_NAMES: "true"}


def test_checkpoint_without_settings_has_those_of_before(tmp_path: Path) -> None:
    made(tmp_path)
    assert settings_for(session(own="yes"), tmp_path) == FIXED_SETTINGS


def test_settings_of_a_later_version_are_refused_by_name(tmp_path: Path) -> None:
    made(tmp_path, {STATE_FORMAT: "2", "spark.later": "7"})
    with pytest.raises(CheckpointError, match="settings that this version of Transom does not know") as caught:
        settings_for(session(), tmp_path)
    assert caught.value.detail == "spark.later=7"


def test_session_has_its_own_settings_afterwards() -> None:
    for spark in (session(), session(own="yes")):
        before = dict(cast(Any, spark.conf))
        with applied(spark, {STATE_FORMAT: "3"}):
            assert spark.conf.get(STATE_FORMAT) == "3"
        assert dict(cast(Any, spark.conf)) == before


def test_what_a_checkpoint_remembers(tmp_path: Path) -> None:
    shape = made(tmp_path, {STATE_FORMAT: "2"})
    kept = read_remembered(tmp_path)
    assert (kept.query, kept.language, kept.settings) == (TEXT, "sneeql", {STATE_FORMAT: "2"})
    assert kept.fingerprint == json.loads(json.dumps(shape))
    assert kept.made_by.startswith(f"Transom {__version__} on Spark 4.")
    assert kept.options == {"start": 0, "until": None, "index": False, "approximate_sums": False, "kernel": False}
    assert kept.catalog is not None
    assert kept.catalog["road"] == {
        "attributes": ["road.site:integer", "road.temp:float"],
        "kind": "pushed",
        "rate": "9 per tick",
        "keys": 7,
    }
    explained = transom.compile(TEXT, CATALOG).explain("plan", kernel="off").split("\n")
    assert [line.split("; state ")[0] for line in explained] == kept.explained.split("\n")


def test_checkpoint_of_an_earlier_version_remembers_less(tmp_path: Path) -> None:
    made(tmp_path)
    kept = read_remembered(tmp_path)
    assert (kept.query, kept.language, kept.explained, kept.options, kept.catalog) == (TEXT, "", "", None, None)


def test_malformed_notes_are_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / PLAN_FILE).write_text('{"query": "q", "about": 7}')
    with pytest.raises(CheckpointError, match=r"plan\.json is not what Transom wrote"):
        read_remembered(tmp_path)
    with pytest.raises(CheckpointError, match="is missing"):
        read_remembered(tmp_path / "none")
