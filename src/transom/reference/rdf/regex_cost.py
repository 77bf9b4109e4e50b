"""The worst-case cost of a regular expression in a backtracking matcher, such as those of Python and Java.

A pattern is refused if some text could be matched in too many ways; otherwise it may search texts up to a length that
its worst case allows. Both follow from the pattern alone, so that both engines refuse the same patterns. The number of
ways is the ambiguity of an automaton (Weber and Seidl 1991): exponential if a loop has two paths with the same text,
otherwise a polynomial whose degree is the number of consecutive loops between which a match can switch anywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from transom.reference.rdf.regex_automaton import ANY, PatternTooLarge, PositionAutomaton, RegexReader

BUDGET = 200_000_000
"""The most steps of a matcher: one second or a few."""
MIN_TEXT_LENGTH = 500
"""A pattern that could not even search a string of this many characters is refused."""
MAX_TEXT_LENGTH = 10_000_000
"""A pattern that may search a string of this many characters may search any string."""
MAX_PAIRS = 300_000


_Steps: TypeAlias = Mapping[int, Iterable[int]] | Sequence[Iterable[int]]
"""The positions that can follow each position."""


class CostlyPattern(Exception):
    """A pattern that is refused; the message says why."""


def max_text_length(pattern: str, flags: re.RegexFlag) -> int | None:
    """Return the longest text, in characters, that a regex may search; None if there is no limit.

    Raises CostlyPattern if that limit is too short.
    """
    try:
        reader = RegexReader(pattern, flags)
        fragment = reader.read()
        start = reader.positions.add(reader.characters_of(ANY))
        reader.positions.link({start: 1}, fragment.first)
        if not reader.anchored:
            reader.positions.follow[start][start] = 1
        degree, ways = _Ambiguity(reader.positions).degree_and_ways(start)
    except PatternTooLarge:
        raise CostlyPattern("it is too long for its worst case to be computed") from None
    length = _max_length_within_budget(degree + 1, ways)
    if length < MIN_TEXT_LENGTH:
        raise CostlyPattern(f"on a text of n characters it may take n^{degree + 1} steps and more")
    return length if length < MAX_TEXT_LENGTH else None


def _max_length_within_budget(power: int, ways: int) -> int:
    """Return the greatest text length n for which about `ways` * n^`power` matching steps stay within BUDGET."""
    low, high = 0, MAX_TEXT_LENGTH
    while low < high:
        middle = (low + high + 1) // 2
        if ways * math.comb(middle + power, power) <= BUDGET:
            low = middle
        else:
            high = middle - 1
    return low


class _Ambiguity:
    """The ambiguity of an automaton: the number of ways in which it can match a string."""

    def __init__(self, positions: PositionAutomaton) -> None:
        """Find the loops of a regex automaton: its strongly connected components with a transition inside."""
        self.takes, self.follow = positions.takes, positions.follow
        self.component = _components(self.follow)
        self.members: dict[int, list[int]] = {}
        for position, component in enumerate(self.component):
            self.members.setdefault(component, []).append(position)
        self.inner = {
            position: [target for target in follow if self.component[target] == self.component[position]]
            for position, follow in enumerate(self.follow)
        }
        self.loops = {self.component[position] for position, targets in self.inner.items() if targets}
        self.pairs = 0

    def degree_and_ways(self, start: int) -> tuple[int, int]:
        """Return (degree, factor): from state `start` a text of n characters matches in about factor * n^degree ways.

        Raises CostlyPattern if the number is exponential.
        """
        components = sorted({self.component[position] for position in self._reachable(start)})  # last ones first
        for component in components:
            if component in self.loops and self._is_exponential(component):
                raise CostlyPattern("a repetition can take the same text in several ways, which may take 2^n steps")
        degree: dict[int, int] = {}
        ways: dict[int, int] = {}
        for component in components:
            targets = {self.component[n] for p in self.members[component] for n in self.follow[p]} - {component}
            successors = self._successor_loops(component) if component in self.loops else set()
            degree[component] = max((degree[target] for target in targets), default=0)
            for loop in successors:
                degree[component] = max(degree[component], degree[loop] + 1)
            ways[component] = max(1, *(self._ways_out(position, ways) for position in self.members[component]))
        return degree[self.component[start]], ways[self.component[start]]

    def _reachable(self, start: int) -> set[int]:
        """Return the automaton states that can be reached from the state `start`, including `start`."""
        reached, pending = {start}, [start]
        while pending:
            for position in self.follow[pending.pop()]:
                if position not in reached:
                    reached.add(position)
                    pending.append(position)
        return reached

    def _ways_out(self, state: int, ways_per_component: dict[int, int]) -> int:
        """Return in how many ways one character leads out of a state's loop, each times its target's ways; 1 if none.

        A way counts as often as `ways_per_component` says for the component where it leads.
        """
        ways_by_takes: dict[int, int] = {}
        for target, ways in self.follow[state].items():
            component, takes = self.component[target], self.takes[target]
            if component != self.component[state]:
                ways_by_takes[takes] = ways_by_takes.get(takes, 0) + ways * ways_per_component[component]
        if len(ways_by_takes) < 2:
            return max(ways_by_takes.values(), default=1)
        width = max(takes.bit_length() for takes in ways_by_takes)
        return max(sum(ways for takes, ways in ways_by_takes.items() if takes >> bit & 1) for bit in range(width))

    def _is_exponential(self, loop: int) -> bool:
        """Whether a loop has two paths for one text, so that the ways to match grow exponentially with its length."""
        members = self.members[loop]
        if any(self.follow[position][target] > 1 for position in members for target in self.inner[position]):
            return True
        forked = self._reachable_pairs([(p, p) for p in members], self.inner, self.inner) - {(p, p) for p in members}
        return any(left == right for left, right in self._reachable_pairs(sorted(forked), self.inner, self.inner))

    def _successor_loops(self, loop: int) -> set[int]:
        """Return the loops that a text can reach from a state of `loop`, while the same text also leads back to it."""
        successors: set[int] = set()
        for position in self.members[loop]:
            for left, right in self._reachable_pairs([(position, position)], self.inner, self.follow):
                component = self.component[right]
                if left == position and component != loop and component in self.loops:
                    successors.add(component)
        return successors

    def _reachable_pairs(
        self, starts: list[tuple[int, int]], left_steps: _Steps, right_steps: _Steps
    ) -> set[tuple[int, int]]:
        """Return the state pairs that two matchers, each with its steps, reach from `starts` on the same text."""
        reached, pending = set(starts), list(starts)
        while pending:
            left, right = pending.pop()
            for a in left_steps[left]:
                for b in right_steps[right]:
                    self.pairs += 1
                    if self.takes[a] & self.takes[b] and (a, b) not in reached:
                        reached.add((a, b))
                        pending.append((a, b))
            if self.pairs > MAX_PAIRS:
                raise PatternTooLarge
        return reached


def _components(follow: list[dict[int, int]]) -> list[int]:
    """Return, for each state of an automaton, the number of the strongly connected component that contains it.

    Components are numbered in reverse topological order (Tarjan's algorithm).
    """
    number = [-1] * len(follow)
    low = [0] * len(follow)
    component = [-1] * len(follow)
    stack: list[int] = []
    count = components = 0
    for root in range(len(follow)):
        if number[root] >= 0:
            continue
        path = [(root, iter(follow[root]))]
        number[root] = low[root] = count
        count += 1
        stack.append(root)
        while path:
            position, targets = path[-1]
            for target in targets:
                if number[target] < 0:
                    number[target] = low[target] = count
                    count += 1
                    stack.append(target)
                    path.append((target, iter(follow[target])))
                    break
                if component[target] < 0:
                    low[position] = min(low[position], number[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[position])
                if low[position] == number[position]:
                    while True:
                        member = stack.pop()
                        component[member] = components
                        if member == position:
                            break
                    components += 1
    return component
