"""Opening whatever source an extent has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from transom.catalog import Catalog
from transom.connectors import open_stream, open_table
from transom.errors import UsageError
from transom.model.bag import TableVersion

CATALOG = Catalog.read(
    """
bare: sensed (site:integer)
table: stored (a:integer)
extents:
  made: {declare: "sensed (site:integer)", sites: [1, 2], source: {generate: {}}}
  inline: {declare: "stored (a:integer)", source: {table: {versions: {0: [[1]], 9: [[2]]}}}}
"""
)


def test_a_generated_stream():
    assert len(open_stream(CATALOG.extent("made"), CATALOG.calendar, None, 4)) == 10


def test_an_inline_table():
    inline = CATALOG.extent("inline")
    assert open_table(inline, CATALOG.calendar) == [TableVersion(0, ((1,),)), TableVersion(9, ((2,),))]
    assert open_table(inline, CATALOG.calendar, until=8) == [TableVersion(0, ((1,),))]


@pytest.mark.parametrize(("opened", "name"), [(open_stream, "bare"), (open_table, "table")])
def test_without_a_source(opened, name):
    with pytest.raises(UsageError, match=f"no rows for {name}: it has no source") as caught:
        opened(CATALOG.extent(name), CATALOG.calendar)
    assert f"{{files: {name}.csv}}" in str(caught.value.hint)


def test_a_generated_stream_needs_an_end():
    with pytest.raises(UsageError, match="made is generated without end"):
        open_stream(CATALOG.extent("made"), CATALOG.calendar)


def test_the_wrong_door():
    with pytest.raises(UsageError, match="inline is no stream"):
        open_stream(CATALOG.extent("inline"), CATALOG.calendar)
    with pytest.raises(UsageError, match="made is no stored table"):
        open_table(CATALOG.extent("made"), CATALOG.calendar)
    stored = replace(CATALOG.extent("inline"), source=CATALOG.extent("made").source)
    with pytest.raises(UsageError, match="inline is no stream"):
        open_stream(stored, CATALOG.calendar, None, 5)
