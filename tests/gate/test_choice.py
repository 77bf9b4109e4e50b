"""The chosen set shows every sink, every source, kills, restarts, other Sparks and the pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gate import choice


@pytest.mark.parametrize("what", sorted(choice.required()))
def test_chosen_set_shows(what: str) -> None:
    assert choice.covered().get(what), f"no chosen test is marked covers({what!r})"


def test_nothing_unknown_is_claimed() -> None:
    assert set(choice.covered()) <= choice.required()


def test_nightly_tests_do_not_count(tmp_path: Path) -> None:
    claim = "@pytest.mark.covers('a', 'b')\ndef test_x(): pass\n"
    (tmp_path / "test_one.py").write_text("import pytest\n" + claim)
    (tmp_path / "test_two.py").write_text("import pytest\n@pytest.mark.nightly\n" + claim.replace("'a'", "'c'"))
    (tmp_path / "test_three.py").write_text(
        "import pytest\npytestmark = [pytest.mark.soak]\n" + claim.replace("'a'", "'d'")
    )
    assert choice.covered(tmp_path) == {"a": ["test_one.py::test_x"], "b": ["test_one.py::test_x"]}
