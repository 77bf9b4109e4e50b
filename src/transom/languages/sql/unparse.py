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
    Function,
    InList,
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
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def identifier(name: str) -> str:
    """A name, in double quotes where it needs them."""
    if _PLAIN.match(name) and name.lower() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'


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
        case IsNull() | InList() | Between() | Like():
            return COMPARISON
        case _:
            return ATOM


def inside(node: Node, least: int) -> str:
    """A node where something at least that tight is needed."""
    text = unparse(node)
    return text if level(node) >= least else f"({text})"


def unparse(node: Node) -> str:
    """The canonical text of an expression."""
    match node:
        case Constant(value=value):
            if value is None or isinstance(value, bool):
                return "NULL" if value is None else str(value).upper()
            return string(value) if isinstance(value, str) else repr(value)
        case TypedConstant(kind=kind, text=text):
            return f"{kind} {string(text)}"
        case Name(qualifier=qualifier, name=name):
            return identifier(name) if qualifier is None else f"{identifier(qualifier)}.{identifier(name)}"
        case Unary(operator="NOT", operand=operand):
            return f"NOT {inside(operand, NOT)}"
        case Unary(operator=operator, operand=operand):
            text = inside(operand, FACTOR)
            return f"{operator} {text}" if text[0] in "+-" else operator + text
        case Binary(operator=operator, left=left, right=right):
            own = level(node)
            if own == COMPARISON:
                return f"{inside(left, SUM)} {operator} {inside(right, SUM)}"
            return f"{inside(left, own)} {operator} {inside(right, own + 1)}"
        case Logic(operator=operator, operands=operands):
            return f" {operator} ".join(inside(operand, level(node) + 1) for operand in operands)
        case IsNull(operand=operand, negated=negated):
            return f"{inside(operand, SUM)} IS {'NOT ' if negated else ''}NULL"
        case InList(operand=operand, options=options, negated=negated):
            return f"{inside(operand, SUM)} {'NOT ' if negated else ''}IN ({', '.join(map(unparse, options))})"
        case Between(operand=operand, low=low, high=high, negated=negated):
            word = "NOT BETWEEN" if negated else "BETWEEN"
            return f"{inside(operand, SUM)} {word} {inside(low, SUM)} AND {inside(high, SUM)}"
        case Like(operand=operand, pattern=pattern, negated=negated):
            return f"{inside(operand, SUM)} {'NOT ' if negated else ''}LIKE {inside(pattern, SUM)}"
        case Function(name=name, arguments=arguments, star=star):
            return f"{name}({'*' if star else ', '.join(map(unparse, arguments))})"
        case CaseWhen(subject=subject, branches=branches, otherwise=otherwise):
            words = ["CASE"] if subject is None else ["CASE", unparse(subject)]
            words += [f"WHEN {unparse(condition)} THEN {unparse(result)}" for condition, result in branches]
            words += [] if otherwise is None else [f"ELSE {unparse(otherwise)}"]
            return " ".join([*words, "END"])
        case CastTo(operand=operand, kind=kind):
            return f"CAST({unparse(operand)} AS {kind})"
        case _:
            assert_never(node)
