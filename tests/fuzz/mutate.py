"""Ways to spoil a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

TOKEN = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|\w+|\s+|.", re.DOTALL)
WORDS = (
    *("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "AS", "AND", "OR", "NOT", "IN", "IS", "NULL", "LIKE", "BETWEEN"),
    *(
        "CASE",
        "WHEN",
        "THEN",
        "ELSE",
        "END",
        "CAST",
        "TRUE",
        "FALSE",
        "RSTREAM(",
        "ISTREAM(",
        "COUNT(*)",
        "MAX(",
        "SUM(",
    ),
    *(
        "[FROM NOW-5 TO NOW SLIDE 1 MIN]",
        "[SCAN 1 SEC]",
        "NOW",
        "TO",
        "SLIDE",
        "SCAN",
        "ROWS",
        "SEC",
        "HOUR",
        "TIME ''",
    ),
    *(
        "road",
        "temp",
        "traffic",
        "site",
        "tick",
        "index",
        "x",
        "a.x",
        "tempClass",
        '"x y"',
        "''",
        "'2009-03-01'",
        "1e308",
    ),
    *("[NOW]", "[ROWS 2]", "[RANGE '5 min', SLIDE '1 min']", "RANGE BY", "SLIDE BY", "RATTR SPACE", "SATTR TIME"),
    *("PARTITION BY id", "UNBOUNDED", "RStream(", "AvgSpd(R)", "Stamps(*)", "inside(g, Zone)", "JOIN", "LEFT JOIN"),
    *("ON", "UNION", "EXCEPT ALL", "INTERSECT", "EXISTS (", "DISTINCT", "g", "t", "'50 km'", "‘5 kms’", "cars", "R="),
    *("0", "1", "-1", "1.5", ".5", "1.", "9223372036854775807", "9" * 25, "1e400", "1e-400", "0x1f", "1_000"),
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ".",
        ";",
        "*",
        "+",
        "-",
        "/",
        "%",
        "||",
        "=",
        "<>",
        "!=",
        "<=",
        ">",
        "--",
        "/*",
    ),
    *(
        "sensed",
        "pushed",
        "stored",
        "RATE",
        "SITES",
        "kind",
        "attributes",
        "extents",
        "source",
        "files",
        "table",
        "generate",
    ),
    *("versions", "walk", "clock", "choice", "integer", "float", "string", "time", "timestamp", "decimal", "boolean"),
    *(
        ": ",
        "- ",
        "? ",
        "&a ",
        "*a",
        "!!int ",
        "!!python/name:os.system ",
        "|\n",
        ">-\n",
        "---\n",
        "...\n",
        "%YAML 3.0\n",
    ),
    *("~", "null", "true", ".inf", ".nan", "on", "010", "1 min", "20 per min", "0 s", "99999999999999 d", "<<: "),
    *("0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2009-13-45", "1969-12-31", "'0001-01-01T00:00+23:59'"),
)
ALIKE = (
    ("+", "-", "*", "/", "%", "||", "=", "<>", "<", ">=", "AND", "OR", "LIKE"),
    (
        "0",
        "1",
        "2",
        "7",
        "1.5",
        "1e3",
        "NULL",
        "TRUE",
        "'2009-03-01'",
        "'c%'",
        "''",
        "TIME '2009-03-01'",
        "(1)",
        "-1",
        "+x",
    ),
    (
        "site",
        "time",
        "temp",
        "vibration",
        "weight",
        "vehicle",
        "at",
        "price",
        "ok",
        "category",
        "x",
        "y",
        "tick",
        "index",
    ),
    ("road", "traffic", "tempClass", "a", "b", "l", "r", "s", "q"),
    (
        "COUNT",
        "SUM",
        "AVG",
        "MIN",
        "MAX",
        "ABS",
        "COALESCE",
        "UPPER",
        "TICK",
        "INSTANT",
        "HOUR",
        "ROUND",
        "NULLIF",
        "SIGN",
    ),
    ("SEC", "MIN", "HOUR", "ROWS", "ROW"),
    ("WHERE", "HAVING", "GROUP BY", "GROUP BY x HAVING"),
    ("integer", "float", "string", "time", "timestamp", "decimal", "boolean"),
    ("sensed", "pushed", "stored"),
    ("1 min", "1 s", "1 d", "20 per min", "500 ms", "0 s"),
)
"""Words that can stand where another of the same row stands."""
STRANGE = (
    *"\x00\x01\x07\x08\x0b\x0c\x1b\x1f\x7f\x85\xa0\xad",
    *"\u0130\u0131\u017f\u212a\u2028\u2029\u200b\u200f\u202e\u2212\u3000\ufeff\ufffe\ud800\udfff",
    *"éß表٣²½😀\U0010ffff\t\r\n'\"`\\@#$^&!?~",
)
LOOKALIKES = {
    "i": "\u0130\u0131",
    "s": "\u017f",
    "k": "\u212a",
    "-": "\u2212\u2013",
    " ": "\xa0\u3000",
    "1": "١１",
    "'": "’",
}
"""Characters that look like others, or are the same as them when case is ignored."""
DEEP = (
    "(",
    "[",
    "{",
    "NOT ",
    "- ",
    "-",
    "+",
    "RSTREAM(",
    "(SELECT x FROM ",
    "CASE ",
    "ABS(",
    "1 + ",
    "- - ",
    "{a: ",
    "a AND ",
)
CLOSING = {"(": ")", "[": "]", "{": "}"}
DEPTHS = (3, 20, 60, 119, 121, 130, 500, 3000)
LENGTHS = (20, 21, 300, 5000, 18_000, 25_000, 130_000)


def mutate(text: str, others: Sequence[str], dice: Random) -> str:
    """A text with a few changes; `others` are there to be spliced in."""
    for _ in range(dice.choice((0, 1, 1, 1, 1, 2, 2, 3, 5, 9))):
        change = dice.choices(_CHANGES, _WEIGHTS)[0]
        text = change(text, others, dice)
    return text


def _piece(text: str, dice: Random) -> tuple[int, int]:
    start = dice.randrange(len(text) + 1)
    return start, min(len(text), start + dice.choice((1, 1, 2, 3, 8, 30)))


def _delete(text: str, others: Sequence[str], dice: Random) -> str:
    start, end = _piece(text, dice)
    return text[:start] + text[end:]


def _duplicate(text: str, others: Sequence[str], dice: Random) -> str:
    start, end = _piece(text, dice)
    return text[:end] + text[start:end] * dice.choice((1, 1, 1, 2, 50)) + text[end:]


def _swap(text: str, others: Sequence[str], dice: Random) -> str:
    one, two, three, four = sorted(dice.randrange(len(text) + 1) for _ in range(4))
    return text[:one] + text[three:four] + text[two:three] + text[one:two] + text[four:]


def _strange(text: str, others: Sequence[str], dice: Random) -> str:
    start, end = _piece(text, dice)
    letter = chr(dice.randrange(0x300)) if dice.random() < 0.3 else dice.choice(STRANGE)
    return text[:start] + letter + text[dice.choice((start, end)) :]


def _lookalike(text: str, others: Sequence[str], dice: Random) -> str:
    letter = dice.choice(list(LOOKALIKES))
    places = [place for place, own in enumerate(text) if own.lower() == letter]
    if not places:
        return text
    place = dice.choice(places)
    return text[:place] + dice.choice(LOOKALIKES[letter]) + text[place + 1 :]


def _case(text: str, others: Sequence[str], dice: Random) -> str:
    start, end = _piece(text, dice)
    return text[:start] + text[start:end].swapcase() + text[end:]


def _token(text: str, others: Sequence[str], dice: Random) -> str:
    tokens = TOKEN.findall(text) or [""]
    place, other = dice.randrange(len(tokens)), dice.randrange(len(tokens))
    match dice.randrange(5):
        case 0:
            tokens[place] = ""
        case 1:
            tokens[place] = tokens[other]
        case 2:
            tokens[place], tokens[other] = tokens[other], tokens[place]
        case 3:
            tokens[place] = dice.choice(WORDS)
        case _:
            tokens[place] += f" {dice.choice(WORDS)} "
    return "".join(tokens)


def _alike(text: str, others: Sequence[str], dice: Random) -> str:
    tokens = TOKEN.findall(text) or [""]
    for _ in range(20):
        place = dice.randrange(len(tokens))
        for row in ALIKE:
            if tokens[place] in row or (tokens[place].isdigit() and "1" in row):
                tokens[place] = dice.choice(row)
                return "".join(tokens)
    return text


def _splice(text: str, others: Sequence[str], dice: Random) -> str:
    other = dice.choice(others)
    return text[: dice.randrange(len(text) + 1)] + other[dice.randrange(len(other) + 1) :]


def _truncate(text: str, others: Sequence[str], dice: Random) -> str:
    return text[: dice.randrange(len(text) + 1)] if dice.random() < 0.7 else text[dice.randrange(len(text) + 1) :]


def _nest(text: str, others: Sequence[str], dice: Random) -> str:
    opening, depth = dice.choice(DEEP), dice.choice(DEPTHS)
    closing = "".join(CLOSING.get(sign, "") for sign in reversed(opening)) if dice.random() < 0.8 else ""
    tokens = TOKEN.findall(text) or [""]
    place = dice.randrange(len(tokens))
    tokens[place] = opening * depth + tokens[place] + closing * depth
    return "".join(tokens)


def _long(text: str, others: Sequence[str], dice: Random) -> str:
    start, end = _piece(text, dice)
    length = dice.choice(LENGTHS)
    unit = dice.choice(("a", "9", "'", '"', " ", "\n", "x,", "--", "-", ".", "e", "'' ", "é", "(x) ", ": ", "&", "0"))
    quote = dice.choice(("", "", "'", '"'))
    return text[:start] + quote + unit * (length // len(unit)) + quote + text[end:]


_CHANGES: tuple[Callable[[str, Sequence[str], Random], str], ...] = (
    *(_delete, _duplicate, _swap, _strange, _lookalike, _case, _alike, _token, _splice, _truncate, _nest, _long),
)
_WEIGHTS = (6, 4, 4, 5, 3, 3, 60, 25, 4, 3, 2, 0.4)
