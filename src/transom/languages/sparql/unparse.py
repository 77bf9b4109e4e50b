"""SPARQL syntax to canonical text: one clause or pattern per line, comments kept before what they stand in front of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import assert_never

from transom.errors import Span
from transom.languages.grammars import parser
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.characters import quote, unescape
from transom.languages.sparql.syntax import Expression, Group, Modifiers, Query
from transom.languages.sparql.unparse_terms import iri, literal, node, statement, variable

INDENT = "  "
Line = tuple[str, int | None]
"""A line of the canonical text, and where what it begins with stands in the text that was parsed."""

_COMMENT = re.compile(r"#[^\n\r]*")
_BACKSLASH = re.compile(r"\\\\|\\(?=[uU])")
LEVELS = {"||": 1, "&&": 2, "=": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3, "+": 4, "-": 4, "*": 5, "/": 5}
"""How tightly operators bind; a comparison takes sums on both sides."""
MEMBER, UNARY, PRIMARY = 3, 6, 7


def unparse(query: Query) -> str:
    """The canonical text of a query, without comments."""
    return "\n".join(text for text, _ in lines(query))


def format_text(text: str, query: Query) -> str:
    """The canonical text of a query with the comments of the text that it was parsed from."""
    comments = list(comments_of(text))
    output: list[str] = []
    for line, start in lines(query):
        while start is not None and comments and comments[0][0].start < start:
            indent = line[: len(line) - len(line.lstrip())]
            output.append(indent + _written(comments.pop(0)[1]))
        output.append(line)
    return "\n".join([*output, *(_written(words) for _, words in comments)]) + "\n"


def comments_of(text: str) -> Iterator[tuple[Span, str]]:
    """The comments of a query, with their places: what stands between its tokens."""
    plain, places = unescape(text)
    end = 0
    ends = [
        (token.start_pos or 0, token.end_pos or 0)
        for token in parser("sparql").parse_interactive(plain).exhaust_lexer()
    ]
    for start, following in [*ends, (len(plain), len(plain))]:
        for found in _COMMENT.finditer(plain, end, start):
            yield places.span(Span(*found.span())), found[0].rstrip()
        end = following


def _written(comment: str) -> str:
    """A comment whose backslashes begin no escape."""
    return _BACKSLASH.sub(lambda found: found[0] if len(found[0]) == 2 else "\\u005C", comment)


def lines(query: Query) -> list[Line]:
    """The lines of the canonical text."""
    output: list[Line] = []
    for entry in query.prologue:
        match entry:
            case syntax.Base(iri=text):
                output.append((f"BASE <{text}>", entry.span.start))
            case syntax.Prefix(name=name, iri=text):
                output.append((f"PREFIX {name}: <{text}>", entry.span.start))
    return output + form(query.form)


def form(query: syntax.Form) -> list[Line]:
    """The lines of a query without its prologue."""
    begin = query.span.start
    where = query.where
    match query:
        case syntax.Select():
            kind = f"{query.kind} " if query.kind else ""
            head: list[Line] = [(f"SELECT {kind}{items(query.items)}", begin)]
        case syntax.Construct(template=None):
            head = [("CONSTRUCT", begin)]
        case syntax.Construct(template=template):
            inner = [(INDENT + statement(one) + " .", one.span.start) for one in template or ()]
            head = [("CONSTRUCT {", begin), *inner, ("}", None)]
        case syntax.Describe():
            head = [(f"DESCRIBE {items(query.items)}", begin)]
        case syntax.Ask():
            head = [("ASK", begin)]
        case _:
            assert_never(query)
    head += [(source(one), one.span.start) for one in query.sources]
    pattern = [] if where is None else group("WHERE ", where)
    return head + pattern + modifiers(query.modifiers)


def items(listed: Iterable[terms.Variable | syntax.Named | terms.IriName]) -> str:
    """The items after SELECT or DESCRIBE."""
    return " ".join(named(one) if isinstance(one, syntax.Named) else node(one) for one in listed) or "*"


def named(item: syntax.Named) -> str:
    """(expression AS ?variable)."""
    return f"({expression(item.expression)} AS {variable(item.variable)})"


def source(one: syntax.Source) -> str:
    """One FROM clause."""
    kept = "NAMED " if one.named else ""
    if isinstance(one, syntax.GraphSource):
        return f"FROM {kept}{iri(one.name)}"
    return f"FROM {kept}STREAM {iri(one.name)} {window(one.window)}"


def window(one: syntax.Window) -> str:
    """A window."""
    match one:
        case syntax.RangeWindow(width=width, slide=None):
            return f"WINDOW RANGE {duration(width)} SLIDE"
        case syntax.RangeWindow(width=width, slide=slide) if slide is not None:
            return f"WINDOW RANGE {duration(width)} SLIDE {duration(slide)}"
        case syntax.FixedWindow(width=width):
            return f"WINDOW RANGE {duration(width)} FIXED"
        case syntax.ElementWindow(count=count):
            return f"WINDOW ELEMS {count}"
    raise AssertionError(one)


def duration(one: syntax.Duration) -> str:
    """So many units."""
    return f"{one.count} {one.unit.value}" if one.unit else str(one.count)


def modifiers(one: Modifiers) -> list[Line]:
    """GROUP BY and what follows it."""
    output: list[str] = []
    if one.group_by:
        output.append("GROUP BY " + " ".join(map(grouping, one.group_by)))
    if one.having:
        output.append("HAVING " + " ".join(map(constraint, one.having)))
    if one.order_by:
        output.append("ORDER BY " + " ".join(map(order, one.order_by)))
    if one.limit is not None:
        output.append(f"LIMIT {one.limit}")
    if one.offset is not None:
        output.append(f"OFFSET {one.offset}")
    if one.values is not None:
        output.append(values(one.values))
    return [(text, None) for text in output]


def grouping(key: Expression | syntax.Named) -> str:
    """One key of GROUP BY."""
    if isinstance(key, syntax.Named):
        return named(key)
    if isinstance(key, terms.Variable):
        return variable(key)
    is_call = isinstance(key, syntax.Builtin | syntax.Aggregate | syntax.Exists)
    return expression(key) if is_call else f"({expression(key)})"


def constraint(condition: Expression) -> str:
    """A condition of FILTER or HAVING: in parentheses, unless it is a call."""
    is_call = isinstance(condition, syntax.Builtin | syntax.Aggregate | syntax.Exists | syntax.NamedCall)
    return expression(condition) if is_call else f"({expression(condition)})"


def order(key: syntax.OrderKey) -> str:
    """One key of ORDER BY."""
    if key.descending:
        return f"DESC({expression(key.expression)})"
    return variable(key.expression) if isinstance(key.expression, terms.Variable) else constraint(key.expression)


def values(one: syntax.Values) -> str:
    """VALUES on one line."""
    names = " ".join(map(variable, one.variables))
    rows = " ".join(f"({' '.join('UNDEF' if v is None else node(v) for v in row)})" for row in one.rows)
    return f"VALUES ({names}) {{ {rows} }}"


def group(head: str, one: Group, tail: str = "") -> list[Line]:
    """A group in braces, with what stands before and after it."""
    inner = [line for each in one.elements for line in element(each)]
    if one.window is not None:
        inner.append((window(one.window), one.window.span.start))
    start = one.span.start if one.span.end else None
    return [(head + "{", start), *((INDENT + text, begin) for text, begin in inner), ("}" + tail, None)]


def element(one: syntax.Element) -> list[Line]:
    """One pattern of a group."""
    begin = one.span.start
    match one:
        case syntax.TriplesBlock(statements=statements):
            return [(statement(each) + " .", each.span.start) for each in statements]
        case syntax.Filter(condition=condition):
            return [(f"FILTER {constraint(condition)}", begin)]
        case syntax.Bind(expression=bound, variable=name):
            return [(f"BIND ({expression(bound)} AS {variable(name)})", begin)]
        case syntax.Values():
            return [(values(one), begin)]
        case syntax.Optional(group=inner):
            return group("OPTIONAL ", inner)
        case syntax.Minus(group=inner):
            return group("MINUS ", inner)
        case syntax.Graph(name=name, group=inner):
            return group(f"GRAPH {node(name)} ", inner)
        case syntax.Service(name=name, group=inner, silent=silent):
            return group(f"SERVICE {'SILENT ' if silent else ''}{node(name)} ", inner)
        case syntax.Union(groups=(first, *others)):
            output = group("", first)
            for other in others:
                (joint, _), *rest = group("} UNION ", other)
                output[-1:] = [(joint, other.span.start), *rest]
            return output
        case syntax.Group():
            return group("", one)
        case syntax.Select():
            return form(one)
    raise AssertionError(one)


def expression(one: Expression, above: int = 0) -> str:
    """An expression; in parentheses where what stands around it binds more tightly than `above` allows."""
    match one:
        case syntax.Junction(operator=operator, operands=operands):
            level = LEVELS[operator]
            text = f" {operator} ".join(expression(operand, level + 1) for operand in operands)
        case syntax.Binary(operator=operator, left=left, right=right):
            level = LEVELS[operator]
            text = f"{expression(left, level + (level == 3))} {operator} {expression(right, level + 1)}"
        case syntax.Member(operand=operand, options=options, negated=negated):
            level = MEMBER
            text = f"{expression(operand, level + 1)} {'NOT ' if negated else ''}IN ({listed(options)})"
        case syntax.Unary(operator=operator, operand=operand):
            level = UNARY
            blank = " " if operator != "!" and isinstance(operand, terms.Number) else ""
            text = f"{operator}{blank}{expression(operand, PRIMARY)}"
        case syntax.Builtin(name=name, arguments=arguments):
            return f"{name}({listed(arguments)})"
        case syntax.NamedCall(function=function, arguments=arguments, distinct=distinct):
            return f"{iri(function)}({'DISTINCT ' if distinct else ''}{listed(arguments)})"
        case syntax.Aggregate(name=name, operand=counted, distinct=distinct, separator=separator):
            inner = "*" if counted is None else expression(counted)
            tail = "" if separator is None else f" ; SEPARATOR = {quote(separator)}"
            return f"{name}({'DISTINCT ' if distinct else ''}{inner}{tail})"
        case syntax.Exists(group=pattern, negated=negated):
            inner = " ".join(text.strip() for text, _ in group("", pattern))
            return f"{'NOT ' if negated else ''}EXISTS {inner}"
        case terms.Variable():
            return variable(one)
        case terms.Iri() | terms.PrefixedName():
            return iri(one)
        case terms.Text() | terms.Number() | terms.Boolean():
            return literal(one)
        case _:
            assert_never(one)
    return f"({text})" if level < above else text


def listed(arguments: Iterable[Expression]) -> str:
    """Expressions with commas."""
    return ", ".join(map(expression, arguments))
