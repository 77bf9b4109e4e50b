"""The examples in the docstrings of what hints and warnings are made of."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = (
    "transom.catalog.reading.wording",
    "transom.collector.discover.infer",
    "transom.languages.cql.lengths",
    "transom.languages.cql.windows",
    "transom.languages.rsp_dialects",
    "transom.languages.sneeql.window_texts",
    "transom.languages.sql.dialects",
)


@pytest.mark.parametrize("module", MODULES)
def test_examples(module: str) -> None:
    result = doctest.testmod(import_module(module))
    assert result.attempted > 0
    assert result.failed == 0
