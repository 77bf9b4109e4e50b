"""Small questions of SPARQL 1.1 over streams, one for each construct that an engine could get wrong by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from transom import Catalog

SMALL_CATALOG = Catalog.from_dict(
    {
        "tick": "1 ms",
        "prefixes": {"": "http://ex/"},
        "rdf": {
            "s": {"stream": "http://ex/s"},
            "m": {"stream": "http://ex/m", "subjects": "local"},
            "g": {"graph": "http://ex/g"},
        },
    }
)
OF_S = "FROM STREAM :s WINDOW RANGE 10 SLIDE WHERE"


class Small(NamedTuple):
    """A question and the few statements that it reads."""

    text: str
    inputs: Mapping[str, Any]


A_WHILE = [(0, ":a", ":p", 1), (0, ":b", ":p", 7), (1, ":a", ":q", ":b"), (3, ":b", ":q", ":c"), (12, ":a", ":p", 2)]
"""The window of 10 holds :a and :b from the start; each has a :q for a part of that time."""
LINKED = [*A_WHILE, (2, ":b", ":r", 5), (4, ":c", ":r", 1), (6, ":a", ":r", 1), (13, ":a", ":q", ":a")]

EXISTS = {
    "exists-in-or": Small(f"SELECT * {OF_S} {{ ?x :p ?y FILTER (?y > 5 || EXISTS {{ ?x :q ?z }}) }}", {"s": A_WHILE}),
    "exists-as-value": Small(f"SELECT * {OF_S} {{ ?x :p ?y BIND (EXISTS {{ ?x :q ?z }} AS ?e) }}", {"s": A_WHILE}),
    "exists-in-aggregate": Small(
        f"SELECT ?e (COUNT(*) AS ?n) {OF_S} {{ ?x :p ?y }} GROUP BY (EXISTS {{ ?x :q ?z FILTER (?z != ?x) }} AS ?e)",
        {"s": LINKED},
    ),
    "exists-in-order": Small(
        f"SELECT ?x ?y {OF_S} {{ ?x :p ?y }} ORDER BY DESC(EXISTS {{ ?x :q/:r ?z }}) ?y LIMIT 1", {"s": LINKED}
    ),
    "exists-in-optional": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y OPTIONAL {{ ?x :q ?z FILTER (EXISTS {{ ?z :r ?w }} || ?y = 2) }} }}",
        {"s": [*LINKED, (5, ":a", ":p", 1)]},
    ),
    "exists-with-minus": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y FILTER EXISTS {{ ?x :q ?z MINUS {{ ?x :r ?v }} MINUS {{ ?z :r 5 }} }} }}",
        {"s": LINKED},
    ),
    "exists-with-optional": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y FILTER NOT EXISTS {{ ?x :q ?z OPTIONAL {{ ?z :r ?v FILTER (?v > ?y) }} "
        "FILTER BOUND(?v) } }",
        {"s": LINKED},
    ),
    "exists-with-bind": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y FILTER EXISTS {{ ?z :r ?w BIND (?w + 1 AS ?y) }} }}", {"s": LINKED}
    ),
    "exists-with-count": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y FILTER EXISTS {{ "
        "{ SELECT (COUNT(*) AS ?y) { ?v :r ?w FILTER (?w > ?y && ?y < 7) } } } }",
        {"s": [*LINKED, (0, ":d", ":p", 0), (5, ":d", ":p", 3)]},
    ),
    "exists-with-limit": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y FILTER EXISTS {{ {{ SELECT ?x ?z {{ ?x :q ?z }} ORDER BY ?z LIMIT 1 }} "
        "?z :r ?v } }",
        {"s": [*LINKED, (4, ":b", ":q", ":b")]},
    ),
    "exists-about-unbound": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y OPTIONAL {{ ?x :q ?z }} FILTER EXISTS {{ ?z :r ?v OPTIONAL {{ ?x :r ?w }} "
        "FILTER (?v >= 5 && (!BOUND(?w) || ?w = 5)) } }",
        {"s": LINKED},
    ),
    "exists-in-exists": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y FILTER EXISTS {{ ?x :q ?z "
        "FILTER (?y > 5 || NOT EXISTS { ?z :r ?w FILTER (?w > ?y) }) } }",
        {"s": LINKED},
    ),
}
"""EXISTS wherever a condition or a value may stand, around everything that sees the variables outside it."""

TWICE = [(0, ":a", ":p", 1), (2, ":a", ":p", 1), (2, ":b", ":p", 1), (3, ":b", ":q", 2), (3, ":a", ":p", 1)]
"""A statement that is up to three times in the window."""

NODES = {
    "construct-nodes": Small(
        "CONSTRUCT { ?x :has [ :value ?y ; :again _:w ] . _:w :of ?z } FROM STREAM :s WINDOW RANGE 5 SLIDE "
        "WHERE { ?x :p ?y OPTIONAL { ?x :q ?z } }",
        {"s": TWICE},
    ),
    "new-nodes": Small(
        "SELECT * FROM STREAM :s WINDOW RANGE 5 SLIDE WHERE { ?x :p ?y BIND (BNODE() AS ?b) BIND (BNODE('k') AS ?c) "
        "BIND (IF(isBLANK(BNODE(STR(?x))), BNODE(?x), 0) AS ?none) FILTER (BNODE() != BNODE()) }",
        {"s": TWICE},
    ),
}
"""New blank nodes, of CONSTRUCT and of BNODE."""

CHAIN = [(0, ":a", ":p", ":b"), (1, ":b", ":p", ":c"), (2, ":c", ":p", ":a"), (4, ":b", ":p", ":c"), (5, ":c", ":q", 1)]
"""A circle for a while; one of its edges is twice in the window."""
OF_FIVE = "FROM STREAM :s WINDOW RANGE 5 SLIDE WHERE"

PATHS = {
    "one-or-more": Small(f"SELECT * {OF_FIVE} {{ ?x :p+ ?y }}", {"s": CHAIN}),
    "zero-or-more": Small(f"SELECT * {OF_FIVE} {{ ?x :p* ?y }}", {"s": CHAIN}),
    "zero-or-one": Small(f"SELECT * {OF_FIVE} {{ ?x (:p|:q)? ?y FILTER (?x != :a) }}", {"s": CHAIN}),
    "from-a-term": Small(f"SELECT * {OF_FIVE} {{ :d :p* ?x . ?y (^:p)+ :a }}", {"s": CHAIN}),
    "in-a-circle": Small(f"SELECT * {OF_FIVE} {{ ?x :p+ ?x . ?x :p/:p? ?y }}", {"s": CHAIN}),
    "path-in-path": Small(f"SELECT * {OF_FIVE} {{ ?x (:p/(:p*))+ ?y . ?y !:p* ?z }}", {"s": CHAIN}),
    "path-in-exists": Small(f"SELECT * {OF_FIVE} {{ ?x :p ?y FILTER EXISTS {{ ?y :p*/:q ?v }} }}", {"s": CHAIN}),
    "ask-a-path": Small(f"ASK {OF_FIVE} {{ :a :p+ :a }}", {"s": CHAIN}),
}
"""Property paths of any length: edges come several times and go one after the other."""

FORMS = {
    "ask": Small(f"ASK {OF_S} {{ ?x :q ?y FILTER NOT EXISTS {{ ?x :r ?z }} }}", {"s": LINKED}),
    "describe": Small(f"DESCRIBE ?x :c {OF_S} {{ ?x :q ?y OPTIONAL {{ ?x :r ?z }} }}", {"s": LINKED}),
    "first-by-key": Small(
        f"SELECT ?x (SUM(?y) AS ?sum) {OF_S} {{ ?x :p ?y }} GROUP BY ?x ORDER BY DESC(?sum) ?x LIMIT 1 OFFSET 1",
        {"s": [*LINKED, (5, ":a", ":p", 9)]},
    ),
}
"""What a query hands out at each instant besides bags of solutions."""

CASES = {**EXISTS, **NODES, **PATHS, **FORMS}
