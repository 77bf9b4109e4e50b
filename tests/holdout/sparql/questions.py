"""Questions in Streaming SPARQL and statements for them, drawn from a seed; one family of questions per number."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

from tests.holdout.sparql.functions import CONDITIONS, LITERALS, VALUES
from tests.holdout.sparql.meaning import Input, Snapshots, Statement, Window, answers, expected
from tests.holdout.sparql.mixed import Mixed
from tests.holdout.sparql.patterns import Graph, Group, Scope, Subquery, Triple, Union, Words

FAMILIES = (
    "range",
    "fixed",
    "elements",
    "window in a group",
    "elements in a group",
    "nested windows",
    "join",
    "optional",
    "optional with filter",
    "optional with window",
    "nested optional",
    "union",
    "union with windows",
    "minus",
    "filter",
    "exists",
    "not exists",
    "bind",
    "values",
    "total",
    "groups",
    "having",
    "distinct",
    "order",
    "subquery",
    "path",
    "closure",
    "graph",
    "graph variable",
    "two streams",
    "stored",
    "blank nodes",
    "construct",
    "ask",
    "functions",
    "conditions",
    "mixed",
    "mixed deeper",
    "mixed and distinct",
    "mixed and counted",
)
NODES = (":a", ":b", ":c", ":d")


@dataclass(frozen=True)
class Question:
    """One pair of a question and streams, with what is expected of it."""

    number: int
    family: str
    catalog: dict[str, Any]
    inputs: dict[str, Any]
    text: str
    kind: str
    expected: Any

    @property
    def has_ties(self) -> bool:
        """Whether two statements of a stream come at one instant."""
        streams = [rows for name, rows in self.inputs.items() if "stream" in self.catalog["rdf"][name]]
        return any(len({row[0] for row in rows}) < len(rows) for rows in streams)


def question(number: int) -> Question:
    """The question of a number."""
    return _Draw(number).question()


class _Draw:
    def __init__(self, number: int) -> None:
        self.number = number
        self.family = FAMILIES[number % len(FAMILIES)]
        self.random = random.Random(f"sparql {number}")
        self.seconds = self.random.random() < 0.3
        self.last = self.random.randrange(15, 60)

    # statements

    def _statement(self) -> Statement:
        draw = self.random
        subject, predicate = draw.choice(NODES[:3]), draw.choice([":p", ":p", ":q", ":q", ":r"])
        if self.family in ("functions", "conditions"):
            return subject, predicate, draw.choice(LITERALS)
        if predicate == ":r":
            return subject, predicate, draw.choice(NODES)
        odd = draw.choice(['"x"', '"y"@en', ":a", "2.5"])
        return subject, predicate, str(draw.randrange(0, 6)) if draw.random() < 0.85 else odd

    def _stream(self, name: str, named: bool = False, second: bool = False) -> Input:
        """Ticks of the second of two streams are odd and those of the first even, so that one order merges them."""
        count = self.random.randrange(6, 20)
        ticks = sorted(self.random.randrange(0, self.last) // 2 * 2 + second for _ in range(count))
        window = self._window("elements" if self.family == "elements" else None)
        return Input(name, [(tick, self._statement()) for tick in ticks], window, named)

    def _plan(self, named: bool = False) -> Input:
        rows: set[Statement] = {(node, ":in", self.random.choice([":k", ":l"])) for node in NODES[:3]}
        rows |= {(":k", ":next", ":l"), (":l", ":next", ":m")}
        rows |= {(":k", ":floor", str(self.random.randrange(0, 3)))} if self.random.random() < 0.6 else set()
        return Input("plan", [(0, row) for row in sorted(rows)], None, named)

    def _window(self, kind: str | None = None) -> Window:
        draw = self.random
        width = draw.randrange(1, 21)
        unit = " S" if self.seconds else draw.choice(["", " MS"])
        kind = kind or draw.choice(["slide", "slide", "free", "fixed" if self.family == "fixed" else "slide"])
        if self.family == "fixed" and kind != "elements":
            kind = draw.choice(["fixed", "fixed", "same"])
        match kind:
            case "elements":
                count = draw.randrange(1, 6)
                return Window(elements=count, text=f"WINDOW ELEMS {count}")
            case "fixed":
                return Window(width, width, text=f"WINDOW RANGE {width}{unit} FIXED")
            case "same":
                return Window(width, width, text=f"WINDOW RANGE {width}{unit} SLIDE {width}{unit}")
            case "free":
                return Window(width, 1, text=f"WINDOW RANGE {width}{unit} SLIDE")
            case _:
                slide = draw.randrange(1, width + 1)
                return Window(width, slide, text=f"WINDOW RANGE {width}{unit} SLIDE {slide}{unit}")

    # patterns

    def _condition(self, *variables: str) -> str:
        draw = self.random
        one = draw.choice(variables)
        other = draw.choice(variables)
        number = draw.randrange(0, 6)
        return draw.choice(
            [
                f"{one} > {number}",
                f"{one} <= {number} + 1",
                f"{one} != {other}",
                f"{one} = {number} || {other} > 2",
                f"{one} IN ({number}, :a, 2.5)",
                f"isIRI({one}) || {one} < {number}",
                f"BOUND({one}) && {other} >= 1",
                f"!BOUND({one}) || {one} * 2 > {number}",
                f"isNumeric({one})",
                f"sameTerm({one}, {other}) || !({one} = {number})",
                f"REGEX(STR({one}), '[1-4x]$')",
                f"IF(isLiteral({one}), STRLEN(STR({one})) < 2, false)",
            ]
        )

    def _filter(self, *variables: str) -> Words:
        return Words(f"FILTER ({self._condition(*variables)})")

    def _some(self, group: list[Any], *variables: str) -> list[Any]:
        return [*group, self._filter(*variables)] if self.random.random() < 0.4 else group

    def question(self) -> Question:
        head, group, tail, template = self._query()
        inputs = self.sources
        text = head
        for one in inputs:
            word = ("NAMED " if one.named else "") + ("STREAM " if one.window else "")
            text += f" FROM {word}{one.iri} {one.window.text if one.window else ''}".rstrip()
        text += f" WHERE {group.stream()} {tail}"
        snapshots = Snapshots(inputs)
        scope = Scope(snapshots, [one for one in inputs if not one.named])
        inner = group.snapshot(scope)
        if template is not None or head == "ASK":
            head_of_snapshot = "SELECT ?x ?y ?z"
        else:
            head_of_snapshot = head
        found = answers(snapshots, f"{head_of_snapshot} WHERE {inner} {tail}")
        kind, answer = expected(head, tail, template, found)
        rdf = {one.name: {"stream" if one.window else "graph": one.iri[1:-1]} for one in inputs}
        catalog = {"tick": "1 s" if self.seconds else "1 ms", "prefixes": {"": "http://ex/"}, "rdf": rdf}
        rows = {
            one.name: [(t, *map(_given, row)) if one.window else tuple(map(_given, row)) for t, row in one.rows]
            for one in inputs
        }
        return Question(self.number, self.family, catalog, rows, text, kind, answer)

    def _query(self) -> tuple[str, Group, str, list[Statement] | None]:
        """The head, the pattern, what follows it, and the template of CONSTRUCT."""
        draw = self.random
        self.sources = [self._stream("s")]
        p, q, r = Triple("?x", ":p", "?y"), Triple("?x", ":q", "?z"), Triple("?x", ":r", "?w")
        head, tail = "SELECT ?x ?y", ""
        both = "SELECT ?x ?y ?z"
        match self.family:
            case "range" | "fixed" | "elements":
                return head, Group(self._some([draw.choice([p, Triple("?x", "?p", "?y")])], "?y")), tail, None
            case "window in a group":
                return head, Group(self._some([p], "?y"), self._window()), tail, None
            case "elements in a group":
                parts = draw.choice([[p], [p, q], [Triple("?x", "?p", "?y")], [Triple("?x", ":r", "?x"), p]])
                return head, Group(parts, self._window("elements")), tail, None
            case "nested windows":
                inner = Group([q], draw.choice([None, self._window(), self._window("elements")]))
                return both, Group([p, inner], draw.choice([None, self._window()])), tail, None
            case "join":
                return both, Group(self._some([p, q, *draw.choice([[], [r]])], "?y", "?z")), tail, None
            case "optional":
                return both, Group([p, Group([q], word="OPTIONAL"), *self._some([], "?y", "?z")]), tail, None
            case "optional with filter":
                inner = Group([q, self._filter("?y", "?z")], word="OPTIONAL")
                return both, Group([p, inner]), tail, None
            case "optional with window":
                window = draw.choice([self._window(), self._window("elements")])
                return both, Group([p, Group(self._some([q], "?z"), window, "OPTIONAL")]), tail, None
            case "nested optional":
                second = draw.choice([Group([Triple("?z", ":r", "?w")], word="OPTIONAL"), Group([r], word="OPTIONAL")])
                first = Group([q, second], word="OPTIONAL") if draw.random() < 0.5 else Group([q], word="OPTIONAL")
                parts = [p, first] if first.parts[-1] is second else [p, first, second]
                return "SELECT ?x ?y ?z ?w", Group(parts), tail, None
            case "union":
                sides = [Group(self._some([p], "?y")), Group([q]), Group([r, Triple("?w", ":p", "?y")])]
                union = Union(draw.sample(sides, draw.choice([2, 3])))
                more = draw.choice([[], [r], [self._filter("?y", "?z")]])
                return both, Group([union, *more]), tail, None
            case "union with windows":
                sides = [Group([p], self._window()), Group([q], draw.choice([None, self._window("elements")]))]
                return both, Group([Union(sides)]), tail, None
            case "minus":
                other = draw.choice([q, r, Triple("?x", ":q", "?y"), Triple("?a", ":r", "?b")])
                return head, Group([p, Group([other], draw.choice([None, self._window()]), "MINUS")]), tail, None
            case "filter":
                return both, Group([p, q, self._filter("?y", "?z")]), tail, None
            case "exists" | "not exists":
                word = "FILTER EXISTS" if self.family == "exists" else "FILTER NOT EXISTS"
                inner = draw.choice([[q], [r], [q, self._filter("?y", "?z")], [Triple("?x", ":q", "?y")]])
                return head, Group([p, Group(inner, draw.choice([None, self._window()]), word)]), tail, None
            case "bind":
                value = draw.choice(
                    ["?y + 1", "IF(?y > 2, 'big', ?y)", "COALESCE(?y / 2, -1)", "CONCAT(STR(?y), '!')", "?y * ?y - 0.5"]
                )
                parts = [p, Words(f"BIND ({value} AS ?z)")]
                return both, Group(self._some(parts, "?z")), tail, None
            case "functions":
                values = draw.sample(VALUES, 2)
                parts = [Triple("?x", "?p", "?y")] + [Words(f"BIND ({v} AS ?v{n})") for n, v in enumerate(values)]
                return "SELECT ?x ?y ?v0 ?v1", Group(parts), tail, None
            case "conditions":
                joined = draw.choice(["{} && {}", "{} || {}", "!({}) || {}", "COALESCE({}, {})"])
                condition = joined.format(*(f"({one})" for one in draw.sample(CONDITIONS, 2)))
                return head, Group([Triple("?x", "?p", "?y"), Words(f"FILTER ({condition})")]), tail, None
            case "values":
                rows = draw.sample(["(:a 1)", "(:a UNDEF)", "(UNDEF 2)", "(:b 3)", "(:c UNDEF)", "(:a 1)"], 3)
                values = Words(f"VALUES (?x ?y) {{ {' '.join(rows)} }}")
                return head, Group(draw.sample([p, values], 2)), tail, None
            case _:
                return self._more(p, q, r)

    def _more(self, p: Triple, q: Triple, r: Triple) -> tuple[str, Group, str, list[Statement] | None]:
        draw = self.random
        numbers = Words("FILTER (isNumeric(?y))")
        match self.family:
            case "mixed" | "mixed deeper" | "mixed and distinct" | "mixed and counted":
                return self._mixed()
            case "total" | "groups" | "having":
                return self._aggregates(p, q)
            case "distinct":
                parts = draw.choice([[p], [p, q], [Union([Group([p]), Group([Triple("?x", ":q", "?y")])])]])
                word = draw.choice(["DISTINCT", "REDUCED"])
                return f"SELECT {word} {draw.choice(['?x', '?x ?y', '?y'])}", Group(parts), "", None
            case "order":
                order = draw.choice(["?y ?x", "DESC(?y) ?x", "?x DESC(?y)", "(?y + 0) DESC(?x)"])
                cut = draw.choice(["", " LIMIT 2", " LIMIT 3 OFFSET 1", " OFFSET 2"])
                return "SELECT ?x ?y", Group([p, numbers]), f"ORDER BY {order}{cut}", None
            case "subquery":
                head = draw.choice(["SELECT (MAX(?v) AS ?y)", "SELECT (MIN(?v) AS ?y)", "SELECT DISTINCT ?y"])
                value = "?y" if "DISTINCT" in head else "?v"
                inner = Group([Triple("?o", draw.choice([":p", ":q"]), value), Words(f"FILTER (isNumeric({value}))")])
                return "SELECT ?x ?y", Group([p, Subquery(head, inner)]), "", None
            case "path":
                path = draw.choice(
                    [":r/:p", "^:r", ":r/:r", ":p|:q", "^:r/:q", "!:p", "!(:p|:q)", ":r/^:r", ":r/:r/:p"]
                )
                return "SELECT ?x ?y", Group(self._some([Triple("?x", path, "?y")], "?y")), "", None
            case "closure":
                path = draw.choice([":r+", ":r*", ":r?", ":r+", ":r*"])
                # pyoxigraph gives a path of length zero from a constant only if the graph holds it
                ends = [("?x", "?y"), ("?x", "?y"), (":a", "?y"), ("?x", ":b")]
                subject, object_ = draw.choice(ends if path == ":r+" else ends[:1])
                parts = [Triple(subject, path, object_)]
                if draw.random() < 0.4:
                    parts.append(Triple("?x", ":p", "?z"))
                return "SELECT ?x ?y", Group(parts), "", None
            case "graph" | "graph variable":
                self.sources = [self._stream("s"), self._stream("n1", named=True), self._stream("n2", named=True)]
                if draw.random() < 0.3:
                    self.sources.append(self._plan(named=True))
                name = draw.choice(["<http://ex/n1>"] * 3 + ["<http://ex/n2>"] * 3 + ["<http://ex/n9>"])
                if self.family == "graph":
                    inner = Group([q], None if name.endswith("9>") else draw.choice([None, None, self._window()]))
                    return "SELECT ?x ?y ?z", Group([p, Graph(name, inner)]), "", None
                inner = Group([draw.choice([p, Triple("?x", "?p", "?y")])])
                parts = [Graph("?g", inner), *draw.choice([[], [r]])]
                return "SELECT ?g ?x ?y", Group(parts), "", None
            case "two streams":
                self.sources = [self._stream("s"), self._stream("s2", second=True)]
                window = draw.choice([None, None, self._window(), self._window("elements")])
                parts = draw.choice([[p], [p, q], [p, Group([q], word="OPTIONAL")]])
                return "SELECT ?x ?y ?z", Group(parts, window), "", None
            case "stored":
                self.sources.append(self._plan())
                parts = draw.choice(
                    [
                        [p, Triple("?x", ":in", "?z")],
                        [p, Triple("?x", ":in/:next", "?z")],
                        [Triple("?x", ":in", "?z"), Group([p], word="OPTIONAL")],
                        [Triple("?x", ":in", "?z"), Group([p], word="MINUS")],
                        [Triple("?x", ":in/:next*", "?z"), p],
                        [p, Triple("?x", ":in", "?k"), Group([Triple("?k", ":floor", "?z")], word="OPTIONAL")],
                    ]
                )
                return "SELECT ?x ?y ?z", Group(parts), "", None
            case "blank nodes":
                parts = draw.choice(
                    [
                        [Triple("_:n", ":p", "?y"), Triple("_:n", ":q", "?z")],
                        [Triple("?x", ":r", "_:n"), Triple("_:n", ":p", "?y")],
                        [Triple("_:n", "?p", "?y")],
                        [Triple("_:n", ":r", "_:n"), Triple("_:n", ":p", "?y")],
                        [Triple("?y", ":r", "?y")],
                    ]
                )
                return "SELECT ?y", Group(parts, draw.choice([None, self._window()])), "", None
            case "construct":
                template = draw.sample(
                    [
                        ("?x", ":has", "?y"),
                        ("?y", ":of", "?x"),
                        ("?x", ":state", ":on"),
                        ("?x", ":also", "?z"),
                        ("?x", "?y", "?z"),
                    ],
                    draw.choice([1, 2, 3]),
                )
                parts = draw.choice([[p], [p, Group([q], word="OPTIONAL")], [r, Triple("?w", ":p", "?y")]])
                written = " . ".join(" ".join(one) for one in template)
                return f"CONSTRUCT {{ {written} }}", Group(parts), "", template
            case _:
                parts = draw.choice([[p, q], [p, self._filter("?y")], [r, Triple("?w", ":p", "?y")]])
                return "ASK", Group(parts), "", None

    def _mixed(self) -> tuple[str, Group, str, list[Statement] | None]:
        group = Mixed(self.random, self._condition, self._window).group(
            2 if self.family == "mixed deeper" else 1, most=4
        )
        match self.family:
            case "mixed and distinct":
                return "SELECT DISTINCT ?x ?y ?z", group, "", None
            case "mixed and counted":
                return "SELECT ?x (COUNT(*) AS ?n) (COUNT(?z) AS ?m)", group, "GROUP BY ?x", None
            case _:
                return "SELECT ?x ?y ?z ?w ?b1", group, "", None

    def _aggregates(self, p: Triple, q: Triple) -> tuple[str, Group, str, list[Statement] | None]:
        draw = self.random
        forms = [
            "COUNT(*)",
            "COUNT(?y)",
            "COUNT(DISTINCT ?y)",
            "COUNT(?z)",
            "SUM(?y)",
            "AVG(?y)",
            "MIN(?y)",
            "MAX(?y)",
            "SUM(DISTINCT ?y)",
        ]
        chosen = draw.sample(forms, draw.choice([1, 2]))
        items = " ".join(f"({form} AS ?a{place})" for place, form in enumerate(chosen))
        parts: list[Any] = [p, Words("FILTER (isNumeric(?y))")]
        if draw.random() < 0.4:
            parts.append(draw.choice([q, Group([q], word="OPTIONAL")]))
        if self.family == "total":
            return f"SELECT {items}", Group(parts), "", None
        tail = "GROUP BY ?x"
        if self.family == "having":
            tail += f" HAVING ({draw.choice(['COUNT(*) > 1', 'MAX(?y) > 3', 'SUM(?y) <= 6', 'AVG(?y) != 2'])})"
        return f"SELECT ?x {items}", Group(parts), tail, None


def _given(text: str) -> Any:
    return int(text) if text.isdigit() else text
