"""Declared sensors, streams and tables: what queries may read, and where the rows come from."""

from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent, Kind

__all__ = ["Catalog", "Extent", "Kind"]
