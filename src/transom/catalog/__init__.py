"""The catalog: declared sensors, streams and tables that queries can read, and the sources of their rows."""

from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent, ExtentKind

__all__ = ["Catalog", "Extent", "ExtentKind"]
