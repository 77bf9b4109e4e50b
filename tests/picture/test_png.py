"""Drawings as PNG images."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

import transom
from transom.errors import UsageError

CATALOG = transom.Catalog.read("extents: {a: 'pushed (x:integer)'}")
SIGNATURE = b"\x89PNG\r\n\x1a\n"


def drawing() -> transom.query.Picture:
    query = transom.compile("SELECT x FROM a [FROM NOW-2 TO NOW SLIDE 1 SEC]", CATALOG)
    return query.picture({"a": [(0, 1), (2, 5)]}, until=5)


def test_an_image_has_twice_the_size_of_the_drawing(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    drawing().save(tmp_path / "a.png")
    image = (tmp_path / "a.png").read_bytes()
    assert image.startswith(SIGNATURE)
    width, height = struct.unpack(">II", image[16:24])
    assert f'width="{width // 2}" height="{height // 2}"' in drawing().svg


def test_without_the_library_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(UsageError, match="needs the library resvg_py") as refusal:
        drawing().save(tmp_path / "a.png")
    hint = "in a checkout of Transom: pip install '.[png]'; or let the name end in .svg"
    assert refusal.value.hint == hint
    assert not (tmp_path / "a.png").exists()


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no name for a picture") as refusal:
        drawing().save(tmp_path / "a.jpg")
    assert refusal.value.hint == "let it end in .svg or .png"
