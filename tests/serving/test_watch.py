"""Changes of a project's files, which count once they are stable."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.serving.recorded import write_project
from transom.errors import ProjectError, UsageError
from transom.serving.watch import ProjectWatch

QUERY = "RSTREAM(SELECT site FROM road [NOW])"


def test_an_invalid_project_does_not_start(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no project"):
        ProjectWatch(tmp_path)
    (tmp_path / "transom.toml").write_text("x = 1")
    with pytest.raises(ProjectError):
        ProjectWatch(tmp_path)


def test_a_change_counts_once_it_is_stable(tmp_path: Path) -> None:
    watch = ProjectWatch(write_project(tmp_path, {"a": QUERY}))
    assert watch.poll() is None
    (tmp_path / "a.cql").write_text("RSTREAM(SELECT si")
    assert watch.poll() is None
    (tmp_path / "a.cql").write_text("RSTREAM(SELECT temp FROM road [NOW])")
    assert watch.poll() is None
    before = watch.current.digests["a"]
    changed = watch.poll()
    assert changed is not None
    assert changed.digests["a"] != before
    assert watch.poll() is None


def test_a_change_that_is_taken_back_counts_for_nothing(tmp_path: Path) -> None:
    watch = ProjectWatch(write_project(tmp_path, {"a": QUERY}))
    (tmp_path / "a.cql").write_text("half")
    assert watch.poll() is None
    (tmp_path / "a.cql").write_text(QUERY)
    assert [watch.poll() for _ in range(3)] == [None, None, None]


def test_an_invalid_file_is_a_change_with_an_error(tmp_path: Path) -> None:
    watch = ProjectWatch(write_project(tmp_path, {"a": QUERY}))
    valid = (tmp_path / "transom.toml").read_text()
    (tmp_path / "transom.toml").write_text("[queries.a]\nfil")
    assert watch.poll() is None
    broken = watch.poll()
    assert broken is not None
    assert (broken.project, isinstance(broken.error, ProjectError)) == (None, True)
    (tmp_path / "transom.toml").unlink()
    assert watch.poll() is None
    missing = watch.poll()
    assert missing is not None
    assert isinstance(missing.error, UsageError)
    (tmp_path / "transom.toml").write_text(valid)
    watch.poll()
    again = watch.poll()
    assert again is not None
    assert (again.error, list(again.digests)) == (None, ["a"])
