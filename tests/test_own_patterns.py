"""Regular expressions of Transom's own are quick on whatever a text, a file or a message holds."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Iterator

import pytest

import transom
from transom.connectors.files.ais import read_ais
from transom.errors import DataError
from transom.reference.rdf.regex_cost import CostlyPattern, max_text_length


def own_patterns() -> Iterator[tuple[str, re.Pattern[str]]]:
    """The compiled patterns of all modules that need no JVM."""
    for module in pkgutil.walk_packages(transom.__path__, "transom."):
        if module.name.endswith("__main__"):
            continue
        try:
            names = vars(importlib.import_module(module.name))
        except ImportError:
            continue
        for name, value in names.items():
            for one in value.values() if isinstance(value, dict) else [value]:
                if isinstance(one, re.Pattern) and isinstance(one.pattern, str):
                    yield f"{module.name}.{name}", one


def test_none_is_exponential() -> None:
    found = list(own_patterns())
    assert len(found) > 40
    exponential = []
    for name, pattern in found:
        plain = re.sub(r"\(\?(P<\w+>|<?[=!])", "(?:", pattern.pattern)  # what looks ahead takes no more ways than this
        try:
            max_text_length(plain, re.RegexFlag(pattern.flags))
        except CostlyPattern as problem:
            exponential += [name] if "2^n" in str(problem) else []
    assert exponential == []


@pytest.mark.parametrize("line", [" " * 3000 + "!", "," * 3000 + "!x", "!A*5C" + " " * 3000 + "x", "\\" * 3000 + "!"])
def test_lines_of_ais(line: str) -> None:
    began = time.process_time()
    with pytest.raises(DataError, match="no AIS sentence"):
        list(read_ais(line, "a.nmea"))
    assert time.process_time() - began < 1
