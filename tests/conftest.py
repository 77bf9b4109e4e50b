"""Options of the whole test suite; tests/gate/plugin.py describes them."""

from __future__ import annotations

from tests.gate.plugin import pytest_addoption, pytest_collection_modifyitems, pytest_configure, rewrite

__all__ = ["pytest_addoption", "pytest_collection_modifyitems", "pytest_configure", "rewrite"]
