"""The tables of the documentation that come from the code: functions, operators, rules, windows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from benchmarks.tables import TABLES as MEASURED
from benchmarks.tables import entries

import transom
from tests.docs.examples import FUNCTION_EXAMPLES, WINDOW_FORMS
from tests.docs.gap_examples import GRAPH, RDF, ROWS, STREAM
from transom.algebra.expressions.expression import AggregateFunction
from transom.algebra.expressions.functions import FUNCTIONS, SPACE_FUNCTIONS, Function
from transom.algebra.expressions.term_functions import LOGIC, TERM_FUNCTIONS
from transom.algebra.tree import OPERATORS
from transom.algebra.windows import Window
from transom.errors import Unsupported
from transom.languages.cql.scope import TRACKS
from transom.languages.sql.translate import AGGREGATES
from transom.languages.sql.unparse import RESERVED
from transom.model.answer import show
from transom.model.bag import Element, TableVersion
from transom.model.types import Type, Value
from transom.optimizer.pipeline import RULES
from transom.physical.gaps import GAPS, Gap
from transom.reference.evaluate import evaluate_window
from transom.reference.sources import Inputs

_CATALOG = transom.Catalog.read("epoch: 2024-06-01T06:00:00Z\none: stored (x:integer)")
_TITLES = {
    "cast": "Casts",
    "choice": "Choice and NULL",
    "form": "Functional forms",
    "hash": "Hash functions",
    "number": "Numbers",
    "string": "Strings",
    "term": "RDF terms",
}
"""The headings of groups whose name alone is not a heading."""
_BASED = {"IRI", "URI"}
"""Functions of SPARQL whose second argument is the base IRI of the query, which nobody writes."""
_DOCUMENTS = {"000": "SNEEql", "001": "CQL", "002": "SPARQL"}


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(text: str) -> str:
    """Some text as code."""
    return f"`{text}`"


def value_of(expression: str) -> Value:
    """The value of a constant expression."""
    query = transom.compile(f"SELECT {expression} AS x FROM one", _CATALOG)
    [window] = query.simulate({"one": [(1,)]}).windows
    return window.rows[0][0]


def said(value: Value) -> str:
    """A value in a table."""
    return "NULL" if value is None else show(value)


def functions() -> str:
    """Every function with its meaning and an example that was run."""
    rows = []
    for name, function in FUNCTIONS.items():
        example = FUNCTION_EXAMPLES[name]
        meaning = function.meaning.split(":")[0] + ("" if function.strict else r" \*")
        rows.append((function.group, code(name), meaning, code(example), code(said(value_of(example)))))
    note = (
        r"A function that is marked with \* can return a value although an argument is NULL. "
        "All other functions return NULL if an argument is NULL."
    )
    return table(("group", "name", "returns", "example", "result"), rows) + f"\n\n{note}"


def rdf_functions() -> str:
    """Every function and operator of SPARQL with its meaning."""
    rows = []
    for name, function, is_logic in _of_sparql():
        group = "logic" if is_logic else function.group
        rows.append((group, code(name), arguments(function, is_logic), function.meaning + star(function)))
    return table(("group", "name", "arguments", "returns"), rows)


def _of_sparql() -> Iterable[tuple[str, Function, bool]]:
    """The functions and operators of SPARQL by their names, and whether they are boolean operators."""
    yield from ((written, FUNCTIONS[name], True) for written, name in LOGIC.items())
    yield from ((name, function, False) for name, function in TERM_FUNCTIONS.items())


def by_group(functions: Iterable[tuple[Function, Sequence[str]]], head: Sequence[str]) -> str:
    """A heading and a table for each group of functions, in the order of the code."""
    groups: dict[str, list[Sequence[str]]] = {}
    for function, row in functions:
        groups.setdefault(function.group, []).append(row)
    return "\n\n".join(
        f"### {_TITLES.get(group, group.capitalize())}\n\n{table(head, rows)}" for group, rows in groups.items()
    )


def functions_by_group() -> str:
    """The scalar functions of SNEEql and CQL with an example that is run."""
    rows = [
        (function, (code(name) + star(function), meaning(function), code(example), code(said(value_of(example)))))
        for name, function in FUNCTIONS.items()
        for example in [FUNCTION_EXAMPLES[name]]
    ]
    return by_group(rows, ("function", "returns", "example", "result"))


def space_functions() -> str:
    """The functions on positions."""
    return table(("function", "returns"), [(code(name), meaning(one)) for name, one in SPACE_FUNCTIONS.items()])


def rdf_functions_by_group() -> str:
    """The functions and operators of SPARQL."""
    rows = [
        (function, (code(name) + star(function), arguments(function, is_logic), meaning(function)))
        for name, function, is_logic in _of_sparql()
    ]
    return by_group(rows, ("function", "arguments", "returns"))


def aggregates() -> str:
    """Every aggregate with the types that it takes and the languages that have it."""
    rows = []
    for function in AggregateFunction:
        languages = "SNEEql, CQL, SPARQL" if function.value in AGGREGATES else "SPARQL"
        rows.append((code(function.value), takes(function), languages))
    rows += [(code(name), "rows with positions, in order of time", "CQL") for name in TRACKS]
    return table(("aggregate", "takes", "languages"), rows)


def takes(function: AggregateFunction) -> str:
    """The column types that an aggregate accepts outside of SPARQL."""
    types = [kind for kind in Type if kind is not Type.TERM and function.result(kind)]
    if not types:
        return "RDF terms"
    return "numbers" if all(kind.is_number for kind in types) else "values of any type"


def arguments(function: Function, is_logic: bool) -> str:
    """How many arguments a function of SPARQL takes."""
    if function.name in _BASED:
        return "1"
    counts = sorted(len(signature.arguments) for signature in function.signatures)
    if any(signature.repeats for signature in function.signatures) and not is_logic:
        return f"{counts[0]} or more"
    return str(counts[0]) if counts[0] == counts[-1] else f"{counts[0]} or {counts[-1]}"


def meaning(function: Function) -> str:
    """What a function returns, without its hidden arguments."""
    return function.meaning.split(":")[0]


def star(function: Function) -> str:
    """The mark of a function that handles NULL or errors itself."""
    return "" if function.strict else r" \*"


def null_logic() -> str:
    """AND, OR and NOT of TRUE, FALSE and NULL."""
    words = ("TRUE", "FALSE", "NULL")

    def result(expression: str) -> str:
        return said(value_of(expression)).upper()

    rows = [
        (code(a), code(b), result(f"{a} AND {b}"), result(f"{a} OR {b}"), result(f"NOT {a}"))
        for a in words
        for b in words
    ]
    return table(("a", "b", "a AND b", "a OR b", "NOT a"), rows)


def reserved() -> str:
    """The reserved words."""
    return ", ".join(code(word.upper()) for word in sorted(RESERVED)) + "."


def sections(doc: str) -> dict[str, str]:
    """The first line of an operator's description, and what stands behind Meaning, Bounds, Source and State."""
    first, _, rest = doc.strip().partition("\n")
    found: dict[str, str] = {"": first.rstrip(".")}
    for line in rest.strip().splitlines():
        head = re.match(r"(Meaning|Bounds|Source|State)\s+(.*)", line.strip())
        if head:
            found[head[1]] = head[2]
        elif line.strip():
            found[list(found)[-1]] += " " + line.strip()
    return {name: text.replace("\\\\", "\\").rstrip(".") for name, text in found.items()}


def operators() -> str:
    """Every operator on tuples and windows with what it says of itself."""
    return described(operator for operator in OPERATORS if not _reads_statements(operator))


def rdf_operators() -> str:
    """Every operator on statements with what it says of itself."""
    return described(filter(_reads_statements, OPERATORS))


def _reads_statements(operator: type) -> bool:
    return operator.__module__.startswith("transom.algebra.rdf.")


def described(family: Iterable[type]) -> str:
    """Operators with what they say of themselves."""
    rows = []
    for operator in family:
        told = sections(operator.__doc__ or "")
        source = re.sub(r"\b00[012]\b", lambda found: _DOCUMENTS[found[0]], told["Source"])
        source = source.replace("the table of windows in docs/operators.md", "the table of windows")
        meaning = f"{told['']}. {told['Meaning'][0].upper()}{told['Meaning'][1:]}"
        cells = (meaning, told["Bounds"], told["State"], source)
        rows.append((code(operator.__name__), *map(link_decisions, cells), "yes"))
    return table(("operator", "meaning", "special cases", "state", "defined in", "reference engine"), rows)


def link_decisions(text: str) -> str:
    """Some text with the ids of decisions as links."""
    return re.sub(r"\b[SCRE]\d+\b", lambda found: f"[{found[0]}](decisions.md#{found[0].lower()})", text)


def windows() -> str:
    """Every form of window that the three languages have, and whether the reference engine runs it."""
    rows = []
    for written, window in WINDOW_FORMS.items():
        by = "".join(f" by {attribute.name}" for attribute in window.key)
        rows.append((written, code(str(window.slide)), code(f"{window.range}{by}"), verdict(window)))
    return table(("window", "slide", "range", "reference engine"), rows)


def verdict(window: Window) -> str:
    """What the reference engine makes of a window."""
    elements = [Element(tick, index, (tick,)) for index, tick in enumerate((0, 5, 5, 9), start=1)]
    try:
        evaluate_window(window, Inputs(10, {"s": elements}, {"t": [TableVersion(0, ((1,),))]}))
    except Unsupported as gap:
        return gap.kind
    return "yes"


def rules() -> str:
    """Every optimizer rule with its meaning."""
    return table(("rule", "meaning"), [(code(rule.name), rule.meaning.rstrip(".")) for rule in RULES])


def gaps_in_rows() -> str:
    """What Spark does not run of SNEEql and CQL."""
    return refused(ROWS)


def gaps_in_rdf() -> str:
    """What Spark does not run of SPARQL."""
    return refused(RDF)


def refused(examples: Mapping[Gap, str]) -> str:
    """Gaps of the planner, each with a query that it refuses."""

    def shown(gap: Gap) -> str:
        return code(examples[gap].replace(STREAM, "FROM STREAM <s>").replace(GRAPH, "FROM <g>"))

    rows = [(gap.construct.replace("*", "\\*"), shown(gap), gap.reason) for gap in GAPS if gap in examples]
    return table(("not on Spark", "for example", "because"), rows)


TABLES: dict[tuple[str, str], Callable[[], str]] = {
    ("docs/sneeql.md", "null-logic"): null_logic,
    ("docs/sneeql.md", "functions"): functions,
    ("docs/sneeql.md", "reserved"): reserved,
    ("docs/operators.md", "operators"): operators,
    ("docs/operators.md", "rdf-operators"): rdf_operators,
    ("docs/operators.md", "windows"): windows,
    ("docs/engine.md", "rules"): rules,
    ("docs/sparql.md", "rdf-functions"): rdf_functions,
    ("docs/functions.md", "aggregates"): aggregates,
    ("docs/functions.md", "functions-by-group"): functions_by_group,
    ("docs/functions.md", "space-functions"): space_functions,
    ("docs/functions.md", "rdf-functions-by-group"): rdf_functions_by_group,
    ("docs/engines.md", "gaps-in-rows"): gaps_in_rows,
    ("docs/engines.md", "gaps-in-rdf"): gaps_in_rdf,
    **{("docs/benchmarks.md", marker): partial(measured, entries()) for marker, measured in MEASURED.items()},
}
"""The tables by page and by the marker that stands before them; the marker `end` stands after each."""
