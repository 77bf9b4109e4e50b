"""Drawing questions: patterns, optionals, unions, filters with errors, paths, groups, subqueries, orders."""

from __future__ import annotations

import random

from tests.rdf.build import aggregate_of, item, place, term
from tests.rdf.generated.oracle import (
    OBJECTS,
    PREDICATES,
    SUBJECTS,
    VARIABLES,
    Case,
    Piece,
    content,
    graph_of,
    new_source,
    streams,
)
from tests.rdf.generated.sparql_text import order as sort_text
from tests.rdf.generated.sparql_text import sparql
from transom.algebra.expressions.expression import Exists, Expression
from transom.algebra.expressions.terms import term_call, term_literal, variable
from transom.algebra.operator import Windows
from transom.algebra.rdf.forms import Ask
from transom.algebra.rdf.patterns import (
    AlternativePath,
    BasicGraphPattern,
    InversePath,
    NegatedPropertySet,
    OneOrMorePath,
    PathPattern,
    PredicatePath,
    PropertyPath,
    SequencePath,
    TermPattern,
    TriplePattern,
    ZeroOrMorePath,
    ZeroOrOnePath,
)
from transom.algebra.rdf.solutions import extend, join, left_join, minus, project, union
from transom.algebra.rdf.statements import element_window, matching_stream, rdf_stream
from transom.algebra.relations import WindowAggregation, WindowDistinct, WindowSelect
from transom.algebra.sequences import OrderBy, Slice, SortKey
from transom.algebra.sources import Values
from transom.model.rdf.terms import IRI

LINKS = [IRI(f"http://ex/{name}") for name in "pqr"]


def case_of(seed: int) -> Case:
    """The question of a number."""
    chance = random.Random(seed)
    case = Case(streams(chance), {})
    piece = group(chance, case, 3)
    finish(chance, case, piece)
    return case


def merged(*several: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names in several for name in names))


def fresh(case: Case) -> str:
    """A variable that is not there yet."""
    case.made += 1
    return f"e{case.made}"


def spot(chance: random.Random, words: list[object], mark: str) -> TermPattern:
    """A place of a pattern: mostly a variable; blank nodes have labels of their own in each basic graph pattern."""
    draw = chance.random()
    if draw < 0.1:
        return place(f"_:{chance.choice('bc')}{mark}")
    if draw < 0.7:
        return variable(chance.choice(VARIABLES))
    return term(chance.choice([w for w in words if not str(w).startswith("_:")]))


def pattern(chance: random.Random, case: Case, paths: float = 0.2) -> Piece:
    """One to three triple patterns, or a path, over one window."""
    if chance.random() < 0.15:
        return own_window(chance, case)
    source, graph = new_source(chance, case)
    parts: list[TriplePattern | PathPattern] = []
    lines: list[str] = []
    for _ in range(chance.choice([1, 1, 2, 2, 3])):
        mark = str(len(case.graphs))
        subject, object = spot(chance, SUBJECTS, mark), spot(chance, OBJECTS, mark)
        if chance.random() < paths:
            way = path(chance)
            if may_stand_still(way):  # Oxigraph knows no path of no step from a term that is not there
                subject, object = (variable(chance.choice(VARIABLES)) for _ in range(2))
            parts.append(PathPattern(source, subject, way, object))
            lines.append(f"{subject} {way} {object}")
        else:
            predicate: TermPattern = variable("v") if chance.random() < 0.1 else term(chance.choice(PREDICATES))
            parts.append(TriplePattern(source, subject, predicate, object))
            lines.append(f"{subject} {predicate} {object}")
    plan = BasicGraphPattern(tuple(parts))
    return Piece(plan, f"GRAPH <{graph}> {{ {' . '.join(lines)} }}", plan.schema.names)


def own_window(chance: random.Random, case: Case) -> Piece:
    """One triple pattern with a window that counts its solutions (R8)."""
    predicate = term(chance.choice(PREDICATES))
    mark = f"{len(case.graphs)}own"
    places = (spot(chance, SUBJECTS, mark), predicate, spot(chance, OBJECTS, mark))
    one = TriplePattern(element_window(matching_stream(rdf_stream("s"), places), chance.randint(1, 3)), *places)
    graph = graph_of(case, lambda t: content(one.input, case.inputs, t, one.items))
    plan = BasicGraphPattern((one,))
    text = f"GRAPH <{graph}> {{ {one.subject} {predicate} {one.object} }}"
    return Piece(plan, text, plan.schema.names)


def path(chance: random.Random) -> PropertyPath:
    """A property path; what Oxigraph takes as a set, alternatives and nested steps, only where it is one."""
    match chance.randrange(7):
        case 0:
            return one_way(chance)
        case 1:
            return InversePath(PredicatePath(chance.choice(LINKS)))
        case 2:
            return SequencePath(PredicatePath(chance.choice(LINKS)), InversePath(PredicatePath(chance.choice(LINKS))))
        case 3:
            return SequencePath(PredicatePath(chance.choice(LINKS)), PredicatePath(chance.choice(LINKS)))
        case 4:
            return ZeroOrMorePath(nested(chance, 2))
        case 5:
            return OneOrMorePath(nested(chance, 2))
        case _:
            return ZeroOrOnePath(nested(chance, 2))


def may_stand_still(way: PropertyPath) -> bool:
    """Whether a path may have no step."""
    match way:
        case ZeroOrMorePath() | ZeroOrOnePath():
            return True
        case SequencePath(first=first, second=second):
            return may_stand_still(first) and may_stand_still(second)
        case AlternativePath(first=first, second=second):
            return may_stand_still(first) or may_stand_still(second)
        case InversePath(path=inner) | OneOrMorePath(path=inner):
            return may_stand_still(inner)
        case _:
            return False


def one_way(chance: random.Random) -> PropertyPath:
    """One step."""
    names = tuple(chance.sample(LINKS, chance.randint(1, 2)))
    match chance.randrange(4):
        case 0:
            return NegatedPropertySet(names)
        case 1:
            return NegatedPropertySet((), names)
        case _:
            return PredicatePath(names[0])


def nested(chance: random.Random, depth: int) -> PropertyPath:
    """A path that can be repeated: one that carries its own brackets, or a single link."""
    if depth == 0:
        return PredicatePath(chance.choice(LINKS))
    inner = nested(chance, depth - 1)
    match chance.randrange(6):
        case 0:
            return SequencePath(inner, nested(chance, depth - 1))
        case 1:
            return AlternativePath(inner, nested(chance, depth - 1))
        case 2:
            return AlternativePath(InversePath(inner), one_way(chance))
        case 3:
            return SequencePath(ZeroOrMorePath(inner), nested(chance, depth - 1))
        case 4:
            return AlternativePath(ZeroOrOnePath(inner), OneOrMorePath(inner))
        case _:
            return inner


def group(chance: random.Random, case: Case, depth: int) -> Piece:
    """A group graph pattern."""
    if depth == 0:
        return pattern(chance, case)
    left = group(chance, case, depth - 1)
    match chance.randrange(10):
        case 0 | 1:
            right = group(chance, case, depth - 1)
            condition = test(chance, merged(left.names, right.names), 2)
            text = f"{{ {left.text} }} OPTIONAL {{ {right.text} FILTER({sparql(condition)}) }}"
            return Piece(left_join(left.plan, right.plan, condition), text, merged(left.names, right.names))
        case 2:
            right = group(chance, case, depth - 1)
            return Piece(
                left_join(left.plan, right.plan),
                f"{{ {left.text} }} OPTIONAL {{ {right.text} }}",
                merged(left.names, right.names),
            )
        case 3:
            right = group(chance, case, depth - 1)
            text = f"{{ {left.text} }} UNION {{ {right.text} }}"
            return Piece(union(left.plan, right.plan), text, merged(left.names, right.names))
        case 4:
            right = group(chance, case, depth - 1)
            text = f"{{ {left.text} }} {{ {right.text} }}"
            return Piece(join(left.plan, right.plan), text, merged(left.names, right.names))
        case 5:
            right = pattern(chance, case)
            return Piece(minus(left.plan, right.plan), f"{{ {left.text} }} MINUS {{ {right.text} }}", left.names)
        case 6:
            condition = test(chance, left.names, 3)
            return Piece(
                WindowSelect(left.plan, condition), f"{{ {left.text} }} FILTER({sparql(condition)})", left.names
            )
        case 7:
            name = fresh(case)
            value = scalar(chance, left.names, 2)
            plan = extend(left.plan, item(variable(name), value))
            return Piece(plan, f"{{ {left.text} }} BIND({sparql(value)} AS ?{name})", (*left.names, name))
        case 8:
            inner = pattern(chance, case, paths=0)
            found: Expression = Exists(inner.plan)
            said = f"EXISTS {{ {inner.text} }}"
            if chance.random() < 0.5:
                found, said = term_call("!", found), f"NOT {said}"
            return Piece(WindowSelect(left.plan, found), f"{{ {left.text} }} FILTER({said})", left.names)
        case _:
            return values(chance, left) if chance.random() < 0.5 else counted(chance, case, left)


def values(chance: random.Random, left: Piece) -> Piece:
    """A join with solutions written down."""
    names = chance.sample(VARIABLES, 2)
    words = [o for o in OBJECTS if not str(o).startswith("_:")]
    rows = tuple(
        tuple(None if chance.random() < 0.2 else term(chance.choice(words)) for _ in names)
        for _ in range(chance.randint(0, 3))
    )
    lines = " ".join("(" + " ".join("UNDEF" if t is None else str(t) for t in row) + ")" for row in rows)
    table = Values(tuple(map(variable, names)), rows)
    text = f"{{ {left.text} }} VALUES ({' '.join('?' + n for n in names)}) {{ {lines} }}"
    return Piece(join(left.plan, table), text, merged(left.names, tuple(names)))


def counted(chance: random.Random, case: Case, left: Piece) -> Piece:
    """A subquery with aggregates, by group or over everything."""
    if not left.names:
        return left
    function = chance.choice(["COUNT", "SUM", "AVG", "MIN", "MAX"])
    of, name = chance.choice(left.names), fresh(case)
    distinct = chance.random() < 0.3
    one = aggregate_of(variable(name), function, variable(of), distinct)
    said = f"({function}({'DISTINCT ' if distinct else ''}?{of}) AS ?{name})"
    if chance.random() < 0.3:
        whole = WindowAggregation(left.plan, (), (one,))
        return Piece(project(whole, (variable(name),)), f"{{ SELECT {said} {{ {left.text} }} }}", (name,))
    key = chance.choice(left.names)
    plan = WindowAggregation(left.plan, (item(variable(key), variable(key)),), (one,))
    text = f"{{ SELECT ?{key} {said} {{ {left.text} }} GROUP BY ?{key} }}"
    return Piece(project(plan, (variable(key), variable(name))), text, (key, name))


def aggregated(seed: int) -> Windows:
    """Groups with several aggregates, also of what Oxigraph takes in another order, a condition on them and a value."""
    chance = random.Random(f"aggregated {seed}")
    case = Case(streams(chance), {})
    piece = group(chance, case, 2)

    def value() -> Expression:
        return variable(chance.choice(piece.names)) if piece.names and chance.random() < 0.8 else scalar(chance, (), 1)

    keys = tuple(item(variable(f"k{number}"), value()) for number in range(chance.choice([0, 1, 1, 2])))
    aggregates = [aggregate_of(variable("n"), "COUNT", None, chance.random() < 0.5)]
    for number in range(chance.randint(1, 4)):
        function = chance.choice(["COUNT", "SUM", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT"])
        argument = value()
        if function in ("SUM", "AVG"):
            argument = term_call(
                "COALESCE", term_call(chance.choice(["ABS", "xsd:double", "xsd:float"]), argument), value()
            )
        aggregates.append(aggregate_of(variable(f"a{number}"), function, argument, chance.random() < 0.4, "; "))
    found: Windows = WindowAggregation(piece.plan, keys, tuple(aggregates))
    names = found.schema.names
    if chance.random() < 0.3:
        found = WindowSelect(found, test(chance, names, 1))
    if chance.random() < 0.5:
        found = extend(found, item(variable("more"), scalar(chance, names, 2)))
    return found


def scalar(chance: random.Random, names: tuple[str, ...], depth: int) -> Expression:
    """An expression that may be an error."""
    if depth == 0 or chance.random() < 0.3:
        if names and chance.random() < 0.7:
            return variable(chance.choice(names))
        return term_literal(term(chance.choice([w for w in OBJECTS if not str(w).startswith("_:")])))
    inner = [scalar(chance, names, depth - 1) for _ in range(3)]
    one = chance.choice(["+", "-", "*", "/", "unary -", "STR", "STRLEN", "DATATYPE", "IF", "COALESCE", "ABS", "CONCAT"])
    match one:
        case "+" | "-" | "*" | "/":
            return term_call(one, *inner[:2])
        case "IF":
            return term_call(one, test(chance, names, depth - 1), *inner[:2])
        case "COALESCE" | "CONCAT":
            return term_call(one, *inner[:2])
        case _:
            return term_call(one, inner[0])


def test(chance: random.Random, names: tuple[str, ...], depth: int) -> Expression:
    """A condition that may be an error."""
    one = chance.choice(["=", "!=", "<", ">", "<=", ">=", "&&", "||", "!", "IN", "BOUND", "isIRI", "isLITERAL"])
    if one in ("&&", "||") and depth:
        return term_call(one, test(chance, names, depth - 1), test(chance, names, depth - 1))
    if one == "!" and depth:
        return term_call("!", test(chance, names, depth - 1))
    if one == "BOUND" and names:
        return term_call("BOUND", variable(chance.choice(names)))
    if one == "IN":
        return term_call(chance.choice(["IN", "NOT IN"]), *tuple(scalar(chance, names, 1) for _ in range(3)))
    if one in ("isIRI", "isLITERAL"):
        return term_call(one, scalar(chance, names, 0))
    left, right = scalar(chance, names, 1), scalar(chance, names, 1)
    if one in ("<=", ">="):  # Oxigraph takes a name to be at most itself
        return term_call(one, term_call("+", left, term_literal(term(1))), right)
    return term_call(one if one in ("=", "!=", "<", ">") else "<", left, right)


test.__test__ = False  # type: ignore[attr-defined]


def finish(chance: random.Random, case: Case, piece: Piece) -> None:
    """What the question hands out: solutions, distinct ones, a sequence, or a truth value."""
    if chance.random() < 0.1 or not piece.names:
        case.plan, case.text = Ask(piece.plan), f"ASK {{ {piece.text} }}"
        return
    names = tuple(chance.sample(piece.names, chance.randint(1, len(piece.names))))
    kept = tuple(map(variable, names))
    said = " ".join(f"?{name}" for name in names)
    case.names = names
    match chance.randrange(4):
        case 0:
            case.plan, case.text = (
                WindowDistinct(project(piece.plan, kept)),
                f"SELECT DISTINCT {said} {{ {piece.text} }}",
            )
        case 1:
            keys = [SortKey(term_call("STR", v), chance.random() < 0.5) for v in kept]
            order = OrderBy(piece.plan, tuple(keys), ())
            offset, limit = chance.randint(0, 2), chance.randint(0, 4)
            case.plan = Slice(project(order, kept), offset, limit)
            tail = f"ORDER BY {' '.join(map(sort_text, keys))} OFFSET {offset} LIMIT {limit}"
            case.text, case.ordered = f"SELECT {said} {{ {piece.text} }} {tail}", True
        case _:
            case.plan, case.text = project(piece.plan, kept), f"SELECT {said} {{ {piece.text} }}"
