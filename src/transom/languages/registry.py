"""The languages by name and file extension, and the resolution of extents that are defined by queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from transom.algebra.composition.composed_source import InnerQuery, rewrite_composed
from transom.algebra.expressions.expression import Cast, Column, NamedExpression
from transom.algebra.operator import Operator, Plan, Stream
from transom.algebra.sources import StreamReceive
from transom.algebra.streams import StreamProject
from transom.algebra.tree import is_stream
from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.catalog.sources import FromQuery, StatementTemplate
from transom.errors import CatalogError, LanguageRule, Span, TransomError, UsageError
from transom.languages.rdf_extents import ENDINGS, check_is_sparql, compile_rdf_extent, is_over_rdf
from transom.model.answer_kind import AnswerKind
from transom.model.schema import Schema
from transom.model.types import Value, common_type

if TYPE_CHECKING:
    from transom.algebra.composition.sources import RowStatements
    from transom.languages.sql.select import StreamViews, Translation

RdfPlanType = TypeVar("RdfPlanType", bound=Operator)
MAX_NESTING = 8
"""Most levels of queries that read each other's answers."""


@dataclass(frozen=True, slots=True)
class Language:
    """A query language: how to parse, translate and format it, and the answer kind of its streams.

    The package is `transom.languages.NAME`. Its modules are imported on first use, so compiling one language does not
    load the others. `endings` are its file extensions. `stream` is None for a language over RDF, whose answers are
    solutions. `semantics` names the class that plans, evaluates and prints queries, written `module:class`; the facade
    imports it on first use.
    """

    name: str
    endings: tuple[str, ...]
    semantics: str
    stream: AnswerKind | None = None

    @property
    def optimized(self) -> bool:
        """Whether the optimizer rewrites plans of this language; True for SNEEql and CQL, False for SPARQL."""
        return self.stream is not None

    def parse(self, text: str) -> Any:
        """Parse a query to the language's syntax tree; raises ParseError, with the position, if it is malformed."""
        return self._module("parse").parse(text)

    def translate(
        self, syntax: Any, catalog: Catalog, parameters: Mapping[str, Value], views: StreamViews
    ) -> Translation:
        """Translate a syntax tree with parameter values to a plan; `views` plans sources defined by queries.

        `views` plans the extents that queries define.
        """
        translation: Translation = self._module("translate").translate(
            syntax, catalog, parameters=parameters, views=views
        )
        return translation

    def format_text(self, text: str, syntax: Any) -> str:
        """Return the query `text` in the canonical layout, made from its tree `syntax`, with its comments."""
        formatted: str = self._module("unparse").format_text(text, syntax)
        return formatted

    def _module(self, part: str) -> Any:
        """Import the module `part` of the language's package, such as `parse` or `translate`, on first use."""
        return import_module(f"transom.languages.{self.name}.{part}")


LANGUAGES = {
    "sneeql": Language("sneeql", ("sneeql",), "transom.semantics.rows:RowSemantics", stream="tagged-tuples"),
    "cql": Language("cql", ("cql",), "transom.semantics.rows:RowSemantics", stream="stream"),
    "sparql": Language("sparql", ENDINGS, "transom.semantics.rdf:RdfSemantics"),
}
"""Languages by name."""
BY_ENDING = {ending: language for language in LANGUAGES.values() for ending in language.endings}
"""Languages by file extension."""


def language_by_name(name: str) -> Language:
    """Return the query language called `name`; raises UsageError if there is none."""
    if name not in LANGUAGES:
        raise UsageError(f"no language is called {name}", hint=f"languages are {', '.join(LANGUAGES)}")
    return LANGUAGES[name]


def language_of_file(file: str | None) -> Language:
    """Return the query language of a file by its extension; SNEEql if the extension is unknown or the file is None."""
    ending = "" if file is None else Path(file).suffix.removeprefix(".").lower()
    return BY_ENDING.get(ending, LANGUAGES["sneeql"])


def translate_query(
    language: Language, syntax: Any, catalog: Catalog, parameters: Mapping[str, Value] | None = None
) -> Translation:
    """Translate a query to a plan; sources that are defined by queries are replaced by the plans of these queries.

    `parameters` are values of names in the query.
    """
    queries = _QueryExtents(catalog)
    translation = language.translate(syntax, catalog, parameters or {}, queries)
    return (
        translation if language.optimized else replace(translation, plan=queries.inline_inner_queries(translation.plan))
    )


@dataclass(frozen=True, slots=True)
class _QueryExtents:
    """Resolves extents that are defined by queries; `resolving` are the extents being resolved, outermost first."""

    catalog: Catalog
    resolving: tuple[str, ...] = ()

    def __call__(self, extent: Extent, schema: Schema) -> Stream:
        """Return the plan of a source that the catalog defines by a query, as a stream with the columns of `schema`."""
        nested = self._nested(extent)
        path, text = query_text(extent, self.catalog)
        if is_over_rdf(extent):
            from transom.algebra.composition.sources import SolutionStream

            rdf_plan = compile_rdf_extent(extent, self.catalog, path, text)
            return SolutionStream(extent.name, schema, InnerQuery(nested.inline_inner_queries(rdf_plan)))
        language = language_of_file(str(path))
        try:
            plan = language.translate(language.parse(text), self.catalog, {}, nested).plan
        except TransomError as error:
            raise error.within(text, str(path)) from None
        if not is_stream(plan):
            raise LanguageRule(
                f"the query of {extent.name} has to give a stream",
                detail=f"the catalog reads the answer as a stream: extents.{extent.name}.source.query",
                text=text,
                span=Span(0, len(text.rstrip())),
                source=str(path),
                hint="put RSTREAM, ISTREAM or DSTREAM around the query",
            )
        return StreamProject(plan, self.declared_columns(extent, plan, schema))  # type: ignore[arg-type]

    def inline_inner_queries(self, plan: RdfPlanType) -> RdfPlanType:
        """Replace, in an RDF plan, each source defined by a query or template by an operator with its plan."""
        return rewrite_composed(plan, self._composed_source)

    def _composed_source(self, op: Operator) -> Operator:
        """Replace the source `op` by the plan of its query or template, if it has one; return other operators as is."""
        from transom.algebra.composition.sources import ConstructedStream

        extent = self.catalog.rdf.extents.get(op.extent) if type(op) is StreamReceive else None
        if extent is None or not isinstance(extent.source, FromQuery | StatementTemplate):
            return op
        nested = self._nested(extent)
        if isinstance(extent.source, StatementTemplate):
            return nested.template_statements(extent, extent.source)
        check_is_sparql(extent, extent.source)
        plan = compile_rdf_extent(extent, self.catalog, *query_text(extent, self.catalog))
        return ConstructedStream(extent.name, op.schema, InnerQuery(nested.inline_inner_queries(plan)))

    def template_statements(self, rdf_extent: Extent, template: StatementTemplate) -> RowStatements:
        """Return a source of RDF statements that a template of the catalog makes from the rows of another source."""
        from transom.algebra.composition.sources import RowStatements, iri_pattern
        from transom.algebra.expressions.terms import STATEMENT
        from transom.languages.sql.select import SelectTranslator

        extent = self.catalog.extents[template.extent]
        stream = SelectTranslator(self.catalog, views=self).open_extent(extent, extent.schema)
        assert isinstance(stream, Stream)  # noqa: S101 - the catalog refuses stored tables
        subject = iri_pattern(template.parts, template.columns)
        return RowStatements(rdf_extent.name, STATEMENT, InnerQuery(stream), subject, template.predicates)

    def _nested(self, extent: Extent) -> _QueryExtents:
        """Return a resolver for the sources that an extent's query reads; CatalogError if it reads its own answer.

        Raises CatalogError also if queries are nested too deeply.
        """
        chain = " -> ".join((*self.resolving, extent.name))
        if extent.name in self.resolving:
            raise CatalogError(
                f"the query of {extent.name} reads {extent.name}",
                detail=chain,
                hint="a query cannot read its own answer: read another extent",
            )
        if len(self.resolving) >= MAX_NESTING:
            raise CatalogError(
                f"more than {MAX_NESTING} queries read each other's answers",
                detail=chain,
                hint="write the answer of one to a file or a topic, and read that",
            )
        return _QueryExtents(self.catalog, (*self.resolving, extent.name))

    @staticmethod
    def declared_columns(extent: Extent, plan: Plan, schema: Schema) -> tuple[NamedExpression, ...]:
        """Return casts of a plan's columns to `schema`, in order; CatalogError if their number or types do not fit."""
        labels = [f"{a.label}:{a.type}" for a in plan.schema]
        if len(plan.schema) != len(schema):
            raise CatalogError(
                f"the query of {extent.name} gives {len(labels)} columns, not {len(schema)}",
                hint=f"declare {', '.join(labels)}",
            )
        items = []
        for query_column, attribute in zip(plan.schema, schema, strict=True):
            if common_type(query_column.type, attribute.type) is not attribute.type:
                raise CatalogError(
                    f"the query of {extent.name} gives {query_column}, but {attribute.name} has type {attribute.type}",
                    hint=f"declare {', '.join(labels)}",
                )
            column = Column(query_column)
            items.append(
                NamedExpression(
                    column if query_column.type is attribute.type else Cast(column, attribute.type), attribute
                )
            )
        return tuple(items)


def query_text(extent: Extent, catalog: Catalog) -> tuple[Path, str]:
    """Return path and text of the file whose query defines a source; raises an error if it cannot be used.

    That is CatalogError for an unknown file extension, and UsageError for a file that cannot be read.
    """
    assert isinstance(extent.source, FromQuery)  # noqa: S101 - translators ask only for these
    path = (catalog.folder or Path()) / extent.source.path
    if path.suffix.removeprefix(".").lower() not in BY_ENDING:
        endings = ", ".join(f".{ending}" for ending in BY_ENDING)
        raise CatalogError(
            f"the ending of {extent.source.path} is not that of a query language", hint=f"endings are {endings}"
        )
    try:
        return path, path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        hint = "a path is relative to the catalog"
        raise UsageError(f"cannot read the query of {extent.name}", detail=str(error), hint=hint) from error
