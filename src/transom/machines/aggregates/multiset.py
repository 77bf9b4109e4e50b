"""A sorted multiset from which members can be removed in any order."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from transom.machines import codec


class Multiset:
    """Sorted members with their counts; each member may have a label.

    None is not a member, only counted in `null_count`. Counts may be negative while the changes of a tick are applied.
    """

    def __init__(self) -> None:
        """Create an empty multiset."""
        self.null_count = 0
        self.negative_count = 0
        self.counts: dict[Any, int] = {}
        self.order: list[tuple[Any, Any, str | None]] = []

    def __len__(self) -> int:
        """Number of distinct members with a positive count, not including NULL."""
        return len(self.order)

    def add(self, member: Any, count: int, label: str | None = None) -> int:
        """Add `count` copies (negative: remove) of a member; return 1 if it is new, -1 if gone, else 0; NULL: `count`.

        A negative `count` removes copies; `label` is a text that is stored with the member. For None, which is counted
        apart, it returns `count`.
        """
        if member is None:
            self.null_count += count
            return count
        before = self.counts.get(member, 0)
        after = before + count
        self.negative_count += (after < 0) - (before < 0)
        if after:
            self.counts[member] = after
        else:
            self.counts.pop(member, None)
        if (after > 0) == (before > 0):
            return 0
        key = codec.sort_key(member)
        index = bisect_left(self.order, key, key=lambda entry: entry[0])
        if after > 0:
            self.order.insert(index, (key, member, label))
            return 1
        del self.order[index]
        return -1

    def least(self) -> Any:
        """The least member in the sort order of values; None if the multiset is empty."""
        return self.order[0][1] if self.order else None

    def greatest(self) -> Any:
        """The greatest member in the sort order of values; None if the multiset is empty."""
        return self.order[-1][1] if self.order else None

    def labels(self) -> Iterator[tuple[str | None, int]]:
        """Yield (label, count) of each member in sort order of the members; a label is text given with it, or None."""
        return ((label, self.counts[member]) for _, member, label in self.order)

    def members(self) -> Iterator[tuple[Any, int]]:
        """Yield each distinct member with its count, in sort order; NULL is last."""
        yield from ((member, self.counts[member]) for _, member, _ in self.order)
        if self.null_count:
            yield None, self.null_count

    def pack(self) -> Any:
        """Encode the multiset for JSON: [number of NULLs, [[member, count, label or None], ...]]."""
        return [self.null_count, [[codec.pack_nested(m), self.counts[m], label] for _, m, label in self.order]]

    @classmethod
    def unpack(cls, encoded: Any) -> Multiset:
        """Decode a multiset from the nested JSON lists that `pack` returned."""
        multiset = cls()
        multiset.null_count, entries = encoded
        for packed, count, label in entries:
            member = codec.unpack_nested(packed)
            multiset.counts[member] = count
            multiset.order.append((codec.sort_key(member), member, label))
        return multiset
