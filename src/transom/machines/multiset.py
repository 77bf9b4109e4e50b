"""A multiset in order, from which members leave in any order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from transom.machines import encoding


class Multiset:
    """Members with their counts, from the least to the greatest; each member may have a label.

    The members that are None are only counted, in `missing`. Counts may fall below 0 while the changes of a tick are
    applied.
    """

    def __init__(self) -> None:
        self.missing = 0
        self.below = 0
        self.counts: dict[Any, int] = {}
        self.order: list[tuple[Any, Any, str | None]] = []

    def __len__(self) -> int:
        """How many different members there are."""
        return len(self.order)

    def add(self, member: Any, count: int, label: str | None = None) -> int:
        """Add copies of a member, or remove them; 1 if it is new, -1 if it is gone, else 0."""
        if member is None:
            self.missing += count
            return count
        before = self.counts.get(member, 0)
        after = before + count
        self.below += (after < 0) - (before < 0)
        if after:
            self.counts[member] = after
        else:
            self.counts.pop(member, None)
        if (after > 0) == (before > 0):
            return 0
        key = encoding.sort_key(member)
        place = bisect_left(self.order, key, key=lambda entry: entry[0])
        if after > 0:
            self.order.insert(place, (key, member, label))
            return 1
        del self.order[place]
        return -1

    def least(self) -> Any:
        """The least member, or None."""
        return self.order[0][1] if self.order else None

    def greatest(self) -> Any:
        """The greatest member, or None."""
        return self.order[-1][1] if self.order else None

    def labels(self) -> Iterator[tuple[str | None, int]]:
        """The labels of all members in order, with their counts."""
        return ((label, self.counts[member]) for _, member, label in self.order)

    def pack(self) -> Any:
        """The multiset, for JSON."""
        return [self.missing, [[encoding.pack_deep(m), self.counts[m], label] for _, m, label in self.order]]

    @classmethod
    def unpack(cls, cell: Any) -> Multiset:
        """What was packed."""
        found = cls()
        found.missing, entries = cell
        for packed, count, label in entries:
            member = encoding.unpack_deep(packed)
            found.counts[member] = count
            found.order.append((encoding.sort_key(member), member, label))
        return found
