"""Queries over the answers of other queries: each ordered pair of languages four times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import transom
from transom.catalog.catalog import Catalog
from transom.query import Query

CARS: list[tuple[Any, ...]] = [
    (0, "a", 60),
    (0, "b", 40),
    (1, "a", 30),
    (2, "b", 80),
    (2, "b", 80),
    (4, "c", 51),
    (5, "a", 70),
    (7, "c", 20),
]
ROOMS: list[tuple[Any, ...]] = [
    (0, ":a", ":temp", 20),
    (1, ":b", ":temp", 25),
    (1, ":a", ":door", '"open"'),
    (2, ":a", ":temp", 20),
    (3, ":b", ":door", '"shut"'),
    (4, ":c", ":temp", 31),
    (4, ":c", ":temp", 18),
    (6, ":b", ":temp", 22),
]
UNTIL = 9
"""The last tick; the last statement of a window ends before."""
SNEEQL, CQL, SPARQL = "sneeql", "cql", "sparql"
LANGUAGES = (SNEEQL, CQL, SPARQL)
ENDINGS = {SNEEQL: "sneeql", CQL: "cql", SPARQL: "rq"}
WARM = "FROM STREAM :rooms WINDOW RANGE 3 S SLIDE 1 S"
ID = '(STRAFTER(STR(?s), "http://ex/") AS ?id)'

INNER = {
    SNEEQL: (
        "SELECT id, speed FROM cars WHERE speed > 35",
        "RSTREAM(SELECT c.id, c.speed FROM cars [FROM NOW-2 TO NOW SLIDE 2 SEC] AS c)",
        "ISTREAM(SELECT c.id, c.speed FROM cars [FROM NOW-3 TO NOW SLIDE 1 SEC] AS c)",
        "DSTREAM(SELECT c.id, c.speed FROM cars [FROM NOW-1 TO NOW SLIDE 1 SEC] AS c)",
    ),
    CQL: (
        "SELECT IStream(id, speed) FROM cars [RANGE '3 s'] WHERE speed > 35",
        "SELECT DStream(id, speed) FROM cars [RANGE '2 s']",
        "SELECT RStream(id, MAX(speed)) FROM cars [RANGE '3 s' SLIDE '2 s'] GROUP BY id",
        "SELECT IStream(id, COUNT(*)) FROM cars [RANGE '4 s'] GROUP BY id",
    ),
    SPARQL: (
        f"SELECT {ID} ?t {WARM} WHERE {{ ?s :temp ?t }}",
        f"SELECT {ID} ?t {WARM} WHERE {{ ?s :temp ?t . ?s :door ?d }}",
        f"SELECT {ID} ?t {WARM} WHERE {{ ?s :temp ?t MINUS {{ ?s :door ?d }} }}",
        f"SELECT {ID} ?n {WARM} WHERE {{ {{ SELECT ?s (COUNT(*) AS ?n) WHERE {{ ?s :temp ?t }} GROUP BY ?s }} }}",
    ),
}
"""Queries that give an id and a number; those in SPARQL read RDF."""

CONSTRUCT = (
    f"CONSTRUCT {{ ?s :n ?t }} {WARM} WHERE {{ ?s :temp ?t }}",
    f"CONSTRUCT {{ ?s :n ?t . ?s :is ?d }} {WARM} WHERE {{ ?s :temp ?t . ?s :door ?d }}",
    f"CONSTRUCT {{ ?s :n ?t }} {WARM} WHERE {{ ?s :temp ?t MINUS {{ ?s :door ?d }} }}",
)
"""The same as statements; the fourth query becomes statements by a template."""

OUTER = {
    SNEEQL: (
        "SELECT id, n FROM inner WHERE n > 20",
        "RSTREAM(SELECT i.id, i.n FROM inner [FROM NOW-2 TO NOW SLIDE 1 SEC] AS i)",
        "RSTREAM(SELECT AVG(i.n) FROM inner [FROM NOW-3 TO NOW SLIDE 2 SEC] AS i)",
        "RSTREAM(SELECT c.id, i.n FROM cars [FROM NOW-1 TO NOW SLIDE 1 SEC] AS c,"
        " inner [FROM NOW-2 TO NOW SLIDE 1 SEC] AS i WHERE c.id = i.id)",
    ),
    CQL: (
        "SELECT IStream(id, n) FROM inner [RANGE '2 s']",
        "SELECT DStream(id, n) FROM inner [RANGE '2 s'] WHERE n > 1",
        "SELECT IStream(MAX(n)) FROM inner [RANGE '3 s']",
        "SELECT RStream(c.id, i.n) FROM c=cars [RANGE '2 s'], i=inner [RANGE '3 s'] WHERE c.id = i.id",
    ),
    SPARQL: (
        "SELECT ?s ?v FROM STREAM :inner WINDOW RANGE 3 S SLIDE 1 S WHERE { ?s :n ?v FILTER(?v > 20) }",
        "SELECT ?s ?v ?d FROM STREAM :inner WINDOW RANGE 4 S SLIDE 2 S FROM STREAM :rooms WINDOW RANGE 4 S SLIDE 1 S"
        " WHERE { ?s :n ?v . ?s :door ?d }",
        "SELECT ?s (MAX(?v) AS ?m) FROM STREAM :inner WINDOW RANGE 3 S SLIDE 1 S WHERE { ?s :n ?v } GROUP BY ?s",
        "CONSTRUCT { ?s :seen ?v } FROM STREAM :inner WINDOW RANGE 2 S SLIDE 1 S WHERE { ?s :n ?v }",
    ),
}
"""Queries over an extent, or a stream of statements, that is called inner; some read cars or rooms as well."""

ROWS = """
prefixes: {"": "http://ex/"}
extents:
  cars: pushed (id:string, speed:integer)
  inner: %s
rdf:
  rooms: {stream: "http://ex/rooms"}
"""
DECLARED = "{declare: 'pushed (id:string, n:float)'%s}"
FROM_QUERY = ", source: {query: inner.%s}"
TEMPLATE = "  made: {stream: 'http://ex/inner', template: {extent: inner, subject: ':{id}', predicates: {n: ':n'}}}\n"
STATEMENTS = "  made: {stream: 'http://ex/inner', query: inner.rq}\n"
PLAIN = "  made: {stream: 'http://ex/inner'}\n"


@dataclass(frozen=True)
class Composition:
    """An inner query and one over its answer."""

    inner: str
    outer: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.outer}-over-{self.inner}-{self.number + 1}"

    @property
    def constructs(self) -> bool:
        """Whether the inner query gives statements by itself."""
        return self.inner == self.outer == SPARQL and self.number < len(CONSTRUCT)

    @property
    def texts(self) -> tuple[str, str]:
        """The texts of the inner and of the outer query."""
        inner = CONSTRUCT[self.number] if self.constructs else INNER[self.inner][self.number]
        return inner, OUTER[self.outer][self.number]

    def catalog(self, folder: Path) -> Catalog:
        """The catalog of the composition, and the file of its inner query."""
        ending = ENDINGS[self.inner]
        (folder / f"inner.{ending}").write_text(self.texts[0], "utf-8")
        text = ROWS % (DECLARED % ("" if self.constructs else FROM_QUERY % ending))
        if self.outer == SPARQL:
            text += STATEMENTS if self.constructs else TEMPLATE
        return Catalog.read(text, folder=folder)

    def query(self, folder: Path) -> Query[Any]:
        """The outer query over the answer of the inner one."""
        return transom.compile(self.texts[1], self.catalog(folder), language=self.outer)  # type: ignore[call-overload,no-any-return]

    def apart(self) -> tuple[Query[Any], Query[Any]]:
        """Both queries by themselves: the outer one reads rows or statements that are handed over."""
        catalog = Catalog.read(ROWS % (DECLARED % "") + (PLAIN if self.outer == SPARQL else ""))
        inner, outer = self.texts
        return (
            transom.compile(inner, catalog, language=self.inner),  # type: ignore[call-overload]
            transom.compile(outer, catalog, language=self.outer),  # type: ignore[call-overload]
        )


CASES = tuple(
    Composition(inner, outer, number)
    for inner in LANGUAGES
    for outer in LANGUAGES
    for number in range(len(OUTER[outer]))
)
INPUTS = {"cars": CARS, "rooms": ROOMS}
