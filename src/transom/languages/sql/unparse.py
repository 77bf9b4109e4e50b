"""Prints scalar expressions as canonical text, with no more parentheses than needed."""

from __future__ import annotations

import re
from typing import assert_never

from transom.languages.sql.syntax import (
    Between,
    Binary,
    CaseWhen,
    CastTo,
    Exists,
    FunctionCall,
    InList,
    InSubquery,
    IsNull,
    Like,
    Logic,
    Name,
    Node,
    SqlLiteral,
    TypedLiteral,
    Unary,
)

RESERVED = frozenset(
    {
        *("and", "or", "not", "is", "null", "in", "between", "like", "case", "when", "then", "else", "end", "cast"),
        *("as", "true", "false", "select", "from", "where", "group", "by", "having"),
    }
)
"""Reserved words; a name that is one needs double quotes."""

OR, AND, NOT, COMPARISON, SUM, TERM, FACTOR, ATOM = range(8)
_BINARY = {"+": SUM, "-": SUM, "||": SUM, "*": TERM, "/": TERM, "%": TERM}
FUNCTION_SPELLINGS = {"AVGSPD": "AvgSpd", "STAMPS": "Stamps"}
"""Functions that are not written in capitals."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def quote_string(text: str) -> str:
    """Return a string as a quoted SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def precedence(node: Node) -> int:
    """Return the precedence of the outermost operator of an expression; a higher one binds more tightly."""
    match node:
        case Logic(operator=operator):
            return OR if operator == "OR" else AND
        case Unary(operator=operator):
            return NOT if operator == "NOT" else FACTOR
        case Binary(operator=operator):
            return _BINARY.get(operator, COMPARISON)
        case IsNull() | InList() | Between() | Like() | InSubquery() | Exists():
            return COMPARISON
        case _:
            return ATOM


class Printer:
    """Prints expressions; a language may override the reserved words and the printing of subqueries."""

    reserved: frozenset[str] = RESERVED

    def identifier(self, name: str) -> str:
        """Return a name as text, in double quotes if it is reserved or not plain letters, digits and underscores."""
        if _PLAIN.match(name) and name.lower() not in self.reserved:
            return name
        return '"' + name.replace('"', '""') + '"'

    def query(self, query: object) -> str:
        """Return `...` in place of a subquery; subclasses that know queries return its text on one line."""
        return "..."

    def operand(self, node: Node, min_precedence: int) -> str:
        """Return the text of an operand, in parentheses if its precedence is below `min_precedence`."""
        text = self.unparse(node)
        return text if precedence(node) >= min_precedence else f"({text})"

    def unparse(self, node: Node) -> str:
        """Return the canonical SQL text of an expression."""
        match node:
            case SqlLiteral(value=value):
                if value is None or isinstance(value, bool):
                    return "NULL" if value is None else str(value).upper()
                return quote_string(value) if isinstance(value, str) else repr(value)
            case TypedLiteral(kind=kind, text=text):
                return f"{kind} {quote_string(text)}"
            case Name(qualifier=qualifier, name=name):
                return (
                    self.identifier(name)
                    if qualifier is None
                    else f"{self.identifier(qualifier)}.{self.identifier(name)}"
                )
            case Unary(operator="NOT", operand=operand):
                return f"NOT {self.operand(operand, NOT)}"
            case Unary(operator=operator, operand=operand):
                text = self.operand(operand, FACTOR)
                return f"{operator} {text}" if text[0] in "+-" else operator + text
            case Binary(operator=operator, left=left, right=right):
                level = precedence(node)
                if level == COMPARISON:
                    return f"{self.operand(left, SUM)} {operator} {self.operand(right, SUM)}"
                return f"{self.operand(left, level)} {operator} {self.operand(right, level + 1)}"
            case Logic(operator=operator, operands=operands):
                return f" {operator} ".join(self.operand(operand, precedence(node) + 1) for operand in operands)
            case IsNull(operand=operand, negated=negated):
                return f"{self.operand(operand, SUM)} IS {'NOT ' if negated else ''}NULL"
            case InList(operand=operand, options=options, negated=negated):
                options_text = ", ".join(map(self.unparse, options))
                return f"{self.operand(operand, SUM)} {'NOT ' if negated else ''}IN ({options_text})"
            case Between(operand=operand, low=low, high=high, negated=negated):
                keyword = "NOT BETWEEN" if negated else "BETWEEN"
                return f"{self.operand(operand, SUM)} {keyword} {self.operand(low, SUM)} AND {self.operand(high, SUM)}"
            case Like(operand=operand, pattern=pattern, negated=negated):
                return f"{self.operand(operand, SUM)} {'NOT ' if negated else ''}LIKE {self.operand(pattern, SUM)}"
            case FunctionCall(name=name, arguments=arguments, star=star):
                return (
                    f"{FUNCTION_SPELLINGS.get(name, name)}({'*' if star else ', '.join(map(self.unparse, arguments))})"
                )
            case CaseWhen(subject=subject, branches=branches, otherwise=otherwise):
                parts = ["CASE"] if subject is None else ["CASE", self.unparse(subject)]
                parts += [
                    f"WHEN {self.unparse(condition)} THEN {self.unparse(result)}" for condition, result in branches
                ]
                parts += [] if otherwise is None else [f"ELSE {self.unparse(otherwise)}"]
                return " ".join([*parts, "END"])
            case CastTo(operand=operand, kind=kind):
                return f"CAST({self.unparse(operand)} AS {kind})"
            case InSubquery(operand=operand, query=query, negated=negated):
                return f"{self.operand(operand, SUM)} {'NOT ' if negated else ''}IN ({self.query(query)})"
            case Exists(query=query):
                return f"EXISTS ({self.query(query)})"
            case _:
                assert_never(node)


PRINTER = Printer()


def identifier(name: str) -> str:
    """Return a name as text, in double quotes if it is reserved or not plain letters, digits and underscores."""
    return PRINTER.identifier(name)


def unparse(node: Node) -> str:
    """Return the canonical SQL text of an expression."""
    return PRINTER.unparse(node)
