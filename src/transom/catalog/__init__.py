"""Declared sensors, streams and tables: what queries may read, and where the rows come from."""

from transom.catalog.extents import Catalog, Extent, Kind

__all__ = ["Catalog", "Extent", "Kind"]
