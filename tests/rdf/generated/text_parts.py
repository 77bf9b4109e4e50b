"""Parts of drawn SPARQL texts: triple patterns, property paths, solutions written down, expressions."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.rdf.generated import questions
from tests.rdf.generated.sparql_text import sparql
from transom.algebra.expressions.expression import Call, Expression, rewrite
from transom.algebra.expressions.terms import as_type, variable
from transom.model.types import Type

NODES = [":a", ":b", ":c"]
LINKS = [":p", ":q", ":r"]
LITERALS = ["1", "2", "7", "2.5", '"x"', '"xy"']
VARIABLES = ["x", "y", "z", "w"]
TWOFOLD = re.compile("⟦([0-9]+)⟧")


@dataclass
class Draw:
    """The chance of one question, and what is used up in it.

    `pool` are the variables that patterns take. `twofold` are places at which the text for Oxigraph is another one, of
    the same meaning; `hidden` counts what Oxigraph makes variables of that no text has.
    """

    chance: random.Random
    pool: Sequence[str] = tuple(VARIABLES)
    made: int = 0
    hidden: int = 0
    twofold: list[tuple[str, str]] = field(default_factory=list)

    def of(self, *some: str) -> str:
        """One of some words."""
        return self.chance.choice(some)

    def now(self, share: float) -> bool:
        """Whether something happens that happens so often."""
        return self.chance.random() < share

    def fresh(self) -> str:
        """A variable that stands nowhere else."""
        self.made += 1
        return f"e{self.made}"

    def unused(self, names: Sequence[str]) -> str:
        """A variable that is not in scope here, but may be elsewhere."""
        left = [name for name in VARIABLES if name not in names]
        return self.chance.choice(left) if left and self.now(0.4) else self.fresh()

    def variable(self) -> str:
        """A variable of a pattern."""
        return f"?{self.chance.choice(self.pool)}"

    @contextmanager
    def only(self, names: Sequence[str]) -> Iterator[None]:
        """Patterns with no other variables than these and new ones."""
        before, self.pool = self.pool, (*names, self.fresh())
        yield
        self.pool = before

    def either(self, ours: str, theirs: str) -> str:
        """A mark for a place where the two texts differ."""
        self.twofold.append((ours, theirs))
        return f"⟦{len(self.twofold) - 1}⟧"

    def written(self, text: str, side: int) -> str:
        """The text for us (0) or for Oxigraph (1)."""
        while TWOFOLD.search(text):
            text = TWOFOLD.sub(lambda found: self.twofold[int(found[1])][side], text.replace("?⟦", "⟦"))
        return text


def merged(*several: Sequence[str]) -> tuple[str, ...]:
    """Names, each once."""
    return tuple(dict.fromkeys(name for names in several for name in names))


def triples(draw: Draw, *, most: int = 2, inside: bool = False) -> tuple[str, tuple[str, ...]]:
    """Triple patterns and paths, and their variables; `inside` is the pattern of an EXISTS."""
    lines: list[str] = []
    names: tuple[str, ...] = ()
    draw.made += 1
    for _ in range(1 if draw.now(0.6) else most):
        if draw.now(0.35):
            text, found = along(draw, inside)
        else:
            ends = [place(draw), place(draw, object=True)]
            verb = "?v" if draw.now(0.06) else draw.of(*LINKS)
            text, found = f"{ends[0]} {verb} {ends[1]} .", [ends[0], verb, ends[1]]
        lines.append(text)
        names = merged(names, [one[1:] for one in found if one.startswith("?")])
    return " ".join(lines), names


def place(draw: Draw, *, object: bool = False) -> str:
    """An end of a triple pattern: mostly a variable, at times a blank node or a term."""
    choice = draw.chance.random()
    if choice < 0.08:
        draw.hidden += 1
        return f"_:{draw.of('j', 'k')}{draw.made}"
    if choice < 0.9:
        return draw.variable()
    return draw.of(*LITERALS) if object and draw.now(0.3) else draw.of(*NODES)


@dataclass(frozen=True)
class Way:
    """A property path, whether it may have no step, and the patterns of which it is the union.

    In those patterns, `{s}` and `{o}` stand for the ends.
    """

    text: str
    still: bool = False
    ways: tuple[str, ...] = ()

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns of which it is the union, or itself."""
        return self.ways or (f"{{s}} {self.text} {{o}}",)


def along(draw: Draw, inside: bool) -> tuple[str, list[str]]:
    """A path between two ends.

    Oxigraph knows no path of no step from a term that the graph does not have (oxigraph/oxigraph#1815), so such a path
    has variables as its ends, which nothing around an EXISTS binds. Oxigraph gets other words for what it takes to be
    something else than W3C 18.4 says: it makes a set of alternatives (oxigraph/oxigraph#351), and believes that no path
    starts at a literal, so that it compares the start as a term, not by its value.
    """
    way = path(draw)
    if way.still:
        ends = [f"?{draw.fresh()}" if inside else draw.variable() for _ in range(2)]
    elif way.ways:
        ends = [draw.of(*NODES) if draw.now(0.15) else draw.variable() for _ in range(2)]
    else:
        ends = [place(draw), place(draw, object=True)]
    draw.hidden += "/" in way.text or "!" in way.text
    ours = f"{ends[0]} {way.text} {ends[1]} ."
    if not way.ways and not way.still:
        return ours, ends
    theirs = [one.format(s=ends[0], o=ends[1]) for one in way.patterns]
    if way.still:
        theirs.append(f"VALUES ({ends[0]}) {{ (1) }} FILTER(false)")
    return draw.either(ours, " UNION ".join(f"{{ {one} }}" for one in theirs)), ends


def path(draw: Draw) -> Way:
    """A property path: steps, alternatives, names that are left out, repetitions."""
    match draw.chance.randrange(8):
        case 0 | 1:
            parts = [part(draw) for _ in range(2)]
            found = tuple(pattern for one in parts for pattern in one.patterns)
            return Way("|".join(one.text for one in parts), any(one.still for one in parts), found)
        case 2:
            return other_names(draw)
        case 3 | 4 | 5:
            return steps(draw)
        case _:
            return step(draw)


def part(draw: Draw) -> Way:
    """One of several alternatives."""
    return other_names(draw) if draw.now(0.2) else steps(draw)


def other_names(draw: Draw) -> Way:
    """One step with a predicate that is not among some, forward, backward or both.

    Between two ends that it knows, Oxigraph takes one of several such steps. It gets a pattern with a condition.
    """
    first, second = draw.chance.sample(LINKS, 2)
    name = f"?{draw.fresh()}"
    onward = f"{{s}} {name} {{o}} FILTER({name} != {first})"
    back = f"{{o}} {name} {{s}} FILTER({name} != {second})"
    match draw.chance.randrange(3):
        case 0:
            return Way(f"!{first}", False, (onward,))
        case 1:
            return Way(f"!(^{second})", False, (back,))
        case _:
            return Way(f"!({first}|^{second})", False, (onward, back))


def steps(draw: Draw) -> Way:
    """Steps one after the other, of which one is always taken (oxigraph/oxigraph#1952)."""
    one, *others = (step(draw) for _ in range(draw.chance.randint(1, 3)))
    if not others:
        return one
    last = draw.of(*LINKS) if one.still and all(other.still for other in others) else others.pop().text
    return Way("/".join([one.text, *(other.text for other in others), last]))


def step(draw: Draw) -> Way:
    """One step, or one that is repeated; of three predicates, one remains if two are left out."""
    match draw.chance.randrange(6):
        case 0:
            return Way(f"^{draw.of(*LINKS)}")
        case 1:
            sign = draw.of("", "^")
            return Way(f"!({'|'.join(sign + link for link in draw.chance.sample(LINKS, 2))})")
        case 2 | 3:
            sign = draw.of("*", "+", "?")
            inner = nested(draw, 2)
            return Way(f"({inner.text}){sign}", sign != "+" or inner.still)
        case _:
            return Way(draw.of(*LINKS))


def nested(draw: Draw, depth: int) -> Way:
    """A path that is repeated, so that only its ends count: anything."""
    if depth == 0:
        return Way(draw.of(*LINKS))
    one, other = nested(draw, depth - 1), nested(draw, depth - 1)
    match draw.chance.randrange(7):
        case 0:
            return Way(f"({one.text}/{other.text})", one.still and other.still)
        case 1:
            return Way(f"({one.text}|{other.text})", one.still or other.still)
        case 2:
            return Way(f"^({one.text})", one.still)
        case 3:
            return Way(f"!({draw.of(*LINKS)}|^{draw.of(*LINKS)})")
        case 4:
            sign = draw.of("*", "?")
            return Way(f"({one.text}){sign}", True)
        case 5:
            return Way(f"({one.text})+", one.still)
        case _:
            return one


def values(draw: Draw) -> tuple[str, tuple[str, ...]]:
    """VALUES, often with UNDEF."""
    names = draw.chance.sample(draw.pool, min(len(draw.pool), draw.chance.randint(1, 2)))
    rows = [
        "(" + " ".join("UNDEF" if draw.now(0.35) else draw.of(*NODES, draw.of(*LITERALS)) for _ in names) + ")"
        for _ in range(draw.chance.randint(1, 3))
    ]
    return f"VALUES ({' '.join('?' + name for name in names)}) {{ {' '.join(rows)} }}", tuple(names)


def scalar(draw: Draw, names: Sequence[str]) -> str:
    """An expression that may be an error."""
    return said(draw, questions.scalar(draw.chance, tuple(names), 2))


def condition(draw: Draw, names: Sequence[str]) -> str:
    """A condition that may be an error."""
    return said(draw, questions.test(draw.chance, tuple(names), 2))


def said(draw: Draw, expression: Expression) -> str:
    """The text of an expression; Oxigraph puts equal names in order, which W3C 17.3 does not, so it gets none."""
    return sparql(rewrite(expression, lambda part: _ordered(draw, part)))


def _ordered(draw: Draw, part: Expression) -> Expression:
    """A mark, disguised as a variable, in place of a comparison that asks for an order."""
    if not isinstance(part, Call) or part.function.name not in ("<", ">", "<=", ">="):
        return part
    ours = sparql(part)
    theirs = f"IF(isLITERAL({sparql(part.arguments[0])}), {ours}, 1 < 1 / 0)"
    return as_type(variable(draw.either(ours, theirs)), Type.BOOLEAN)
