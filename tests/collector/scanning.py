"""A scanner whose database is a list: what it finds at each scan is said beforehand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import psycopg

import transom
from transom.catalog.servers import Postgres
from transom.collector.sources.scan import Scanner
from transom.connectors.log.segments import SegmentLog


class ListScanner(Scanner):
    """Finds the rows of `content`; None is a database that does not answer."""

    content: Sequence[tuple[object, ...]] | None = ()

    def _read(self) -> Iterator[tuple[object, ...]]:
        if self.content is None:
            raise psycopg.OperationalError("nobody is there")
        yield from self.content

    def find(self, tick: int, content: Sequence[tuple[object, ...]] | None) -> bool:
        self.content = content
        return self.scan(tick)


def list_scanner(catalog: transom.Catalog, name: str, folder: Path) -> ListScanner:
    """A scanner of an extent, on its log."""
    extent = catalog.extents[name]
    assert isinstance(extent.source, Postgres)
    return ListScanner(
        extent,
        extent.source,
        SegmentLog(folder / extent.source.log, extent, segment_interval_seconds=0),
        catalog.calendar,
    )
