"""Drawing SPARQL 1.1 texts: the same one for us, over streams with windows, and for Oxigraph, over what is valid."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from tests.rdf.build import term
from tests.rdf.generated.oracle import LAST, Case, content, windowed
from tests.rdf.generated.text_aggregates import Level, grouped
from tests.rdf.generated.text_parts import LINKS, LITERALS, NODES, Draw, condition, merged, scalar, triples, values
from tests.rdf.stated import Stated, stated
from transom.algebra.operator import Windows
from transom.algebra.rdf.statements import element_count, range_and_slide
from transom.catalog.catalog import Catalog
from transom.catalog.rdf import Rdf, rdf_stream, stored_graph
from transom.languages.sparql.parse import parse
from transom.languages.sparql.translate import translate
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar

Text = tuple[str, tuple[str, ...]]
"""A pattern, and the variables that are in scope after it."""
EXTENTS = {
    "s": rdf_stream("s", "http://ex/s"),
    "g": stored_graph("g", "http://ex/g"),
    "n0": rdf_stream("n0", "http://ex/n0"),
    "n1": rdf_stream("n1", "http://ex/n1"),
}
CATALOG = Catalog(Calendar(1000), rdf=Rdf(EXTENTS, {"": "http://ex/"}))


def asked(seed: int) -> Case:
    """The question of a number, with its plan."""
    case = worded(seed)
    case.plan = translate(parse(case.ours), CATALOG).plan
    return case


def worded(seed: int) -> Case:
    """The question of a number in words: the default graph is a stream and a stored graph, two streams have names."""
    chance = random.Random(f"text {seed}")
    inputs = drawn(chance)
    windows = {name: windowed(chance, name) for name in ("s", "n0", "n1")}
    draw = Draw(chance)
    head, tail, names = ask(draw) if draw.now(0.08) else select(draw)
    case = Case(inputs, {f"http://ex/{name}": valid(inputs, windows[name]) for name in ("n0", "n1")})
    case.graphs[""] = lambda t: [*content(windows["s"], inputs, t), *inputs.graphs["g"]]
    sources = [f"FROM STREAM :s {said(windows['s'])}", "FROM :g"]
    sources += [f"FROM NAMED STREAM :{name} {said(windows[name])}" for name in ("n0", "n1")]
    case.ours = draw.written(" ".join([head, *sources, "WHERE", tail]), 0)
    case.text = f"PREFIX : <http://ex/> {draw.written(head, 1)} WHERE {draw.written(tail, 1)}"
    case.names, case.ordered = names, "ORDER BY" in tail.rpartition("}")[2]
    return case


def valid(inputs: Stated, window: Windows) -> Callable[[int], list[Triple]]:
    """What is in a window at each instant."""
    return lambda t: content(window, inputs, t)


def drawn(chance: random.Random) -> Stated:
    """Three streams and a graph; no statement is twice in what is read together."""
    every = [(s, p, o) for s in (*NODES, "_:n") for p in LINKS for o in (*NODES, "_:n", *LITERALS)]
    near = [one for one in every if one[2] not in LITERALS]

    def some(least: int, most: int) -> list[Triple]:
        few = chance.randint(least, most)
        found = dict.fromkeys([*chance.sample(near, few * 2 // 3), *chance.sample(every, few - few * 2 // 3)])
        return [triple(*one) for one in found]

    default = some(6, 20)
    cut = chance.randint(0, len(default))
    streams = {"s": default[cut:], "n0": some(2, 10), "n1": some(2, 8)}
    return stated(
        {name: [(chance.randint(0, LAST), one) for one in found] for name, found in streams.items()},
        {"g": default[:cut]},
    )


def triple(subject: str, predicate: str, object: str) -> Triple:
    """A statement of three words."""
    value = float(object) if object == "2.5" else object
    return Triple(term(subject), term(predicate), term(value))  # type: ignore[arg-type]


def said(window: Windows) -> str:
    """A window as SPARQL has it; a tick is a millisecond."""
    size = range_and_slide(window)
    if size is None:
        return f"WINDOW ELEMS {element_count(window)}"
    return f"WINDOW RANGE {size[0]} MS SLIDE {size[1]} MS"


def group(draw: Draw, depth: int, *, inside: bool = False, nested: bool = True) -> Text:
    """What stands between braces; `inside` is the pattern of an EXISTS, `nested` whatever is in another group.

    In what is nested, an EXISTS speaks of no variables that are only outside, and in a BIND of none that come later:
    they are not in its scope, and Oxigraph sees them if it looks for one side of a join with a solution of the other.
    """
    text, names = triples(draw, most=1 if inside else 2, inside=inside)

    def there(narrow: bool) -> str:
        with draw.only(names) if narrow or nested else nullcontext():
            return exists(draw, depth - 1, names)

    for _ in range(draw.chance.randint(0, 1 if inside else 2) if depth else 0):
        more, found = element(draw, depth - 1, names, inside, there)
        text, names = (f"{text} {more}", merged(names, found))
    return text, names


def element(draw: Draw, depth: int, names: Sequence[str], inside: bool, there: Callable[[bool], str]) -> Text:
    """One more element of a group in which some variables are in scope; `there` draws an EXISTS."""
    match draw.chance.randrange(18):
        case 0 | 1 | 16 | 17:
            return optional(draw, depth, names, inside)
        case 2:
            (left, before), (right, after) = (group(draw, depth, inside=inside) for _ in range(2))
            return f"{{ {left} }} UNION {{ {right} }}", merged(before, after)
        case 3 | 4:
            return inner_minus(draw, names) if inside else (minus(draw, depth), ())
        case 5:
            return f"FILTER({condition(draw, names)})", ()
        case 6 | 7:
            return f"FILTER({there(False)})", ()
        case 8:
            name = draw.fresh() if inside else draw.unused(names)
            value = scalar(draw, names) if draw.now(0.5) else there(True)
            return f"BIND({value} AS ?{name})", (name,)
        case 9:
            return values(draw)
        case 10:
            return graph(draw, depth, inside)
        case 11:
            text, found = group(draw, depth, inside=inside)
            return f"{{ {text} }}", found
        case 12 if not inside:
            return triples(draw, most=1, inside=inside)
        case _ if inside:
            return inner_select(draw) if draw.now(0.5) else inner_minus(draw, names)
        case _:
            head, tail, found = select(draw, depth)
            return f"{{ {head} WHERE {tail} }}", found


def optional(draw: Draw, depth: int, names: Sequence[str], inside: bool) -> Text:
    """OPTIONAL, often with a condition on both sides, or with MINUS about what it may not have bound."""
    text, found = group(draw, depth, inside=inside)
    both = merged(names, found)
    if draw.now(0.3):
        text += f" FILTER({condition(draw, both)})"
    if draw.now(0.15):
        text += f" FILTER({exists(draw, 0, both)})"
    after = ""
    if found and not inside and draw.now(0.25):
        one = draw.of(*found)
        after = f" MINUS {{ ?{one} {draw.of(*LINKS)} {draw.of(draw.variable(), *NODES)} }}"
    return f"OPTIONAL {{ {text} }}{after}", found


def minus(draw: Draw, depth: int) -> str:
    """MINUS, with variables in common, which may be unbound, and without any."""
    if draw.now(0.2):
        return f"MINUS {{ ?{draw.fresh()} {draw.of(*LINKS)} ?{draw.fresh()} }}"
    text, _ = group(draw, depth)
    return f"MINUS {{ {text} }}"


def inner_minus(draw: Draw, names: Sequence[str]) -> Text:
    """MINUS in an EXISTS, about a variable that nothing around the EXISTS binds.

    W3C 18.6 replaces those that are bound, so that they are no variables in common (w3c/sparql-query#75); Oxigraph
    keeps them. A condition in it sees them.
    """
    one, other = draw.fresh(), draw.fresh()
    text = f"?{one} {draw.of(*LINKS)} {draw.of('?' + other, *NODES)} ."
    if draw.now(0.4):
        text += f" FILTER({condition(draw, (*names, one))})"
    return f"?{draw.of(*names) if names else draw.fresh()} {draw.of(*LINKS)} ?{one} . MINUS {{ {text} }}", (one,)


def inner_select(draw: Draw) -> Text:
    """A subquery in an EXISTS: groups by a variable that it hands out, or counts everything."""
    key, value, count = draw.variable()[1:], draw.fresh(), draw.fresh()
    pattern = f"?{key} {draw.of(*LINKS)} ?{value}"
    if draw.now(0.5):
        return f"{{ SELECT ?{key} (COUNT(?{value}) AS ?{count}) {{ {pattern} }} GROUP BY ?{key} }}", (key, count)
    pattern = f"?{draw.fresh()} {draw.of(*LINKS)} ?{value}"
    return f"{{ SELECT (COUNT(*) AS ?{count}) {{ {pattern} }} }}", (count,)


def graph(draw: Draw, depth: int, inside: bool) -> Text:
    """GRAPH with a name, or, around patterns only, with a variable for it.

    In Oxigraph all else would see the variable (oxigraph/oxigraph#1450, and for MINUS oxigraph/oxigraph#1804).
    """
    text, names = group(draw, depth, inside=inside)
    if draw.now(0.4) and not any(word in text for word in ("SELECT", "EXISTS", "MINUS", "BIND", "FILTER")):
        return f"GRAPH ?h {{ {text} }}", merged(["h"], names)
    return f"GRAPH {draw.of(':n0', ':n1')} {{ {text} }}", names


def exists(draw: Draw, depth: int, names: Sequence[str]) -> str:
    """EXISTS or NOT EXISTS, alone or within an expression; conditions in it see the variables around it."""
    text, found = group(draw, depth, inside=True)
    if draw.now(0.2):
        more, bound = inner_minus(draw, merged(names, found)) if draw.now(0.6) else inner_select(draw)
        text, found = f"{text} {more}", merged(found, bound)
    if draw.now(0.4):
        text += f" FILTER({condition(draw, merged(names, found))})"
    if draw.now(0.15):
        text += f" FILTER({exists(draw, 0, merged(names, found))})"
    if draw.now(0.15):
        name = draw.fresh()
        text += f" BIND({scalar(draw, merged(names, found))} AS ?{name}) FILTER(?{name} != 1)"
    one = f"{draw.of('EXISTS', 'NOT EXISTS')} {{ {text} }}"
    match draw.chance.randrange(8):
        case 0:
            return f"({one} || {condition(draw, names)})"
        case 1:
            return f"({one} && {condition(draw, names)})"
        case 2:
            return f"!({one})"
        case 3:
            return f"IF({one}, {scalar(draw, names)}, {scalar(draw, names)})"
        case _:
            return one


def ask(draw: Draw) -> tuple[str, str, tuple[str, ...]]:
    """ASK."""
    text, _ = group(draw, 2, nested=False)
    return "ASK", f"{{ {text} }}", ()


def select(draw: Draw, depth: int = 2) -> tuple[str, str, tuple[str, ...]]:
    """SELECT: what stands before WHERE, what stands behind it, and the variables of the answer."""
    before = draw.hidden
    text, names = group(draw, depth, nested=False)
    if draw.now(0.4):
        plain = draw.hidden == before
        head, tail, columns = grouped(draw, Level(names, plain), lambda known: exists(draw, 0, known))
    else:
        head, tail, columns = chosen(draw, depth, names)
    if draw.now(0.3):
        head = f"DISTINCT {head}"
    if columns and draw.now(0.3):
        tail += f" ORDER BY {order(draw, columns)} LIMIT {draw.chance.randint(1, 5)}"
        tail += f" OFFSET {draw.chance.randint(0, 2)}" if draw.now(0.5) else ""
    return f"SELECT {head}", f"{{ {text} }}{tail}", columns


def chosen(draw: Draw, depth: int, names: Sequence[str]) -> tuple[str, str, tuple[str, ...]]:
    """Some variables, and at times an expression with a name."""
    kept = tuple(draw.chance.sample(names, draw.chance.randint(1, len(names)))) if names else ()
    items = [f"?{name}" for name in kept]
    if draw.now(0.25) or not kept:
        name = draw.unused(names)
        value = scalar(draw, names) if draw.now(0.5) else exists(draw, min(depth, 1), names)
        items.append(f"({value} AS ?{name})")
        kept = (*kept, name)
    return " ".join(items), "", kept


def order(draw: Draw, names: Sequence[str]) -> str:
    """Keys by which only equal solutions are equal, so that LIMIT has one meaning."""
    keys: list[str] = []
    for name in draw.chance.sample(names, len(names)):
        for key in (f"isBLANK(?{name})", f"STR(?{name})", f"STR(DATATYPE(?{name}))"):
            keys.append(draw.of(f"ASC({key})", f"DESC({key})"))
    return " ".join(keys)
