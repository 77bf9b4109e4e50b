"""The W3C suites may be absent, but not where they are required."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance import manifests


def test_a_missing_suite_is_an_error_only_where_it_is_required(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifests, "SUITE", tmp_path / "nowhere")
    monkeypatch.delenv("TRANSOM_CONFORMANCE_REQUIRED", raising=False)
    assert not manifests.available()
    monkeypatch.setenv("TRANSOM_CONFORMANCE_REQUIRED", "1")
    with pytest.raises(FileNotFoundError, match="no conformance suite"):
        manifests.available()
    monkeypatch.setattr(manifests, "SUITE", tmp_path)
    assert manifests.available()
