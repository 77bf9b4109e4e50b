"""Transom: continuous questions over sensors, streams and tables, answered as the languages' definitions say.

    catalog = transom.Catalog.load("catalog.yaml")
    query = transom.compile("SELECT temp FROM road WHERE temp < 50", catalog)
    answer = query.simulate(until=600)

Importing the package starts nothing and imports no engine; public names are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from transom.version import __version__ as __version__

if TYPE_CHECKING:
    from transom.catalog.catalog import Catalog
    from transom.compiler import compile
    from transom.errors import KernelWarning, QueryWarning, TransomError
    from transom.model.answer import Answer
    from transom.model.rdf.answer import RdfAnswer
    from transom.query import Query

__all__ = [
    "Answer",
    "Catalog",
    "KernelWarning",
    "Query",
    "QueryWarning",
    "RdfAnswer",
    "TransomError",
    "compile",
]

_HOMES = {
    "Answer": "transom.model.answer",
    "Catalog": "transom.catalog.catalog",
    "KernelWarning": "transom.errors",
    "Query": "transom.query",
    "QueryWarning": "transom.errors",
    "RdfAnswer": "transom.model.rdf.answer",
    "TransomError": "transom.errors",
    "compile": "transom.compiler",
}


def __dir__() -> list[str]:
    """The public names of the package for `dir(transom)`, including those that are not imported yet."""
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    """Import a public name of the package when it is first used; AttributeError for any other name."""
    if name not in _HOMES:
        raise AttributeError(f"transom has no attribute {name}")
    return getattr(import_module(_HOMES[name]), name)
