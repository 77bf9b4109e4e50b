"""Syntax to canonical text, with no more parentheses than needed."""

from __future__ import annotations

import re
from typing import assert_never

from transom.languages.sql.parse import RESERVED
from transom.languages.sql.syntax import (
    Between,
    Binary,
    CaseWhen,
    CastTo,
    Constant,
    Exists,
    Function,
    InList,
    InQuery,
    IsNull,
    Like,
    Logic,
    Name,
    Node,
    TypedConstant,
    Unary,
)

OR, AND, NOT, COMPARISON, SUM, TERM, FACTOR, ATOM = range(8)
_BINARY = {"+": SUM, "-": SUM, "||": SUM, "*": TERM, "/": TERM, "%": TERM}
SPELLED = {"AVGSPD": "AvgSpd", "STAMPS": "Stamps"}
"""Functions that are not written in capitals."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def string(text: str) -> str:
    """A string in quotes."""
    return "'" + text.replace("'", "''") + "'"


def level(node: Node) -> int:
    """How tightly a node binds."""
    match node:
        case Logic(operator=operator):
            return OR if operator == "OR" else AND
        case Unary(operator=operator):
            return NOT if operator == "NOT" else FACTOR
        case Binary(operator=operator):
            return _BINARY.get(operator, COMPARISON)
        case IsNull() | InList() | Between() | Like() | InQuery() | Exists():
            return COMPARISON
        case _:
            return ATOM


class Printer:
    """Writes expressions; a language may have more reserved words, and queries inside expressions."""

    reserved: frozenset[str] = RESERVED

    def identifier(self, name: str) -> str:
        """A name, in double quotes where it needs them."""
        if _PLAIN.match(name) and name.lower() not in self.reserved:
            return name
        return '"' + name.replace('"', '""') + '"'

    def query(self, query: object) -> str:
        """A query inside an expression, on one line; in short where the language has none."""
        return "..."

    def inside(self, node: Node, least: int) -> str:
        """A node where something at least that tight is needed."""
        text = self.unparse(node)
        return text if level(node) >= least else f"({text})"

    def unparse(self, node: Node) -> str:
        """The canonical text of an expression."""
        match node:
            case Constant(value=value):
                if value is None or isinstance(value, bool):
                    return "NULL" if value is None else str(value).upper()
                return string(value) if isinstance(value, str) else repr(value)
            case TypedConstant(kind=kind, text=text):
                return f"{kind} {string(text)}"
            case Name(qualifier=qualifier, name=name):
                return (
                    self.identifier(name)
                    if qualifier is None
                    else f"{self.identifier(qualifier)}.{self.identifier(name)}"
                )
            case Unary(operator="NOT", operand=operand):
                return f"NOT {self.inside(operand, NOT)}"
            case Unary(operator=operator, operand=operand):
                text = self.inside(operand, FACTOR)
                return f"{operator} {text}" if text[0] in "+-" else operator + text
            case Binary(operator=operator, left=left, right=right):
                own = level(node)
                if own == COMPARISON:
                    return f"{self.inside(left, SUM)} {operator} {self.inside(right, SUM)}"
                return f"{self.inside(left, own)} {operator} {self.inside(right, own + 1)}"
            case Logic(operator=operator, operands=operands):
                return f" {operator} ".join(self.inside(operand, level(node) + 1) for operand in operands)
            case IsNull(operand=operand, negated=negated):
                return f"{self.inside(operand, SUM)} IS {'NOT ' if negated else ''}NULL"
            case InList(operand=operand, options=options, negated=negated):
                among = ", ".join(map(self.unparse, options))
                return f"{self.inside(operand, SUM)} {'NOT ' if negated else ''}IN ({among})"
            case Between(operand=operand, low=low, high=high, negated=negated):
                word = "NOT BETWEEN" if negated else "BETWEEN"
                return f"{self.inside(operand, SUM)} {word} {self.inside(low, SUM)} AND {self.inside(high, SUM)}"
            case Like(operand=operand, pattern=pattern, negated=negated):
                return f"{self.inside(operand, SUM)} {'NOT ' if negated else ''}LIKE {self.inside(pattern, SUM)}"
            case Function(name=name, arguments=arguments, star=star):
                return f"{SPELLED.get(name, name)}({'*' if star else ', '.join(map(self.unparse, arguments))})"
            case CaseWhen(subject=subject, branches=branches, otherwise=otherwise):
                words = ["CASE"] if subject is None else ["CASE", self.unparse(subject)]
                words += [
                    f"WHEN {self.unparse(condition)} THEN {self.unparse(result)}" for condition, result in branches
                ]
                words += [] if otherwise is None else [f"ELSE {self.unparse(otherwise)}"]
                return " ".join([*words, "END"])
            case CastTo(operand=operand, kind=kind):
                return f"CAST({self.unparse(operand)} AS {kind})"
            case InQuery(operand=operand, query=query, negated=negated):
                return f"{self.inside(operand, SUM)} {'NOT ' if negated else ''}IN ({self.query(query)})"
            case Exists(query=query):
                return f"EXISTS ({self.query(query)})"
            case _:
                assert_never(node)


PRINTER = Printer()


def identifier(name: str) -> str:
    """A name, in double quotes where it needs them."""
    return PRINTER.identifier(name)


def unparse(node: Node) -> str:
    """The canonical text of an expression."""
    return PRINTER.unparse(node)
