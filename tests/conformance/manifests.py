"""The W3C test suites of SPARQL, read from their manifests.

The suites are not part of the repository. `TRANSOM_CONFORMANCE` names the folder that contains them; the default is the
folder `shared/conformance` beside the clone. Without the folder the tests are skipped with a reason, unless
`TRANSOM_CONFORMANCE_REQUIRED` is set, as in continuous integration: then a missing folder is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, parse

ROOT = Path(__file__).parents[2]
SUITE = Path(os.environ.get("TRANSOM_CONFORMANCE", ROOT.parent / "shared" / "conformance")) / "w3c-sparql"
MISSING = f"no conformance suite at {SUITE}: set TRANSOM_CONFORMANCE to the folder that holds w3c-sparql"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

Node = NamedNode | BlankNode | Literal
Graph = dict[Node, dict[str, list[Node]]]


@dataclass(frozen=True)
class Entry:
    """One test: its kind, its query, the graphs it is asked over and the file with its answer."""

    name: str
    kind: str
    query: Path
    data: tuple[Path, ...] = ()
    named: tuple[tuple[str, Path], ...] = ()
    result: Path | None = None
    lax: bool = False

    @property
    def text(self) -> str:
        """The text of the query."""
        with self.query.open(encoding="utf-8", newline="") as file:
            return file.read()


def available() -> bool:
    """Whether the suite is there; if it is required and missing, an error."""
    found = SUITE.is_dir()
    if not found and os.environ.get("TRANSOM_CONFORMANCE_REQUIRED"):
        raise FileNotFoundError(MISSING)
    return found


def entries(version: str, manifest: str = "manifest.ttl") -> list[Entry]:
    """The tests that a manifest and those that it includes list, in their order."""
    return list(_entries(SUITE / version / manifest))


def _entries(manifest: Path) -> Iterator[Entry]:
    graph = _graph(manifest)
    for about in list(graph.values()):
        for head in about.get(MF + "include", []):
            for other in _items(graph, head):
                yield from _entries(_path(other))
        for head in about.get(MF + "entries", []):
            for test in _items(graph, head):
                if test in graph:
                    yield _entry(graph, test, manifest)


def _entry(graph: Graph, test: Node, manifest: Path) -> Entry:
    about = graph[test]
    kind = _value(about[RDF + "type"][0]).removeprefix(MF)
    action = about[MF + "action"][0]
    name = f"{manifest.parent.name}/{_value(test).rpartition('#')[2]}"
    result = next((_path(one) for one in about.get(MF + "result", []) if isinstance(one, NamedNode)), None)
    if isinstance(action, NamedNode):
        return Entry(name, kind, _path(action), result=result)
    given = graph.get(action, {})
    query = given.get(QT + "query", [])
    if not query:
        return Entry(name, kind, manifest)
    named = []
    for one in given.get(QT + "graphData", []):
        if isinstance(one, NamedNode):
            named.append((one.value, _path(one)))
        else:
            path = graph[one][QT + "graph"][0]
            label = graph[one].get("http://www.w3.org/2000/01/rdf-schema#label", [path])[0]
            named.append((_value(label), _path(path)))
    data = tuple(_path(one) for one in given.get(QT + "data", []))
    lax = any(_value(one) == MF + "LaxCardinality" for one in about.get(MF + "resultCardinality", []))
    return Entry(name, kind, _path(query[0]), data, tuple(named), result, lax)


@cache
def _graph(path: Path) -> Graph:
    graph: Graph = {}
    for triple in parse(path=str(path), format=RdfFormat.TURTLE, base_iri=path.as_uri()):
        graph.setdefault(triple.subject, {}).setdefault(triple.predicate.value, []).append(triple.object)  # type: ignore[arg-type]
    return graph


def _items(graph: Graph, head: Node) -> Iterator[Node]:
    while _value(head) != RDF + "nil":
        yield graph[head][RDF + "first"][0]
        head = graph[head][RDF + "rest"][0]


def _value(node: Node) -> str:
    return node.value


def _path(node: Node) -> Path:
    return Path(unquote(_value(node).removeprefix("file://")))
