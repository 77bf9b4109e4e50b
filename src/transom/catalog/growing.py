"""The mark of tables that grow. It is apart from their settings, which a start of the command line does not import."""


class Growing:
    """A stored table whose log goes on while a query runs."""

    __slots__ = ()
