"""How long a regular expression may take in a matcher that goes back, as those of Python and Java do.

A pattern is refused if some text could be matched in too many ways, and takes texts up to a length that its worst case
allows. Both follow from the pattern alone, so that both engines refuse the same. The ways are counted as the ambiguity
of an automaton (Weber and Seidl 1991): exponential if a loop has two ways round with the same text, otherwise a
polynomial whose degree is the number of loops in a row that can hand over anywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from transom.reference.rdf.pattern_positions import ANY, Positions, Reader, TooLarge

BUDGET = 200_000_000
"""Steps of a matcher, at most: a second or a few."""
SHORTEST = 500
"""A pattern that could not even search a text of so many characters is refused."""
LONGEST = 10_000_000
"""A pattern that may search a text of so many characters may search any."""
MOST_PAIRS = 300_000


_Steps: TypeAlias = Mapping[int, Iterable[int]] | Sequence[Iterable[int]]


class Costly(Exception):
    """A pattern that is refused; the message says why."""


def longest_text(pattern: str, flags: re.RegexFlag) -> int | None:
    """The length of the longest text that a pattern is looked for in, None for any; Costly if that is too short."""
    try:
        reader = Reader(pattern, flags)
        piece = reader.read()
        start = reader.positions.add(reader.taken(ANY))
        reader.positions.link({start: 1}, piece.first)
        if not reader.anchored:
            reader.positions.follow[start][start] = 1
        degree, ways = _Ambiguity(reader.positions).measured(start)
    except TooLarge:
        raise Costly("it is too long for its worst case to be computed") from None
    found = _longest(degree + 1, ways)
    if found < SHORTEST:
        raise Costly(f"on a text of n characters it may take n^{degree + 1} steps and more")
    return found if found < LONGEST else None


def _longest(power: int, ways: int) -> int:
    """The most characters with which a worst case stays in the budget."""
    low, high = 0, LONGEST
    while low < high:
        middle = (low + high + 1) // 2
        if ways * math.comb(middle + power, power) <= BUDGET:
            low = middle
        else:
            high = middle - 1
    return low


class _Ambiguity:
    """In how many ways an automaton reads a text."""

    def __init__(self, positions: Positions) -> None:
        self.takes, self.follow = positions.takes, positions.follow
        self.part = _components(self.follow)
        self.members: dict[int, list[int]] = {}
        for place, part in enumerate(self.part):
            self.members.setdefault(part, []).append(place)
        inner = {p: [n for n in follow if self.part[n] == self.part[p]] for p, follow in enumerate(self.follow)}
        self.loops = {self.part[place] for place, following in inner.items() if following}
        self.inner = inner
        self.pairs = 0

    def measured(self, start: int) -> tuple[int, int]:
        """The degree of the polynomial, and the ways that do not grow with the text; Costly if it is exponential."""
        reached = self._reached(start)
        parts = sorted({self.part[place] for place in reached})  # a part has a smaller number than those before it
        for part in parts:
            if part in self.loops and self._is_exponential(part):
                raise Costly("a repetition can take the same text in several ways, which may take 2^n steps")
        degree: dict[int, int] = {}
        ways: dict[int, int] = {}
        for part in parts:
            after = {self.part[n] for p in self.members[part] for n in self.follow[p]} - {part}
            handed = self._handed(part) if part in self.loops else set()
            degree[part] = max((degree[n] for n in after), default=0)
            for other in handed:
                degree[part] = max(degree[part], degree[other] + 1)
            ways[part] = max(1, *(self._ways(place, ways) for place in self.members[part]))
        return degree[self.part[start]], ways[self.part[start]]

    def _reached(self, start: int) -> set[int]:
        found, rest = {start}, [start]
        while rest:
            for place in self.follow[rest.pop()]:
                if place not in found:
                    found.add(place)
                    rest.append(place)
        return found

    def _ways(self, place: int, known: dict[int, int]) -> int:
        """The most ways to leave a position with one character."""
        found: dict[int, int] = {}
        for other, ways in self.follow[place].items():
            if self.part[other] != self.part[place]:
                found[self.takes[other]] = found.get(self.takes[other], 0) + ways * known[self.part[other]]
        if len(found) < 2:
            return max(found.values(), default=1)
        width = max(takes.bit_length() for takes in found)
        return max(sum(ways for takes, ways in found.items() if takes >> bit & 1) for bit in range(width))

    def _is_exponential(self, part: int) -> bool:
        """Whether a loop has two ways round with the same text."""
        places = self.members[part]
        if any(self.follow[place][n] > 1 for place in places for n in self.inner[place]):
            return True
        forked = self._spread([(p, p) for p in places], self.inner, self.inner) - {(p, p) for p in places}
        return any(one == other for one, other in self._spread(sorted(forked), self.inner, self.inner))

    def _handed(self, part: int) -> set[int]:
        """The loops after one that take over, anywhere in a text that both could go on with."""
        found: set[int] = set()
        for place in self.members[part]:
            for one, other in self._spread([(place, place)], self.inner, self.follow):
                if one == place and self.part[other] != part and self.part[other] in self.loops:
                    found.add(self.part[other])
        return found

    def _spread(self, starts: list[tuple[int, int]], one: _Steps, other: _Steps) -> set[tuple[int, int]]:
        """The pairs of positions that two readers of the same text reach together, the starts among them."""
        found, rest = set(starts), list(starts)
        while rest:
            left, right = rest.pop()
            for a in one[left]:
                for b in other[right]:
                    self.pairs += 1
                    if self.takes[a] & self.takes[b] and (a, b) not in found:
                        found.add((a, b))
                        rest.append((a, b))
            if self.pairs > MOST_PAIRS:
                raise TooLarge
        return found


def _components(follow: list[dict[int, int]]) -> list[int]:
    """The strongly connected component of each position; one that is reached from another has a smaller number."""
    number = [-1] * len(follow)
    low = [0] * len(follow)
    part = [-1] * len(follow)
    stack: list[int] = []
    count = parts = 0
    for root in range(len(follow)):
        if number[root] >= 0:
            continue
        work = [(root, iter(follow[root]))]
        number[root] = low[root] = count
        count += 1
        stack.append(root)
        while work:
            place, rest = work[-1]
            for other in rest:
                if number[other] < 0:
                    number[other] = low[other] = count
                    count += 1
                    stack.append(other)
                    work.append((other, iter(follow[other])))
                    break
                if part[other] < 0:
                    low[place] = min(low[place], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[place])
                if low[place] == number[place]:
                    while True:
                        member = stack.pop()
                        part[member] = parts
                        if member == place:
                            break
                    parts += 1
    return part
