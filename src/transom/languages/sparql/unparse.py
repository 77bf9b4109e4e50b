"""Prints SPARQL as canonical text: one clause or pattern per line, each comment before the one that follows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import assert_never

from transom.errors import Span
from transom.languages.grammars import parser
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.characters import quote, unescape
from transom.languages.sparql.syntax import Expression, GroupPattern, Modifiers, SparqlQuery
from transom.languages.sparql.unparse_terms import iri, literal, node, statement, variable

INDENT = "  "
Line = tuple[str, int | None]
"""A line of canonical text, and the offset in the original text of the clause or pattern that it begins, if any."""

_COMMENT = re.compile(r"#[^\n\r]*")
_BACKSLASH = re.compile(r"\\\\|\\(?=[uU])")
LEVELS = {"||": 1, "&&": 2, "=": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3, "+": 4, "-": 4, "*": 5, "/": 5}
"""Precedence of operators; a comparison has sums on both sides."""
MEMBER, UNARY, PRIMARY = 3, 6, 7


def unparse(query: SparqlQuery) -> str:
    """Return the canonical text of a SPARQL query, without comments."""
    return "\n".join(text for text, _ in lines(query))


def format_text(text: str, query: SparqlQuery) -> str:
    """Return the canonical text of a query, with the comments of `text`, each before the clause that followed it."""
    comments = list(comments_of(text))
    output: list[str] = []
    for line, start in lines(query):
        while start is not None and comments and comments[0][0].start < start:
            indent = line[: len(line) - len(line.lstrip())]
            output.append(indent + _escape_comment(comments.pop(0)[1]))
        output.append(line)
    return "\n".join([*output, *(_escape_comment(comment) for _, comment in comments)]) + "\n"


def comments_of(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the comments of a SPARQL query with their spans in the text; a `#` inside a token does not begin one."""
    unescaped, offsets = unescape(text)
    end = 0
    ends = [
        (token.start_pos or 0, token.end_pos or 0)
        for token in parser("sparql").parse_interactive(unescaped).exhaust_lexer()
    ]
    for start, following in [*ends, (len(unescaped), len(unescaped))]:
        for match in _COMMENT.finditer(unescaped, end, start):
            yield offsets.span(Span(*match.span())), match[0].rstrip()
        end = following


def _escape_comment(comment: str) -> str:
    """Escape the backslashes of a comment that would begin a Unicode escape if the formatted text were parsed."""
    return _BACKSLASH.sub(lambda match: match[0] if len(match[0]) == 2 else "\\u005C", comment)


def lines(query: SparqlQuery) -> list[Line]:
    """Return the lines of a query's canonical text, each with its clause's offset in the original text, or None."""
    output: list[Line] = []
    for entry in query.prologue:
        match entry:
            case syntax.Base(iri=text):
                output.append((f"BASE <{text}>", entry.span.start))
            case syntax.Prefix(name=name, iri=text):
                output.append((f"PREFIX {name}: <{text}>", entry.span.start))
    return output + form(query.form)


def form(query: syntax.Form) -> list[Line]:
    """Return the lines of a SELECT, CONSTRUCT, DESCRIBE or ASK query or subquery, without BASE and PREFIX."""
    begin = query.span.start
    where = query.where
    match query:
        case syntax.Select():
            kind = f"{query.kind} " if query.kind else ""
            head: list[Line] = [(f"SELECT {kind}{items(query.items)}", begin)]
        case syntax.Construct(template=None):
            head = [("CONSTRUCT", begin)]
        case syntax.Construct(template=template):
            inner = [(INDENT + statement(triples) + " .", triples.span.start) for triples in template or ()]
            head = [("CONSTRUCT {", begin), *inner, ("}", None)]
        case syntax.Describe():
            head = [(f"DESCRIBE {items(query.items)}", begin)]
        case syntax.Ask():
            head = [("ASK", begin)]
        case _:
            assert_never(query)
    head += [(source(clause), clause.span.start) for clause in query.sources]
    pattern = [] if where is None else group("WHERE ", where)
    return head + pattern + modifiers(query.modifiers)


def items(nodes: Iterable[terms.Variable | syntax.AliasedExpression | terms.IriName]) -> str:
    """Return the canonical text of the items after SELECT or DESCRIBE; `*` if there are none."""
    return (
        " ".join(
            aliased_expression(entry) if isinstance(entry, syntax.AliasedExpression) else node(entry) for entry in nodes
        )
        or "*"
    )


def aliased_expression(item: syntax.AliasedExpression) -> str:
    """Return the canonical text of `(expression AS ?variable)`."""
    return f"({expression(item.expression)} AS {variable(item.variable)})"


def source(clause: syntax.Source) -> str:
    """Return the canonical text of a FROM clause."""
    keyword = "NAMED " if clause.named else ""
    if isinstance(clause, syntax.GraphSource):
        return f"FROM {keyword}{iri(clause.name)}"
    return f"FROM {keyword}STREAM {iri(clause.name)} {window(clause.window)}"


def window(clause: syntax.Window) -> str:
    """Return the canonical text of a WINDOW clause."""
    match clause:
        case syntax.RangeWindow(width=width, slide=None):
            return f"WINDOW RANGE {duration(width)} SLIDE"
        case syntax.RangeWindow(width=width, slide=slide) if slide is not None:
            return f"WINDOW RANGE {duration(width)} SLIDE {duration(slide)}"
        case syntax.FixedWindow(width=width):
            return f"WINDOW RANGE {duration(width)} FIXED"
        case syntax.ElementWindow(count=count):
            return f"WINDOW ELEMS {count}"
    raise AssertionError(clause)


def duration(length: syntax.Duration) -> str:
    """Return the canonical text of a window's duration, such as 10 S, or 10 if the query has no unit."""
    return f"{length.count} {length.unit.value}" if length.unit else str(length.count)


def modifiers(clauses: Modifiers) -> list[Line]:
    """Return the lines of GROUP BY, HAVING, ORDER BY, LIMIT, OFFSET and VALUES, without clauses that are absent."""
    output: list[str] = []
    if clauses.group_by:
        output.append("GROUP BY " + " ".join(map(grouping, clauses.group_by)))
    if clauses.having:
        output.append("HAVING " + " ".join(map(constraint, clauses.having)))
    if clauses.order_by:
        output.append("ORDER BY " + " ".join(map(order, clauses.order_by)))
    if clauses.limit is not None:
        output.append(f"LIMIT {clauses.limit}")
    if clauses.offset is not None:
        output.append(f"OFFSET {clauses.offset}")
    if clauses.values is not None:
        output.append(values(clauses.values))
    return [(text, None) for text in output]


def grouping(key: Expression | syntax.AliasedExpression) -> str:
    """Return the canonical text of one expression of GROUP BY, such as `(?a + 1 AS ?b)`."""
    if isinstance(key, syntax.AliasedExpression):
        return aliased_expression(key)
    if isinstance(key, terms.Variable):
        return variable(key)
    is_call = isinstance(key, syntax.BuiltinCall | syntax.Aggregate | syntax.Exists)
    return expression(key) if is_call else f"({expression(key)})"


def constraint(condition: Expression) -> str:
    """Return the canonical text of a condition of FILTER or HAVING: in parentheses, unless it is a call."""
    is_call = isinstance(condition, syntax.BuiltinCall | syntax.Aggregate | syntax.Exists | syntax.IriCall)
    return expression(condition) if is_call else f"({expression(condition)})"


def order(key: syntax.OrderKey) -> str:
    """Return the canonical text of one expression of ORDER BY with its direction, such as `DESC(?x)`."""
    if key.descending:
        return f"DESC({expression(key.expression)})"
    return variable(key.expression) if isinstance(key.expression, terms.Variable) else constraint(key.expression)


def values(clause: syntax.Values) -> str:
    """Return the canonical text of a VALUES clause, on one line."""
    names = " ".join(map(variable, clause.variables))
    rows = " ".join(f"({' '.join('UNDEF' if v is None else node(v) for v in row)})" for row in clause.rows)
    return f"VALUES ({names}) {{ {rows} }}"


def group(head: str, pattern: GroupPattern, tail: str = "") -> list[Line]:
    """Return the lines of a group `{ ... }`, with `head` before the opening brace and `tail` after the closing one."""
    inner = [line for member in pattern.elements for line in element(member)]
    if pattern.window is not None:
        inner.append((window(pattern.window), pattern.window.span.start))
    start = pattern.span.start if pattern.span.end else None
    return [(head + "{", start), *((INDENT + text, begin) for text, begin in inner), ("}" + tail, None)]


def element(member: syntax.Element) -> list[Line]:
    """Return the lines of one element of a group, such as FILTER, OPTIONAL or a block of triples."""
    begin = member.span.start
    match member:
        case syntax.TriplesBlock(statements=statements):
            return [(statement(triples) + " .", triples.span.start) for triples in statements]
        case syntax.Filter(condition=condition):
            return [(f"FILTER {constraint(condition)}", begin)]
        case syntax.Bind(expression=bound, variable=name):
            return [(f"BIND ({expression(bound)} AS {variable(name)})", begin)]
        case syntax.Values():
            return [(values(member), begin)]
        case syntax.Optional(group=inner):
            return group("OPTIONAL ", inner)
        case syntax.Minus(group=inner):
            return group("MINUS ", inner)
        case syntax.GraphPattern(name=name, group=inner):
            return group(f"GRAPH {node(name)} ", inner)
        case syntax.Service(name=name, group=inner, silent=silent):
            return group(f"SERVICE {'SILENT ' if silent else ''}{node(name)} ", inner)
        case syntax.Union(groups=(first, *more)):
            output = group("", first)
            for alternative in more:
                (joint, _), *rest = group("} UNION ", alternative)
                output[-1:] = [(joint, alternative.span.start), *rest]
            return output
        case syntax.GroupPattern():
            return group("", member)
        case syntax.Select():
            return form(member)
    raise AssertionError(member)


def expression(tree: Expression, min_precedence: int = 0) -> str:
    """Return the canonical text of an expression, in parentheses if its precedence is below `min_precedence`."""
    match tree:
        case syntax.Logic(operator=operator, operands=operands):
            level = LEVELS[operator]
            text = f" {operator} ".join(expression(operand, level + 1) for operand in operands)
        case syntax.Binary(operator=operator, left=left, right=right):
            level = LEVELS[operator]
            text = f"{expression(left, level + (level == 3))} {operator} {expression(right, level + 1)}"
        case syntax.InList(operand=operand, options=options, negated=negated):
            level = MEMBER
            text = f"{expression(operand, level + 1)} {'NOT ' if negated else ''}IN ({comma_list(options)})"
        case syntax.Unary(operator=operator, operand=operand):
            level = UNARY
            blank = " " if operator != "!" and isinstance(operand, terms.NumericLiteral) else ""
            text = f"{operator}{blank}{expression(operand, PRIMARY)}"
        case syntax.BuiltinCall(name=name, arguments=arguments):
            return f"{name}({comma_list(arguments)})"
        case syntax.IriCall(function=function, arguments=arguments, distinct=distinct):
            return f"{iri(function)}({'DISTINCT ' if distinct else ''}{comma_list(arguments)})"
        case syntax.Aggregate(name=name, operand=counted, distinct=distinct, separator=separator):
            inner = "*" if counted is None else expression(counted)
            tail = "" if separator is None else f" ; SEPARATOR = {quote(separator)}"
            return f"{name}({'DISTINCT ' if distinct else ''}{inner}{tail})"
        case syntax.Exists(group=pattern, negated=negated):
            inner = " ".join(text.strip() for text, _ in group("", pattern))
            return f"{'NOT ' if negated else ''}EXISTS {inner}"
        case terms.Variable():
            return variable(tree)
        case terms.Iri() | terms.PrefixedName():
            return iri(tree)
        case terms.StringLiteral() | terms.NumericLiteral() | terms.BooleanLiteral():
            return literal(tree)
        case _:
            assert_never(tree)
    return f"({text})" if level < min_precedence else text


def comma_list(arguments: Iterable[Expression]) -> str:
    """Return the canonical texts of several expressions as one text, separated by commas."""
    return ", ".join(map(expression, arguments))
