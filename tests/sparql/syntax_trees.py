"""Random syntax trees of SPARQL, the same ones for the same seed, and untidy ways to write them.

Only trees that the parser can produce. The pools lean to the corners: escapes in names, quotes in strings, signs.
"""

from __future__ import annotations

import re
from random import Random
from typing import Any

from transom.languages.sparql import syntax, terms
from transom.languages.sparql.parse_terms import ARGUMENT_COUNTS
from transom.languages.sparql.syntax import Expression, GroupPattern, Modifiers, SparqlQuery
from transom.languages.sparql.terms import Iri, IriName, Node, NumericLiteral, PrefixedName, PropertyPath, Variable

NAMES = ("x", "y", "z", "_", "Select", "é", "表", "x1", "1x", "a\u00b7b")
IRIS = ("", "http://ex/a", "a#b", "http://ex/?q=1&r='2'", "urn:é", terms.RDF_TYPE, "//x/..;p=(1)*")
PREFIXES = ("", "ex", "a", "a.b", "é", "select", "x-1")
LOCALS = ("", "p", "a.b", "1", "a:b", "x-y", "-x", ".x", "x.", "a%20b", "100%", "a/b", "~!$&'()*+,;=?#@", "_", "é")
STRINGS = (
    "",
    "a",
    "it's",
    '"',
    "'''",
    '""',
    "\\",
    "\\u0041",
    "a\nb",
    "\t\b\f\r",
    "é",
    "表",
    "# no comment",
    "\x00",
    "}",
)
NUMBERS = ("0", "1", "01", "7", "1.5", ".5", "0.0", "1e3", "1.e3", ".5E-2", "+1", "-1", "-.5", "+1e0", "9" * 30)
COUNTS = (0, 1, 2, 10, 1500, 2**63 - 1)
ONE = ("STR", "LANG", "DATATYPE", "IRI", "ABS", "STRLEN", "UCASE", "ISIRI", "ISBLANK", "SHA256", "TZ", "DAY", "HOURS")
AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT")
COMMENTS = ("", " why", "it's", '"', "# #", " { ?x", " é 表", " \\u0041", "\\\\u", " <http://x>", "}")


class Trees:
    """A source of random trees; `room` is how many levels may still follow."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.rng.random() < probability

    def some(self, make: Any, *counts: int) -> tuple[Any, ...]:
        """So many of something; the number is one of these."""
        return tuple(make() for _ in range(self.rng.choice(counts)))

    def query(self, room: int = 3) -> SparqlQuery:
        """Any query."""
        prologue = self.some(self.declaration, 0, 1, 2)
        sources = self.some(self.source, 0, 1, 1, 2)
        where = self.group(room)
        modifiers = self.modifiers(room - 1)
        form: syntax.Form
        match self.rng.randrange(6):
            case 0:
                statements = self.some(lambda: self.statement(1, plain=True), 0, 1, 2)
                form = syntax.Construct(statements, sources, where, modifiers)
            case 1:
                form = syntax.Construct(None, sources, self.triples_only(), modifiers)
            case 2:
                items = self.some(lambda: self.rng.choice((self.variable, self.iri))(), 0, 1, 2)
                form = syntax.Describe(items, sources, where if self.chance(0.7) else None, modifiers)
            case 3:
                form = syntax.Ask(sources, where, modifiers)
            case _:
                form = self.select(room, sources)
        return SparqlQuery(prologue, form)

    def declaration(self) -> syntax.Base | syntax.Prefix:
        """BASE or PREFIX."""
        if self.chance(0.3):
            return syntax.Base(self.rng.choice(IRIS))
        return syntax.Prefix(self.rng.choice(PREFIXES), self.rng.choice(IRIS))

    def source(self) -> syntax.Source:
        """One FROM clause."""
        if self.chance(0.4):
            return syntax.GraphSource(self.iri(), self.chance(0.5))
        return syntax.StreamSource(self.iri(), self.window(), self.chance(0.5))

    def window(self) -> syntax.Window:
        """Any window."""
        match self.rng.randrange(3):
            case 0:
                slide = self.duration() if self.chance(0.5) else None
                return syntax.RangeWindow(self.duration(), slide)
            case 1:
                return syntax.FixedWindow(self.duration())
            case _:
                return syntax.ElementWindow(self.rng.choice(COUNTS))

    def duration(self) -> syntax.Duration:
        """A length of time."""
        unit = self.rng.choice(list(syntax.TimeUnit)) if self.chance(0.7) else None
        return syntax.Duration(self.rng.choice(COUNTS), unit)

    def select(self, room: int, sources: tuple[syntax.Source, ...] = ()) -> syntax.Select:
        """SELECT with any of its clauses."""
        kind: Any = self.rng.choice((None, None, "DISTINCT", "REDUCED"))
        items = self.some(lambda: self.named(room - 1) if self.chance(0.3) else self.variable(), 0, 1, 2, 3)
        return syntax.Select(kind, items, sources, self.group(room - 1), self.modifiers(room - 1))

    def named(self, room: int) -> syntax.AliasedExpression:
        """(expression AS ?x)."""
        return syntax.AliasedExpression(self.expression(room), self.variable())

    def modifiers(self, room: int) -> Modifiers:
        """The clauses after the pattern; most queries have few of them."""
        return Modifiers(
            self.some(lambda: self.grouping(room), 0, 0, 0, 1, 2),
            self.some(lambda: self.expression(room), 0, 0, 0, 1),
            self.some(lambda: syntax.OrderKey(self.expression(room), self.chance(0.5)), 0, 0, 1, 2),
            self.rng.choice((None, None, 0, 10)),
            self.rng.choice((None, None, 0, 10)),
            self.values() if self.chance(0.1) else None,
        )

    def grouping(self, room: int) -> Expression | syntax.AliasedExpression:
        """One key of GROUP BY."""
        return self.named(room) if self.chance(0.3) else self.expression(room)

    def values(self) -> syntax.Values:
        """VALUES with any number of columns."""
        names = self.some(self.variable, 0, 1, 2)
        constants = (self.iri, self.literal, lambda: None)
        rows = self.some(lambda: tuple(self.rng.choice(constants)() for _ in names), 0, 1, 3)
        return syntax.Values(names, rows)

    def triples_only(self) -> GroupPattern:
        """A group of triples without paths."""
        block = self.block(plain=True)
        return GroupPattern((block,) if self.chance(0.8) else ())

    def block(self, plain: bool = False) -> syntax.TriplesBlock:
        """Statements."""
        return syntax.TriplesBlock(self.some(lambda: self.statement(2, plain), 1, 1, 2, 3))

    def group(self, room: int) -> GroupPattern:
        """A group with any patterns; two blocks of triples never stand side by side."""
        if room > 1 and self.chance(0.1):
            return GroupPattern((self.select(room - 1),))
        elements: list[syntax.Element] = []
        for _ in range(self.rng.choice((0, 1, 1, 2, 3))):
            block = bool(elements) and isinstance(elements[-1], syntax.TriplesBlock)
            elements.append(self.element(room) if block or self.chance(0.4) else self.block())
        return GroupPattern(tuple(elements), self.window() if self.chance(0.2) else None)

    def element(self, room: int) -> syntax.Element:
        """A pattern that is no block of triples."""
        name = self.variable() if self.chance(0.5) else self.iri()
        match self.rng.randrange(9 if room > 0 else 3):
            case 0:
                return syntax.Filter(self.expression(room))
            case 1:
                return syntax.Bind(self.expression(room), self.variable())
            case 2:
                return self.values()
            case 3:
                return syntax.Optional(self.group(room - 1))
            case 4:
                return syntax.Minus(self.group(room - 1))
            case 5:
                return syntax.Union(self.some(lambda: self.group(room - 1), 2, 3))
            case 6:
                return syntax.GraphPattern(name, self.group(room - 1))
            case 7:
                return syntax.Service(name, self.group(room - 1), self.chance(0.5))
            case _:
                return self.group(room - 1)

    def statement(self, room: int, plain: bool = False) -> terms.TriplesSameSubject:
        """A subject with its properties."""
        subject = self.node(room, plain)
        alone = isinstance(subject, terms.BlankNodePropertyList) and subject.properties
        alone = alone or (isinstance(subject, terms.RdfCollection) and subject.items)
        counts = (0, 1, 2) if alone else (1, 1, 2)
        return terms.TriplesSameSubject(subject, self.some(lambda: self.property(room, plain), *counts))

    def property(self, room: int, plain: bool = False) -> terms.PredicateObjectList:
        """A verb with its objects."""
        path = self.iri() if plain else self.path(2)
        verb = self.variable() if self.chance(0.2) else path
        return terms.PredicateObjectList(verb, self.some(lambda: self.node(room - 1, plain), 1, 1, 2))

    def node(self, room: int, plain: bool = False) -> Node:
        """A subject or an object."""
        match self.rng.randrange(8 if room > 0 else 6):
            case 0 | 1:
                return self.variable()
            case 2 | 3:
                return self.iri()
            case 4:
                return self.literal()
            case 5:
                return terms.BlankNode(self.rng.choice(("a", "1", "b.c", "é")))
            case 6:
                return terms.BlankNodePropertyList(self.some(lambda: self.property(room - 1, plain), 0, 1, 2))
            case _:
                return terms.RdfCollection(self.some(lambda: self.node(room - 1, plain), 0, 1, 3))

    def path(self, room: int) -> PropertyPath:
        """A predicate or a longer path."""
        if room <= 0 or self.chance(0.5):
            return self.iri()
        match self.rng.randrange(5):
            case 0:
                return terms.InversePath(self.path(room - 1))
            case 1:
                return terms.SequencePath(self.some(lambda: self.path(room - 1), 2, 3))
            case 2:
                return terms.AlternativePath(self.some(lambda: self.path(room - 1), 2, 3))
            case 3:
                sign: Any = self.rng.choice("*+?")
                return terms.RepeatedPath(self.path(room - 1), sign)
            case _:
                one = self.rng.choice((self.iri, lambda: terms.InversePath(self.iri())))
                return terms.NegatedPropertySet(self.some(one, 0, 1, 2))

    def expression(self, room: int) -> Expression:
        """Any expression."""
        if room <= 0 or self.chance(0.2):
            return self.rng.choice((self.variable, self.iri, self.literal))()
        inner = lambda: self.expression(room - 1)  # noqa: E731
        operator: Any
        match self.rng.randrange(9):
            case 0:
                operator = self.rng.choice(("||", "&&"))
                return syntax.Logic(operator, self.some(inner, 2, 3))
            case 1 | 2:
                operator = self.rng.choice(("=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"))
                return syntax.Binary(operator, inner(), inner())
            case 3:
                operator = self.rng.choice("!+-")
                return syntax.Unary(operator, inner())
            case 4:
                return syntax.InList(inner(), self.some(inner, 0, 1, 2), self.chance(0.5))
            case 5:
                return self.call(room)
            case 6:
                arguments = self.some(inner, 0, 1, 2)
                return syntax.IriCall(self.iri(), arguments, bool(arguments) and self.chance(0.2))
            case 7:
                name = self.rng.choice(AGGREGATES)
                operand = None if name == "COUNT" and self.chance(0.4) else inner()
                separator = self.rng.choice(STRINGS) if name == "GROUP_CONCAT" and self.chance(0.5) else None
                return syntax.Aggregate(name, operand, self.chance(0.3), separator)
            case _:
                return syntax.Exists(self.group(room - 1), self.chance(0.5))

    def call(self, room: int) -> Expression:
        """A built-in function with as many arguments as it takes."""
        if self.chance(0.2):
            return syntax.BuiltinCall("BOUND", (self.variable(),))
        name = self.rng.choice((*ONE, *ARGUMENT_COUNTS))
        least, most = ARGUMENT_COUNTS.get(name, (1, 1))
        counts = range(least, (least + 2 if most is None else most) + 1)
        return syntax.BuiltinCall(name, self.some(lambda: self.expression(room - 1), *counts))

    def variable(self) -> Variable:
        """A variable."""
        return Variable(self.rng.choice(NAMES))

    def iri(self) -> IriName:
        """An IRI or a prefixed name."""
        if self.chance(0.4):
            return Iri(self.rng.choice(IRIS))
        return PrefixedName(self.rng.choice(PREFIXES), self.rng.choice(LOCALS))

    def literal(self) -> terms.LiteralTerm:
        """A literal of any kind."""
        match self.rng.randrange(4):
            case 0:
                return NumericLiteral(self.rng.choice(NUMBERS))
            case 1:
                return terms.BooleanLiteral(self.chance(0.5))
            case _:
                language = self.rng.choice(("en", "EN-gb", "x-1")) if self.chance(0.3) else None
                datatype = self.iri() if language is None and self.chance(0.3) else None
                return terms.StringLiteral(self.rng.choice(STRINGS), language, datatype)


_PIECES = re.compile(
    r'"(?:[^"\\]|\\.)*"|<[^<>"{}|^`\\\x00-\x20]*>|[ \n]+|[?@]\w+|[^\s"<(]*:(?:\\.|[^\s"<()\\])*|\w+|.', re.DOTALL
)
"""Strings, IRIs, blanks, variables and tags, names with a colon, words; a name ends where its call begins."""
KEYWORD = re.compile(r"[A-Z][A-Z_0-9]+")


def untidy(text: str, rng: Random) -> str:
    """A canonical text with other blanks, and keywords in any case."""
    pieces: list[str] = []
    for found in _PIECES.finditer(text):
        piece = found[0]
        if piece.isspace():
            piece = rng.choice((" ", "  ", "\n", "\t", "\r\n", "\n\n"))
        elif KEYWORD.fullmatch(piece):
            piece = "".join(rng.choice((c.lower(), c.upper())) for c in piece)
        pieces.append(piece)
    return "".join(pieces) + rng.choice(("", "\n"))


def commented(text: str, rng: Random) -> tuple[str, int]:
    """A text with comments at random blanks, and how many there are."""
    pieces: list[str] = []
    count = 0
    for found in _PIECES.finditer(text + " "):
        piece = found[0]
        if piece.isspace() and rng.random() < 0.15:
            count += 1
            piece = rng.choice(" \n\t") + "#" + rng.choice(COMMENTS) + "\n"
        pieces.append(piece)
    return "".join(pieces), count
