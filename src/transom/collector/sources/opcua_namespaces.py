"""Namespaces of OPC UA servers: a server may number them differently after a restart.

The URI of a namespace stays the same, and its index does not. A catalog names a namespace by URI (`nsu=URI;s=level`) or
by index (`ns=2;s=level`). An index means the namespace that had it in the first session.
"""

from __future__ import annotations

from collections.abc import Sequence


class Namespaces:
    """The namespaces of one server whose indexes the catalog names, by their URIs in the first session."""

    def __init__(self) -> None:
        """Create an empty map from namespace indexes in the catalog to URIs, which the first session fills."""
        self._first: dict[int, str | None] = {}

    def node_id(self, text: str, uris: Sequence[str]) -> str:
        """Convert a node id of the catalog to the namespace index in a session, whose namespaces are `uris`.

        Raises ValueError if the server has no such namespace, so that no value of another node is taken for it.
        """
        namespace, _, name = text.partition(";")
        if namespace.startswith("nsu="):
            return f"ns={_index_of(_unescaped(namespace[4:]), uris)};{name}"
        if not namespace.startswith("ns=") or not namespace[3:].isdecimal():
            return text  # namespace 0, or an id that the server refuses
        index = int(namespace[3:])
        uri = self._first.setdefault(index, uris[index] if index < len(uris) else None)
        return text if uri is None else f"ns={_index_of(uri, uris)};{name}"


def _index_of(uri: str, uris: Sequence[str]) -> int:
    """Return the index of namespace `uri` among a server's `uris`; raise ValueError if the server does not have it."""
    try:
        return uris.index(uri)
    except ValueError:
        raise ValueError(f"the server has no namespace {uri}") from None


def _unescaped(uri: str) -> str:
    """Return the namespace URI of an OPC UA node id with the escapes %3B and %25 decoded to ; and %."""
    return uri.replace("%3B", ";").replace("%3b", ";").replace("%25", "%")
