"""A regular expression as an automaton of positions, with the number of ways in which one position follows another.

A position is a place in the pattern that takes one character. Two ways from one position to the next without taking a
character in between, as in `(a*)*`, are two ways for a matcher that goes back; so followers have a count.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MOST_POSITIONS = 4_000
MOST_COPIES = 4
"""A counted repetition of at most so many is written out; a longer one is taken for an endless one."""
_COUNT = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_LENGTHS = {"x": 4, "u": 6, "U": 10}
_SOME = "09azAZ_ \t\n\r!~-\x00\x7f\x85éßǅ٣一\u2028\ufffe\U0001f600\U0010ffff"
_ESCAPED = re.compile(r"\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}")
ANY = "(?s:.)"


class TooLarge(Exception):
    """A pattern with more positions than are looked at."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a pattern: the positions that come first and last in it, and how it matches nothing, with counts."""

    first: dict[int, int]
    last: dict[int, int]
    empty: int = 0


NOTHING = Piece({}, {}, 1)


@dataclass(slots=True)
class Positions:
    """The positions of a pattern: which of some characters each takes, as bits, and what follows it how often."""

    takes: list[int] = field(default_factory=list)
    follow: list[dict[int, int]] = field(default_factory=list)

    def add(self, takes: int) -> int:
        """One more position."""
        if len(self.takes) >= MOST_POSITIONS:
            raise TooLarge
        self.takes.append(takes)
        self.follow.append({})
        return len(self.takes) - 1

    def link(self, last: dict[int, int], first: dict[int, int]) -> None:
        """Let some positions follow others."""
        for one, ways in last.items():
            for other, more in first.items():
                self.follow[one][other] = self.follow[one].get(other, 0) + ways * more


class Reader:
    """Reads a pattern as Python's `re` does; one that `re` does not compile must not come here."""

    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self.pattern = pattern
        self.flags = flags
        self.positions = Positions()
        self.anchored = not flags & re.MULTILINE
        self._place = 0
        self._depth = 0
        self._characters = _representatives(pattern)
        self._known: dict[str, int] = {}

    def read(self) -> Piece:
        """The whole pattern."""
        return self._alternatives()

    def taken(self, atom: str) -> int:
        """Which characters an atom takes."""
        if atom not in self._known:
            machine = re.compile(atom, self.flags & ~re.VERBOSE)
            bits = (bool(machine.fullmatch(sign)) << place for place, sign in enumerate(self._characters))
            self._known[atom] = sum(bits)
        return self._known[atom]

    def _alternatives(self) -> Piece:
        found: Piece | None = None
        while True:
            if self._depth == 0 and not self.pattern.startswith(("^", r"\A"), self._place):
                self.anchored = False
            piece = self._sequence()
            found = piece if found is None else _either(found, piece)
            if not self.pattern.startswith("|", self._place):
                return found
            self._place += 1

    def _sequence(self) -> Piece:
        found = NOTHING
        while self._place < len(self.pattern) and self.pattern[self._place] not in "|)":
            if self.flags & re.VERBOSE and self._skipped():
                continue
            start = self._place
            piece = self._atom()
            found = self._then(found, self._repeated(piece, start))
        return found

    def _skipped(self) -> bool:
        """Skip white space or a comment of a verbose pattern."""
        if self.pattern[self._place] == "#":
            end = self.pattern.find("\n", self._place)
            self._place = len(self.pattern) if end < 0 else end + 1
            return True
        if self.pattern[self._place] in " \t\n\r\f\v":
            self._place += 1
            return True
        return False

    def _atom(self) -> Piece:
        pattern, start = self.pattern, self._place
        sign = pattern[start]
        if sign == "(":
            self._place += 3 if pattern.startswith("(?:", start) else 1
            self._depth += 1
            found = self._alternatives()
            self._depth -= 1
            self._place += 1
            return found
        if sign in "^$" or pattern.startswith((r"\Z", r"\A", r"\b", r"\B"), start):
            self._place += 1 if sign in "^$" else 2
            return NOTHING
        if sign == "\\" and pattern[start + 1] in "123456789":
            self._place = start + (3 if pattern[start + 2 : start + 3].isdigit() else 2)
            return self._loop(self._one(self.taken(ANY)), least=0)  # what a group took, whatever that is
        self._place = self._end(start)
        atom = pattern[start : self._place]
        return self._one(self.taken(ANY if sign == "." else re.escape(sign) if len(atom) == 1 else atom))

    def _end(self, start: int) -> int:
        """Where an atom of one character ends."""
        pattern = self.pattern
        if pattern[start] == "[":
            place = start + (2 if pattern.startswith("[^", start) else 1)
            place += pattern.startswith("]", place)
            while pattern[place] != "]":
                place += 2 if pattern[place] == "\\" else 1
            return place + 1
        if pattern[start] != "\\":
            return start + 1
        letter = pattern[start + 1]
        if letter == "N":
            return pattern.index("}", start) + 1
        if letter == "0":
            return start + 2 + len(re.match(r"[0-7]{0,2}", pattern[start + 2 :])[0])  # type: ignore[index]
        return start + _LENGTHS.get(letter, 2)

    def _one(self, takes: int) -> Piece:
        place = self.positions.add(takes)
        return Piece({place: 1}, {place: 1})

    def _repeated(self, piece: Piece, start: int) -> Piece:
        """A piece with the repetition that stands after it."""
        while self.flags & re.VERBOSE and self._place < len(self.pattern) and self._skipped():
            pass
        end, sign = self._place, self.pattern[self._place : self._place + 1]
        count = _COUNT.match(self.pattern, end) if sign == "{" else None
        if sign in ("*", "+", "?"):
            least, most, after = int(sign == "+"), 1 if sign == "?" else None, end + 1
        elif count and count[0] != "{}":
            least = int(count[1] or 0)
            most = int(count[3]) if count[3] else None if count[2] else least
            after = count.end()
        else:
            return piece
        after += self.pattern.startswith(("?", "+"), after)
        found = self._copies(piece, start, least, most)
        self._place = after
        return found

    def _copies(self, piece: Piece, start: int, least: int, most: int | None) -> Piece:
        if most == 0:
            return NOTHING
        if (least if most is None else most) > MOST_COPIES:
            return self._loop(piece, least=min(least, 1))
        if most is None and least <= 1:
            return self._loop(piece, least=least)
        found = NOTHING
        for copy in range(1, (least if most is None else most) + 1):
            if copy > 1:
                self._place = start
                piece = self._atom()
            if most is None and copy == least:
                piece = self._loop(piece, least=1)
            found = self._then(found, piece if copy <= least else Piece(piece.first, piece.last, piece.empty + 1))
        return found

    def _loop(self, piece: Piece, least: int) -> Piece:
        self.positions.link(piece.last, piece.first)
        return Piece(piece.first, piece.last, piece.empty + (least == 0))

    def _then(self, one: Piece, other: Piece) -> Piece:
        self.positions.link(one.last, other.first)
        return Piece(
            _sum(one.first, other.first, one.empty),
            _sum(other.last, one.last, other.empty),
            one.empty * other.empty,
        )


def _either(one: Piece, other: Piece) -> Piece:
    return Piece(_sum(one.first, other.first), _sum(one.last, other.last), one.empty + other.empty)


def _sum(one: dict[int, int], other: dict[int, int], times: int = 1) -> dict[int, int]:
    if not times:
        return one
    found = dict(one)
    for place, ways in other.items():
        found[place] = found.get(place, 0) + times * ways
    return found


def _representatives(pattern: str) -> str:
    """Characters of which every two classes of a pattern that share one share one of these."""
    written = {*_SOME, *pattern, *(chr(int(found[2:], 16)) for found in _ESCAPED.findall(pattern))}
    near = {chr(ord(sign) + step) for sign in written for step in (-1, 1) if 0 <= ord(sign) + step < 0x110000}
    cases = {
        case for sign in written | near for case in (sign.lower(), sign.upper(), sign.swapcase()) if len(case) == 1
    }
    return "".join(sorted(written | near | cases))
