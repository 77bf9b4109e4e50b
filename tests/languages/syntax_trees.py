"""Random syntax trees of expressions and of SNEEql, the same ones for the same seed, and untidy ways to write them.

Only trees that the parser can produce: numbers have no sign, AND and OR have two operands or more, functions are in
upper case. The pools lean to the corners: reserved words as names, quotes in strings, numbers at the edge.
"""

from __future__ import annotations

import re
from random import Random

from transom.languages.sneeql.syntax import (
    Convert,
    Converter,
    FromToWindow,
    OffsetUnit,
    Query,
    ScanWindow,
    Select,
    Source,
)
from transom.languages.sql.syntax import (
    Between,
    Binary,
    CaseWhen,
    CastTo,
    FunctionCall,
    InList,
    IsNull,
    Like,
    Logic,
    Name,
    Node,
    SelectItem,
    SqlLiteral,
    TypedLiteral,
    Unary,
)
from transom.languages.sql.unparse import RESERVED

PLAIN = ("site", "temp", "Temp", "x", "_", "road", "traffic", "time", "tick", "index", "a1")
WINDOW_WORDS = ("now", "to", "slide", "scan", "min", "sec", "rows", "row", "hour", "rstream", "Istream")
QUOTED = (
    *("select", "FROM", "Null", "as", "end", "having", "true", "by"),
    *("a b", " ", "1st", "a.b", "o'k", "'", '"', 'say "hi"', '""', "x\ny", "\t", "--", "a--b", "[", ";", "("),
    *("é", "表", "\u2212", "ſelect", "\u212aelvin", "İn", "\u00a0", "\x00", "😀", "\r\n"),
)
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", "ABS", "COALESCE", "F_1", "_", "NOW", "LEFT", "SEC", "TIME")
TYPES = ("integer", "float", "string", "boolean", "decimal", "time", "timestamp", "no_such_type")
INTEGERS = (0, 1, 2, 7, 10, 50, 2**31, 2**53 + 1, 2**63 - 1)
FLOATS = (0.0, 0.1, 0.5, 1.0, 1e-07, 1e16, 1e300, 1.7976931348623157e308, 5e-324, 2.5e-10, 123456789.125)
STRINGS = ("", "a", "it's", "''", "'", '"', "--", "-- no comment", "a\nb", "%_x", "é", "表", "\\", ";", "\x00", "null")
ARITHMETIC = ("+", "-", "*", "/", "%", "||")
COMPARISONS = ("=", "<>", "<", "<=", ">", ">=")
OFFSETS = (0, 0, 1, 5, 10, 59, 3600, 2**63 - 1)
COMMENTS = ("", " ", "why", "it's", '"', "-- --", "SELECT x", "é 表", ")", "' \" '", "\t tab", "[FROM NOW]", ";")


class Scalars:
    """A source of random expressions; `room` is how many levels may still follow."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.rng.random() < probability

    def name(self) -> str:
        """The name of an attribute, an extent or an alias."""
        return self.rng.choice(self.rng.choices((PLAIN, WINDOW_WORDS, QUOTED), (4, 1, 2))[0])

    def item(self, room: int) -> SelectItem:
        """One item of the select list."""
        return SelectItem(self.expression(room - 1), self.name() if self.chance(0.3) else None)

    def expression(self, room: int) -> Node:
        """Any scalar expression."""
        if room <= 0 or self.chance(0.15):
            return self.leaf()
        match self.rng.randrange(12):
            case 0 | 1:
                return Binary(self.rng.choice(ARITHMETIC), self.expression(room - 1), self.expression(room - 1))
            case 2 | 3:
                return Binary(self.rng.choice(COMPARISONS), self.expression(room - 1), self.expression(room - 1))
            case 4 | 5:
                operands = self.several(room, self.rng.choice((2, 2, 3)))
                return Logic(self.rng.choice(("AND", "OR")), operands)
            case 6:
                return Unary("NOT", self.expression(room - 1))
            case 7:
                return Unary(self.rng.choice("+--"), self.expression(room - 1))
            case 8:
                return self.test(room)
            case 9:
                return self.call(room)
            case 10:
                return self.case(room)
            case _:
                return CastTo(self.expression(room - 1), self.rng.choice(TYPES))

    def several(self, room: int, count: int) -> tuple[Node, ...]:
        """So many expressions."""
        return tuple(self.expression(room - 1) for _ in range(count))

    def test(self, room: int) -> Node:
        """IS NULL, IN, BETWEEN or LIKE, negated or not."""
        negated = self.chance(0.4)
        match self.rng.randrange(4):
            case 0:
                return IsNull(self.expression(room - 1), negated)
            case 1:
                return InList(self.expression(room - 1), self.several(room, self.rng.choice((1, 2, 3))), negated)
            case 2:
                operand, low, high = self.several(room, 3)
                return Between(operand, low, high, negated)
            case _:
                operand, pattern = self.several(room, 2)
                return Like(operand, pattern, negated)

    def call(self, room: int) -> FunctionCall:
        """A function of up to three arguments, or f(*)."""
        name = self.rng.choice(FUNCTIONS)
        if self.chance(0.2):
            return FunctionCall("COUNT" if self.chance(0.8) else name, (), star=True)
        return FunctionCall(name, self.several(room, self.rng.randrange(4)))

    def case(self, room: int) -> CaseWhen:
        """Both forms of CASE."""
        subject = self.expression(room - 1) if self.chance(0.5) else None
        branches = tuple(
            (self.expression(room - 1), self.expression(room - 1)) for _ in range(self.rng.choice((1, 1, 2)))
        )
        return CaseWhen(subject, branches, self.expression(room - 1) if self.chance(0.5) else None)

    def leaf(self) -> Node:
        """A constant or a name."""
        match self.rng.randrange(7):
            case 0:
                return SqlLiteral(self.rng.choice(INTEGERS))
            case 1:
                return SqlLiteral(self.rng.choice(FLOATS))
            case 2:
                return SqlLiteral(self.rng.choice(STRINGS))
            case 3:
                return SqlLiteral(self.rng.choice((True, False, None)))
            case 4:
                kind = self.rng.choice(("TIME", "TIMESTAMP", "DATE", "X_1"))
                return TypedLiteral(kind, self.rng.choice(("2009-03-01T12:00:00Z", "0", *STRINGS)))
            case _:
                return Name(self.name() if self.chance(0.3) else None, self.name())


class Trees(Scalars):
    """A source of random queries of SNEEql."""

    def query(self, room: int = 4) -> Query:
        """Any query."""
        if room > 1 and self.chance(0.25):
            return Convert(self.rng.choice(list(Converter)), self.query(room - 1))
        return self.select(room)

    def select(self, room: int) -> Select:
        """SELECT with any of its clauses."""
        items = tuple(self.item(room) for _ in range(self.rng.choice((0, 1, 1, 2, 3))))
        sources = tuple(self.source(room) for _ in range(self.rng.choice((1, 1, 1, 2, 3))))
        where = self.expression(room) if self.chance(0.5) else None
        groups = tuple(self.expression(room - 1) for _ in range(self.rng.choice((0, 0, 0, 1, 2))))
        having = self.expression(room - 1) if self.chance(0.2) else None
        return Select(items, sources, where, groups, having)

    def source(self, room: int) -> Source:
        """An extent or a subquery, with any window and alias."""
        nested = room > 1 and self.chance(0.3)
        window = None if self.chance(0.3) else self.window()
        return Source(
            self.query(room - 1) if nested else self.name(), self.name() if self.chance(0.3) else None, window
        )

    def window(self) -> FromToWindow | ScanWindow:
        """A window of any unit."""
        unit = self.rng.choice(list(OffsetUnit))
        if self.chance(0.25):
            return ScanWindow(self.rng.choice(OFFSETS), unit)
        past, until, slide = (self.rng.choice(OFFSETS) for _ in range(3))
        return FromToWindow(past, until, slide, unit)


_PIECES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[ \n]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|\w+|.", re.DOTALL)


def untidy(text: str, rng: Random) -> str:
    """A canonical text with other blanks, keywords in any case, and the minus sign that typesetters use."""
    pieces: list[str] = []
    for found in _PIECES.finditer(text):
        piece = found[0]
        if piece.isspace():
            piece = rng.choice((" ", "  ", "\n", "\t", "\r\n", "\f ", "\n\n"))
        elif piece.lower() in RESERVED or text[found.end() : found.end() + 1] == "(":
            piece = "".join(rng.choice((c.lower(), c.upper())) for c in piece)
        elif piece == "-":
            piece = rng.choice("-\u2212")
        pieces.append(piece)
    return "".join(pieces) + rng.choice(("", ";", " ;\n", "\n"))


def commented(text: str, rng: Random) -> tuple[str, list[str]]:
    """A text with comments at random blanks, and the comments in their order."""
    comments: list[str] = []
    pieces: list[str] = []
    for found in _PIECES.finditer(text + " "):
        piece = found[0]
        if piece.isspace() and rng.random() < 0.15:
            comments.append("--" + rng.choice(COMMENTS))
            piece = rng.choice(" \n\t") + comments[-1] + "\n"
        pieces.append(piece)
    return "".join(pieces), [comment.rstrip() for comment in comments]
