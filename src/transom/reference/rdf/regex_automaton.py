"""A regex as an automaton with a state per character that it takes; transitions count ways from state to state.

A position is an item of the pattern that takes one character. If there are several ways from a position to the next
without a character in between, as in `(a*)*`, a backtracking matcher tries each of them; so transitions have a count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_POSITIONS = 4_000
MAX_COPIES = 4
"""Counted repetitions up to this number are written out; longer ones are treated as unbounded."""
_COUNT = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_LENGTHS = {"x": 4, "u": 6, "U": 10}
_SAMPLE_CHARACTERS = "09azAZ_ \t\n\r!~-\x00\x7f\x85éßǅ٣一\u2028\ufffe\U0001f600\U0010ffff"
_ESCAPED = re.compile(r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}")
ANY = "(?s:.)"


class PatternTooLarge(Exception):
    """A pattern that is too large to analyse."""


@dataclass(frozen=True, slots=True)
class RegexFragment:
    """A part of a regex: its first and last automaton states, and the number of ways to match the empty text.

    Each position comes with the number of ways to enter or leave the part there.
    """

    first: dict[int, int]
    last: dict[int, int]
    empty: int = 0


EMPTY_FRAGMENT = RegexFragment({}, {}, 1)


@dataclass(slots=True)
class PositionAutomaton:
    """The automaton states of a regex: the sample characters that each takes, as bits, and its counted followers."""

    takes: list[int] = field(default_factory=list)
    follow: list[dict[int, int]] = field(default_factory=list)

    def add(self, takes: int) -> int:
        """Add a state for the sample characters in the bit set `takes`, and return its number.

        Raises PatternTooLarge if there are too many states.
        """
        if len(self.takes) >= MAX_POSITIONS:
            raise PatternTooLarge
        self.takes.append(takes)
        self.follow.append({})
        return len(self.takes) - 1

    def link(self, last: dict[int, int], first: dict[int, int]) -> None:
        """Link each state in `last` to each in `first`; the dict values, numbers of ways to match, multiply."""
        for source, exits in last.items():
            for target, entries in first.items():
                self.follow[source][target] = self.follow[source].get(target, 0) + exits * entries


class RegexReader:
    """Parses a regex as Python's `re` does, to an automaton of `positions`; `re` must be able to compile the regex."""

    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        """Prepare to parse a regex that Python's `re` compiles with these flags."""
        self.pattern = pattern
        self.flags = flags
        self.positions = PositionAutomaton()
        self.anchored = not flags & re.MULTILINE
        self._index = 0
        self._depth = 0
        self._samples = _representatives(pattern)
        self._cache: dict[str, int] = {}

    def read(self) -> RegexFragment:
        """Parse the regex and return it as one fragment; `positions` then holds its automaton."""
        return self._alternatives()

    def characters_of(self, atom: str) -> int:
        """The bit set of the sample characters that an atom, a regex for one character such as `[a-z]`, accepts."""
        if atom not in self._cache:
            compiled = re.compile(atom, self.flags & ~re.VERBOSE)
            bits = (bool(compiled.fullmatch(sample)) << number for number, sample in enumerate(self._samples))
            self._cache[atom] = sum(bits)
        return self._cache[atom]

    def _alternatives(self) -> RegexFragment:
        """Parse alternatives separated by `|`, up to a closing parenthesis or the end of the regex."""
        union: RegexFragment | None = None
        while True:
            if self._depth == 0 and not self.pattern.startswith(("^", r"\A"), self._index):
                self.anchored = False
            sequence = self._sequence()
            union = sequence if union is None else _alternative(union, sequence)
            if not self.pattern.startswith("|", self._index):
                return union
            self._index += 1

    def _sequence(self) -> RegexFragment:
        """Parse a sequence of atoms with their quantifiers, up to `|`, a closing parenthesis or the end."""
        sequence = EMPTY_FRAGMENT
        while self._index < len(self.pattern) and self.pattern[self._index] not in "|)":
            if self.flags & re.VERBOSE and self._skip_blank():
                continue
            start = self._index
            atom = self._atom()
            sequence = self._concatenate(sequence, self._quantified(atom, start))
        return sequence

    def _skip_blank(self) -> bool:
        """Skip a white space or a comment of a verbose regex; return False if neither comes next."""
        if self.pattern[self._index] == "#":
            end = self.pattern.find("\n", self._index)
            self._index = len(self.pattern) if end < 0 else end + 1
            return True
        if self.pattern[self._index] in " \t\n\r\f\v":
            self._index += 1
            return True
        return False

    def _atom(self) -> RegexFragment:
        """Parse a group, an assertion, a back reference or an atom that takes one character, without its quantifier."""
        pattern, start = self.pattern, self._index
        character = pattern[start]
        if character == "(":
            self._index += 3 if pattern.startswith("(?:", start) else 1
            self._depth += 1
            group = self._alternatives()
            self._depth -= 1
            self._index += 1
            return group
        if character in "^$" or pattern.startswith((r"\Z", r"\A", r"\b", r"\B"), start):
            self._index += 1 if character in "^$" else 2
            return EMPTY_FRAGMENT
        if character == "\\" and pattern[start + 1] in "123456789":
            self._index = start + (3 if pattern[start + 2 : start + 3].isdigit() else 2)
            return self._loop(self._position(self.characters_of(ANY)), least=0)  # a back reference may match any text
        self._index = self._atom_end(start)
        atom = pattern[start : self._index]
        return self._position(
            self.characters_of(ANY if character == "." else re.escape(character) if len(atom) == 1 else atom)
        )

    def _atom_end(self, start: int) -> int:
        """Return the offset after the regex atom, such as `[a-z]`, that begins at offset `start`."""
        pattern = self.pattern
        if pattern[start] == "[":
            index = start + (2 if pattern.startswith("[^", start) else 1)
            index += pattern.startswith("]", index)
            while pattern[index] != "]":
                index += 2 if pattern[index] == "\\" else 1
            return index + 1
        if pattern[start] != "\\":
            return start + 1
        letter = pattern[start + 1]
        if letter == "N":
            return pattern.index("}", start) + 1
        if letter == "0":
            return start + 2 + len(re.match(r"[0-7]{0,2}", pattern[start + 2 :])[0])  # type: ignore[index]
        return start + _LENGTHS.get(letter, 2)

    def _position(self, takes: int) -> RegexFragment:
        """Create a fragment of one new automaton state that accepts the sample characters in the bit set `takes`."""
        number = self.positions.add(takes)
        return RegexFragment({number: 1}, {number: 1})

    def _quantified(self, fragment: RegexFragment, start: int) -> RegexFragment:
        """Parse the quantifier that follows a fragment and apply it; the fragment's atom begins at offset `start`."""
        while self.flags & re.VERBOSE and self._index < len(self.pattern) and self._skip_blank():
            pass
        begin, sign = self._index, self.pattern[self._index : self._index + 1]
        count = _COUNT.match(self.pattern, begin) if sign == "{" else None
        if sign in ("*", "+", "?"):
            least, most, end = int(sign == "+"), 1 if sign == "?" else None, begin + 1
        elif count and count[0] != "{}":
            least = int(count[1] or 0)
            most = int(count[3]) if count[3] else None if count[2] else least
            end = count.end()
        else:
            return fragment
        end += self.pattern.startswith(("?", "+"), end)
        copies = self._copies(fragment, start, least, most)
        self._index = end
        return copies

    def _copies(self, fragment: RegexFragment, start: int, least: int, most: int | None) -> RegexFragment:
        """Repeat a fragment, whose text begins at offset `start`, `least` to `most` times (None: without limit).

        Each copy is parsed again at `start`; many copies become a loop.
        """
        if most == 0:
            return EMPTY_FRAGMENT
        if (least if most is None else most) > MAX_COPIES:
            return self._loop(fragment, least=min(least, 1))
        if most is None and least <= 1:
            return self._loop(fragment, least=least)
        sequence = EMPTY_FRAGMENT
        for copy in range(1, (least if most is None else most) + 1):
            if copy > 1:
                self._index = start
                fragment = self._atom()
            if most is None and copy == least:
                fragment = self._loop(fragment, least=1)
            sequence = self._concatenate(
                sequence,
                fragment if copy <= least else RegexFragment(fragment.first, fragment.last, fragment.empty + 1),
            )
        return sequence

    def _loop(self, fragment: RegexFragment, least: int) -> RegexFragment:
        """Repeat a fragment without an upper limit; `least`, 0 or 1, is the fewest repetitions."""
        self.positions.link(fragment.last, fragment.first)
        return RegexFragment(fragment.first, fragment.last, fragment.empty + (least == 0))

    def _concatenate(self, first: RegexFragment, second: RegexFragment) -> RegexFragment:
        """Build the fragment that matches one fragment followed by another."""
        self.positions.link(first.last, second.first)
        return RegexFragment(
            _sum(first.first, second.first, first.empty),
            _sum(second.last, first.last, second.empty),
            first.empty * second.empty,
        )


def _alternative(first: RegexFragment, second: RegexFragment) -> RegexFragment:
    """Build the fragment that matches either of two fragments, as `|` does."""
    return RegexFragment(_sum(first.first, second.first), _sum(first.last, second.last), first.empty + second.empty)


def _sum(first: dict[int, int], second: dict[int, int], times: int = 1) -> dict[int, int]:
    """Add two mappings from states to numbers of ways to match; those of `second` are multiplied by `times`."""
    if not times:
        return first
    total = dict(first)
    for position, ways in second.items():
        total[position] = total.get(position, 0) + times * ways
    return total


def _representatives(pattern: str) -> str:
    """Return sample characters for a regex, such that any two overlapping character classes share one of them.

    Of any two character classes that overlap, both contain one of them.
    """
    written = {*_SAMPLE_CHARACTERS, *pattern, *(chr(int(escape[2:], 16)) for escape in _ESCAPED.findall(pattern))}
    near = {
        chr(ord(character) + step) for character in written for step in (-1, 1) if 0 <= ord(character) + step < 0x110000
    }
    cases = {
        case
        for character in written | near
        for case in (character.lower(), character.upper(), character.swapcase())
        if len(case) == 1
    }
    return "".join(sorted(written | near | cases))
