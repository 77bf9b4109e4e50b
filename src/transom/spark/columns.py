"""Column names: reserved names that users cannot write, and quoting.

Users write letters, digits and underscores. A result column may also be named by the text of an expression, and no
expression begins with `$`. So a name that begins with `$` cannot clash with a user's column.
"""

from __future__ import annotations

# Columns of the frames between operators. Values are in the columns `c0`, `c1`, ... of `frames.value_names`.
TICK = "tick"
"""Event time: the instant at which a row's tick ends."""

TICK_NUMBER = "tick_number"
"""The tick of a row as a number."""

WINDOW = "window"
"""The number of a row's window among the windows of its tick, from 1."""

WINDOW_KEY = "window_key"
"""The key of a keyed window."""

IS_ROW = "is_row"
"""True in rows, false in the markers that say that a window exists."""

COUNT = "count"
"""Copies inserted (positive) or retracted (negative); in rows of a machine without changes, the position of the row."""

ORDER = "row_order"
"""The sort key of rows within a tick or window."""

INDEX = "row_index"
"""The number of a row in its stream, from 1."""

VALID_FROM = "valid_from"
"""The first tick at which a row is valid."""

VALID_TO = "valid_to"
"""The first tick at which a row is no longer valid."""

VERSION = "version"
"""The tick at which a version of a stored table begins."""

IS_VERSION = "is_version"
"""True in records that say that a version of a table exists, also an empty one; false in rows."""

IS_HEARTBEAT = "is_heartbeat"
"""True in records without a row, which advance event time."""

REJECT_REASON = "reject_reason"
"""Why a row is rejected; NULL if it is valid."""

ORIGIN_ORDER = "origin_order"
"""The sort key of rejected rows: their place in the source; NULL if a row is valid."""

REJECTED_MESSAGE = "rejected_message"
"""A rejected message as it was read from a topic; NULL if its row is valid."""

SIDE = "side"
"""The input of a machine that a row belongs to, from 0."""

BUCKET = "bucket"
"""The number of the machine among those that share the keys of an operator."""


def reserved(name: str) -> str:
    """Prefix a name with `$`, which makes it a column name that users cannot write."""
    return f"${name}"


def is_reserved(name: str) -> bool:
    """Whether a column name begins with `$`, which marks names for internal use."""
    return name.startswith("$")


def quoted(name: str) -> str:
    """Quote a column name with backticks, for `F.col`."""
    return "`" + name.replace("`", "``") + "`"
