"""Expressions whose text means the same in SNEEql, CQL and SQL; sums of their numbers are exact in binary."""

from __future__ import annotations

import random
from typing import Any

from tests.holdout.sql import literal

Columns = list[tuple[str, str]]
"""Names, perhaps qualified, and types."""

STRINGS = ("ab", "b", "B", "cab", "a_b", "", "ü")


class Expressions:
    """Draws expressions over columns."""

    def __init__(self, source: random.Random) -> None:
        self.random = source

    def value(self, kind: str, gaps: float = 0.12) -> Any:
        """A value of a type, sometimes NULL."""
        draw = self.random
        if draw.random() < gaps:
            return None
        match kind:
            case "integer":
                return draw.randrange(-3, 8)
            case "float":
                return draw.randrange(-8, 24) / 4
            case "boolean":
                return draw.random() < 0.5
            case _:
                return draw.choice(STRINGS)

    def pick(self, columns: Columns, *kinds: str) -> str | None:
        """One column of these types, if there is one."""
        fitting = [name for name, kind in columns if kind in kinds]
        return self.random.choice(fitting) if fitting else None

    def number(self, columns: Columns) -> tuple[str, str]:
        """A number that sums exactly in binary."""
        numbers = [one for one in columns if one[1] in ("integer", "float")]
        if not numbers:
            name = self.pick(columns, "string")
            return f"LENGTH({name})" if name else f"CASE WHEN {columns[0][0]} THEN 1 END", "integer"
        name, kind = self.random.choice(numbers)
        other = self.pick(columns, kind) or name
        constant = self.random.randrange(-2, 5)
        forms = [
            (name, kind),
            (name, kind),
            (f"{name} + {constant}", kind),
            (f"{name} * 2 - {other}", kind),
            (f"-{name}", kind),
            (f"ABS({name})", kind),
            (f"{name} / 2", "float"),
            (f"{name} * 25e-2", "float"),
            (f"COALESCE({name}, {literal(3 if kind == 'integer' else 0.5)})", kind),
            (f"GREATEST({name}, {other})", kind),
            (f"LEAST({name}, {other})", kind),
            (f"NULLIF({name}, {other})", kind),
            (f"CASE WHEN {name} > {constant} THEN {other} ELSE {name} END", kind),
            (f"CASE WHEN {name} > {constant} THEN {other} END", kind),
            (f"SIGN({name})", "integer"),
            (f"FLOOR({name} / 2)", "float"),
            (f"CEIL({name} * 75e-2)", "float"),
            (f"ROUND({name} / 2)", "float"),
            (f"ROUND({name} * 25e-2, 1) * 10", "float"),
            (f"COALESCE(NULLIF({name}, {constant}), {other})", kind),
        ]
        if kind == "integer":
            forms += [(f"{name} % 3", kind), (f"{name} % ({other})", kind)]
        return self.random.choice(forms)

    def string(self, columns: Columns) -> tuple[str, str]:
        """A string, or something of one."""
        name = self.pick(columns, "string")
        if name is None:
            return self.number(columns)
        forms = [
            (name, "string"),
            (name, "string"),
            (f"UPPER({name})", "string"),
            (f"{name} || '-'", "string"),
            (f"{name} || UPPER({name})", "string"),
            (f"SUBSTRING({name}, 2, 2)", "string"),
            (f"LEFT({name}, 1) || RIGHT({name}, 2)", "string"),
            (f"TRIM(' ' || {name} || '  ')", "string"),
            (f"STARTS_WITH({name}, 'a')", "boolean"),
            (f"ENDS_WITH({name}, 'b')", "boolean"),
            (f"LENGTH({name})", "integer"),
            (f"REPLACE({name}, 'b', 'xy')", "string"),
            (f"COALESCE({name}, 'none')", "string"),
            (f"CASE {name} WHEN 'b' THEN 'one' WHEN 'ab' THEN 'two' ELSE {name} END", "string"),
        ]
        return self.random.choice(forms)

    def truth(self, columns: Columns) -> tuple[str, str]:
        """A truth value, or one that was made something else."""
        condition = self.condition(columns)
        number, kind = self.number(columns)
        forms = [
            (f"({condition})", "boolean"),
            (f"NOT ({condition})", "boolean"),
            (f"CASE WHEN {condition} THEN 1 ELSE 0 END", "integer"),
            (f"CASE WHEN {condition} THEN 'yes' END", "string"),
        ]
        if kind == "integer":
            forms += [(f"CAST({number} AS string)", "string"), (f"CAST({number} AS boolean)", "boolean")]
        return self.random.choice(forms)

    def any(self, columns: Columns) -> tuple[str, str]:
        """An expression of any type."""
        return self.random.choice([self.number, self.string, self.number, self.string, self.truth])(columns)

    def condition(self, columns: Columns, depth: int = 1) -> str:
        """A condition."""
        draw = self.random
        number, kind = self.number(columns)
        plain = self.pick(columns, "string")
        truth = self.pick(columns, "boolean")
        constant = draw.randrange(-2, 6)
        forms = [
            f"{number} {draw.choice(['=', '<>', '<', '<=', '>', '>='])} {constant}",
            f"{number} {draw.choice(['<', '<=', '>', '>='])} {self.number(columns)[0]}",
            f"{number} {draw.choice(['', 'NOT '])}BETWEEN {constant - 2} AND {constant + 3}",
            f"{number} IS {draw.choice(['', 'NOT '])}NULL",
        ]
        if kind == "integer":
            forms.append(f"{number} {draw.choice(['', 'NOT '])}IN (0, 1, {constant})")
            forms.append(f"{number} {draw.choice(['', 'NOT '])}IN ({constant}, NULL)")
        if plain:
            pattern = draw.choice(["a%", "%b", "_", "%a_%", "ab"])
            forms.append(f"{plain} {draw.choice(['', 'NOT '])}LIKE '{pattern}'")
            forms.append(f"{plain} {draw.choice(['=', '<', '>='])} {literal(draw.choice(STRINGS[:5]))}")
        if truth:
            forms += [truth, f"NOT {truth}"]
        text = draw.choice(forms)
        if depth and draw.random() < 0.45:
            other = self.condition(columns, depth - 1)
            text = draw.choice([f"{text} AND {other}", f"({text} OR {other})", f"NOT ({text} AND {other})"])
        return text
