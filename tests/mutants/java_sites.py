"""Changes of a Java file, found on its tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.mutants.site import Site, numbered

TOKEN = re.compile(
    rb"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<text>\"\"\".*?\"\"\"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<number>0[xX][0-9a-fA-F_]+[lL]?|\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?[lLfFdD]?)
    |(?P<word>[A-Za-z_$][\w$]*)
    |(?P<sign>->|::|\+\+|--|&&|\|\||<<|[=!<>+\-*/%&|^]=|[^\w\s])
    |(?P<space>\s+)""",
    re.DOTALL | re.VERBOSE,
)
SIGNS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "%": "*",
    "+=": "-=",
    "-=": "+=",
    "&&": "||",
    "||": "&&",
    "++": "--",
    "--": "++",
}
ANYWHERE = {"++", "--"}
"""Signs that are written without spaces; the others are type arguments or unary without them."""


def java_sites(layer: str, path: str, source: bytes) -> list[Site]:
    """All changes of one file."""
    return list(numbered(found(layer, path, source)))


def found(layer: str, path: str, source: bytes) -> Iterator[Site]:
    """All sites, from top to bottom."""
    lines = source.decode().splitlines()
    quiet = False
    for token in TOKEN.finditer(source):
        kind, text = token.lastgroup, token[0].decode()
        if kind == "word" and text in ("throw", "import", "package", "serialVersionUID"):
            quiet = True
        elif text == ";":
            quiet = False
        if quiet:
            continue
        spaced = source[token.start() - 1 : token.start()].isspace() and source[token.end() : token.end() + 1].isspace()
        if kind == "sign" and text in SIGNS and (spaced or text in ANYWHERE):
            after, name = SIGNS[text], "operator"
        elif kind == "number" and re.fullmatch(r"\d+[lL]?", text):
            after, name = re.sub(r"\d+", lambda digits: str(int(digits[0]) + 1), text), "constant"
        elif kind == "word" and text in ("true", "false"):
            after, name = ("false" if text == "true" else "true"), "constant"
        else:
            continue
        line = source[: token.start()].count(b"\n") + 1
        code = lines[line - 1].strip()
        yield Site(layer, path, line, line, token.start(), token.end(), text, after, name, code)
