"""Transom: continuous questions over sensors, streams and tables, answered as the languages' definitions say.

    query = transom.compile("SELECT temp FROM road WHERE temp < 50", "catalog.yaml")
    answer = query.simulate(until="10 min")
    answer.to_pandas()

Importing the package starts nothing and imports no engine; public names are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from transom.version import __version__ as __version__

if TYPE_CHECKING:
    from transom.catalog.catalog import Catalog
    from transom.compiler import compile
    from transom.errors import (
        AnswerWarning,
        CaseError,
        CatalogError,
        CheckpointError,
        DataError,
        EngineError,
        Fenced,
        KernelWarning,
        LanguageRule,
        LostRows,
        NameProblem,
        ParseError,
        PlanError,
        ProjectError,
        QueryError,
        QueryWarning,
        RejectedWarning,
        RunWarning,
        TransomError,
        TypeProblem,
        Unavailable,
        Unsupported,
        UsageError,
    )
    from transom.model.answer import Answer
    from transom.model.rdf.answer import RdfAnswer
    from transom.query import Query
    from transom.reports import Map, Picture

__all__ = [
    "Answer",
    "AnswerWarning",
    "CaseError",
    "Catalog",
    "CatalogError",
    "CheckpointError",
    "DataError",
    "EngineError",
    "Fenced",
    "KernelWarning",
    "LanguageRule",
    "LostRows",
    "Map",
    "NameProblem",
    "ParseError",
    "Picture",
    "PlanError",
    "ProjectError",
    "Query",
    "QueryError",
    "QueryWarning",
    "RdfAnswer",
    "RejectedWarning",
    "RunWarning",
    "TransomError",
    "TypeProblem",
    "Unavailable",
    "Unsupported",
    "UsageError",
    "compile",
]

_HOMES = {
    "Answer": "transom.model.answer",
    "Catalog": "transom.catalog.catalog",
    "Map": "transom.reports",
    "Picture": "transom.reports",
    "Query": "transom.query",
    "RdfAnswer": "transom.model.rdf.answer",
    "compile": "transom.compiler",
}
"""The modules of the public names; those that are not listed are in `transom.errors`."""


def __dir__() -> list[str]:
    """The public names of the package for `dir(transom)`, including those that are not imported yet."""
    return [*__all__, "__version__"]


def __getattr__(name: str) -> Any:
    """Import a public name of the package when it is first used; AttributeError for any other name."""
    if name not in __all__:
        raise AttributeError(f"transom has no attribute {name}")
    return getattr(import_module(_HOMES.get(name, "transom.errors")), name)
