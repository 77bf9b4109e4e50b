"""Marker class of growing tables, in its own module so that the command line starts without importing settings."""


class GrowingTable:
    """A stored table whose log grows while a query runs."""

    __slots__ = ()
