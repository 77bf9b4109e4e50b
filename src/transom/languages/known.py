"""Which languages there are, by name and by the ending of a file; queries as extents of others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from transom.algebra.composed import Behind, rewritten
from transom.algebra.expressions import Cast, Column, Item
from transom.algebra.operator import Operator, Plan, Stream
from transom.algebra.sources import StreamReceive
from transom.algebra.streams import StreamProject
from transom.algebra.tree import is_stream
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.sources import FromQuery, StatementTemplate
from transom.errors import CatalogError, LanguageRule, Span, TransomError, UsageError
from transom.languages.over_rdf import ENDINGS, check_over_rdf, is_over_rdf, question_of
from transom.model.answer import AnswerKind
from transom.model.schema import Schema
from transom.model.types import Value, common_type

if TYPE_CHECKING:
    from transom.algebra.composed_sources import RowStatements
    from transom.languages.sql.select import Translation, Views

QuestionType = TypeVar("QuestionType", bound=Operator)
MOST_LEVELS = 8
"""Queries that may read each other's answers, one above the other."""


@dataclass(frozen=True, slots=True)
class Language:
    """A language: text to syntax, syntax to algebra, text to canonical text, and what its streams are called.

    Its package is `transom.languages.NAME`. Each module of it is imported on first use, so that a command line that
    compiles one language does not pay for the others. `endings` are those of its files. A language over RDF, whose
    answers are solutions, has no `stream`.
    """

    name: str
    endings: tuple[str, ...]
    stream: AnswerKind | None = None

    @property
    def optimized(self) -> bool:
        """Whether the optimizer has rules for its algebra."""
        return self.stream is not None

    def parse(self, text: str) -> Any:
        """The syntax tree of a text."""
        return self._module("parse").parse(text)

    def translate(self, syntax: Any, catalog: Catalog, parameters: Mapping[str, Value], views: Views) -> Translation:
        """The algebra of a syntax tree."""
        translation: Translation = self._module("translate").translate(
            syntax, catalog, parameters=parameters, views=views
        )
        return translation

    def format_text(self, text: str, syntax: Any) -> str:
        """The text in canonical form, with its comments."""
        formatted: str = self._module("unparse").format_text(text, syntax)
        return formatted

    def _module(self, part: str) -> Any:
        return import_module(f"transom.languages.{self.name}.{part}")


LANGUAGES = {
    "sneeql": Language("sneeql", ("sneeql",), stream="tagged-tuples"),
    "cql": Language("cql", ("cql",), stream="stream"),
    "sparql": Language("sparql", ENDINGS),
}
"""Every language by its name."""
BY_ENDING = {ending: language for language in LANGUAGES.values() for ending in language.endings}
"""Every language by the endings of its files."""


def language_called(name: str) -> Language:
    """The language of that name."""
    if name not in LANGUAGES:
        raise UsageError(f"no language is called {name}", hint=f"languages are {', '.join(LANGUAGES)}")
    return LANGUAGES[name]


def language_of(file: str | None) -> Language:
    """The language that the ending of a file names; SNEEql where it names none."""
    ending = "" if file is None else Path(file).suffix.removeprefix(".").lower()
    return BY_ENDING.get(ending, LANGUAGES["sneeql"])


def translated(
    language: Language, syntax: Any, catalog: Catalog, parameters: Mapping[str, Value] | None = None
) -> Translation:
    """The algebra of a query, with the queries that are its extents in it, whatever their language."""
    queries = _Queries(catalog)
    found = language.translate(syntax, catalog, parameters or {}, queries)
    return found if language.optimized else replace(found, plan=queries.question(found.plan))


@dataclass(frozen=True, slots=True)
class _Queries:
    """Extents that are queries; `within` are those on the way to the one that is read."""

    catalog: Catalog
    within: tuple[str, ...] = ()

    def __call__(self, extent: Extent, schema: Schema) -> Stream:
        """The stream of an extent's query, with the columns that the catalog declares for it."""
        inner = self._entered(extent)
        path, text = query_text(extent, self.catalog)
        if is_over_rdf(extent):
            from transom.algebra.composed_sources import SolutionStream

            question = question_of(extent, self.catalog, path, text)
            return SolutionStream(extent.name, schema, Behind(inner.question(question)))
        language = language_of(str(path))
        try:
            plan = language.translate(language.parse(text), self.catalog, {}, inner).plan
        except TransomError as error:
            raise error.within(text, str(path)) from None
        if not is_stream(plan):
            raise LanguageRule(
                f"{extent.name} is no stream",
                detail=f"the catalog reads the answer as a stream: extents.{extent.name}.source.query",
                text=text,
                span=Span(0, len(text.rstrip())),
                source=str(path),
                hint="put RSTREAM, ISTREAM or DSTREAM around the query",
            )
        return StreamProject(plan, self.columns(extent, plan, schema))  # type: ignore[arg-type]

    def question(self, question: QuestionType) -> QuestionType:
        """A question over RDF in which the streams that are made of other streams hold the queries behind them."""
        return rewritten(question, self._stream)

    def _stream(self, op: Operator) -> Operator:
        from transom.algebra.composed_sources import ConstructedStream

        extent = self.catalog.rdf.extents.get(op.extent) if type(op) is StreamReceive else None
        if extent is None or not isinstance(extent.source, FromQuery | StatementTemplate):
            return op
        inner = self._entered(extent)
        if isinstance(extent.source, StatementTemplate):
            return inner.statements(extent, extent.source)
        check_over_rdf(extent, extent.source)
        question = question_of(extent, self.catalog, *query_text(extent, self.catalog))
        return ConstructedStream(extent.name, op.schema, Behind(inner.question(question)))

    def statements(self, made: Extent, template: StatementTemplate) -> RowStatements:
        """The rows of an extent as statements."""
        from transom.algebra.composed_sources import RowStatements, iri_pattern
        from transom.algebra.terms import STATEMENT
        from transom.languages.sql.select import Selecting

        extent = self.catalog.extents[template.extent]
        stream = Selecting(self.catalog, views=self).opened(extent, extent.schema)
        assert isinstance(stream, Stream)  # noqa: S101 - the catalog refuses stored tables
        subject = iri_pattern(template.parts, template.columns)
        return RowStatements(made.name, STATEMENT, Behind(stream), subject, template.predicates)

    def _entered(self, extent: Extent) -> _Queries:
        """The queries inside an extent; CatalogError if it reads itself, or if there are too many levels."""
        way = " -> ".join((*self.within, extent.name))
        if extent.name in self.within:
            raise CatalogError(
                f"the query of {extent.name} reads {extent.name}", detail=way, hint="let no query read its own answer"
            )
        if len(self.within) >= MOST_LEVELS:
            raise CatalogError(
                f"more than {MOST_LEVELS} queries read each other's answers",
                detail=way,
                hint="write the answer of one to a file or a topic, and read that",
            )
        return _Queries(self.catalog, (*self.within, extent.name))

    @staticmethod
    def columns(extent: Extent, plan: Plan, schema: Schema) -> tuple[Item, ...]:
        """The columns of a query as the catalog declares them, by their place."""
        found = [f"{a.label}:{a.type}" for a in plan.schema]
        if len(plan.schema) != len(schema):
            raise CatalogError(
                f"the query of {extent.name} gives {len(found)} columns, not {len(schema)}",
                hint=f"declare {', '.join(found)}",
            )
        items = []
        for own, wanted in zip(plan.schema, schema, strict=True):
            if common_type(own.type, wanted.type) is not wanted.type:
                raise CatalogError(
                    f"the query of {extent.name} gives {own}, which is no {wanted.type}",
                    hint=f"declare {', '.join(found)}",
                )
            column = Column(own)
            items.append(Item(column if own.type is wanted.type else Cast(column, wanted.type), wanted))
        return tuple(items)


def query_text(extent: Extent, catalog: Catalog) -> tuple[Path, str]:
    """The file of an extent's query and what is in it."""
    assert isinstance(extent.source, FromQuery)  # noqa: S101 - translators ask only for these
    path = (catalog.folder or Path()) / extent.source.path
    if path.suffix.removeprefix(".").lower() not in BY_ENDING:
        endings = ", ".join(f".{ending}" for ending in BY_ENDING)
        raise CatalogError(f"the ending of {extent.source.path} names no language", hint=f"endings are {endings}")
    try:
        return path, path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        hint = "a path is relative to the catalog"
        raise UsageError(f"cannot read the query of {extent.name}", detail=str(error), hint=hint) from error
