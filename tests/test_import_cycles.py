"""No file of the package imports itself by way of others, and the checker sees every kind of import."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import import_cycles


def test_no_import_cycle_in_the_package() -> None:
    assert import_cycles.complaints() == []


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A package `p` with a subpackage `q`; `a` imports `q.b` at the top."""
    folder = tmp_path / "src" / "p"
    (folder / "q").mkdir(parents=True)
    for name in ("__init__.py", "q/__init__.py", "q/b.py"):
        (folder / name).write_text("")
    (folder / "a.py").write_text("from p.q import b\n")
    return folder


BACK = [
    "import p.a\n",
    "from p import a\n",
    "from p.a import name\n",
    "from .. import a\n",
    "from ..a import name\n",
    "def late():\n    from p.a import name\n",
    "if TYPE_CHECKING:\n    from p.a import name\n",
]


@pytest.mark.parametrize("back", BACK)
def test_every_kind_of_import_closes_a_cycle(package: Path, back: str) -> None:
    (package / "q" / "b.py").write_text("import os\n" + back)
    line = 1 + back.count("\n")
    assert import_cycles.complaints(package) == [
        f"import cycle of 2 files: src/p/a.py:1 -> src/p/q/b.py:{line} -> src/p/a.py"
    ]


def test_an_import_of_a_submodule_is_none_of_its_package(package: Path) -> None:
    (package / "q" / "__init__.py").write_text("from p.q.b import name\n")
    (package / "q" / "b.py").write_text("import p.q.c\nfrom p.q import c\n")
    (package / "q" / "c.py").write_text("")
    assert import_cycles.complaints(package) == []
    (package / "q" / "c.py").write_text("from . import name\n")
    assert import_cycles.complaints(package) == [
        "import cycle of 3 files: src/p/q/__init__.py:1 -> src/p/q/b.py:1 -> src/p/q/c.py:1 -> src/p/q/__init__.py"
    ]


def test_the_shortest_cycle_is_shown(package: Path) -> None:
    (package / "q" / "b.py").write_text("import p.c\n\n\nimport p.d\n")
    (package / "c.py").write_text("\nimport p.d\n")
    (package / "d.py").write_text("import p.a\nimport p.c\n")
    assert import_cycles.complaints(package) == ["import cycle of 4 files: src/p/c.py:2 -> src/p/d.py:2 -> src/p/c.py"]
