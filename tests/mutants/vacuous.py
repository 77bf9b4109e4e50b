"""Finds tests that cannot fail: a pytest plugin.

    python -m pytest -p tests.mutants.vacuous -o enable_assertion_pass_hook=true

fails every test that passed without one assertion (all of them in loops and branches that were never entered, say),
and every test that asserted `all(...)` or `not any(...)` over nothing.
"""

from __future__ import annotations

import builtins
import linecache
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parents[1]
MODULES = [path.stem for path in sorted(TESTS.iterdir()) if path.suffix == ".py" or (path / "__init__.py").is_file()]
# helpers assert too; this package is imported already
pytest.register_assert_rewrite(*(f"tests.{name}" for name in MODULES if name not in ("mutants", "__init__")))

CLAIMS = [0]
"""Assertions and expected errors of the test that is running."""
CLAIMED = {"all": "assert all(", "any": "assert not any("}
"""How a test claims something about every one of some values."""
SOMETHING: dict[str, bool] = {}
"""Such claims in the test that is running, and whether there was ever a value."""


def pytest_assertion_pass(item: pytest.Item, lineno: int, orig: str, expl: str) -> None:
    """An assertion was made; those of plugins, which are rewritten as well, are not ours."""
    if not CLAIMS[0]:
        frame = sys._getframe(1)
        while frame.f_back and any(name in frame.f_code.co_filename for name in ("/pluggy/", "/_pytest/")):
            frame = frame.f_back
        CLAIMS[0] += item.config.rootpath in Path(frame.f_code.co_filename).parents


def noticed(name: str) -> Any:
    """A function such as all that notes for each claim whether it was ever about something."""
    original = getattr(builtins, name)

    def call(values: Iterable[object]) -> bool:
        given = iter(values)
        first = next(given, SOMETHING)
        frame = sys._getframe(1)
        code = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        if code.startswith(CLAIMED[name]):
            SOMETHING[code] = SOMETHING.get(code, False) or first is not SOMETHING
        if first is SOMETHING:
            return bool(original(()))
        return bool(first) if bool(first) is (name == "any") else bool(original(given))

    return call


def pytest_collection_finish(session: pytest.Session) -> None:
    """In test modules `all` and `any` are the ones that notice."""
    for module in {item.getparent(pytest.Module) for item in session.items}:
        if module is not None:
            module.obj.__dict__.setdefault("all", noticed("all"))
            module.obj.__dict__.setdefault("any", noticed("any"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test that passes must have claimed something."""
    CLAIMS[0] = 0
    SOMETHING.clear()
    yield
    if not CLAIMS[0]:
        pytest.fail("no assertion was made", pytrace=False)
    for code, something in SOMETHING.items():
        if not something:
            pytest.fail(f"claimed of nothing: {code}", pytrace=False)


def counted(name: str) -> Any:
    """pytest.raises and its kin, counted when entered."""
    original = getattr(pytest, name)

    def call(*args: Any, **options: Any) -> Any:
        CLAIMS[0] += 1
        return original(*args, **options)

    return call


pytest.raises = counted("raises")  # type: ignore[misc]
pytest.warns = counted("warns")  # type: ignore[misc]
