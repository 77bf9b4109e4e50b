"""The entries of a file of test cases, which pydantic checks."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from transom.catalog.schema.entry import Entry

LanguageEntry = Literal["sneeql", "cql", "sparql"] | None
KindEntry = Literal["tagged-tuples", "stream", "windows", "solutions", "sequences", "triples", "boolean"] | None


class BatchEntry(Entry):
    """Rows that arrive together, and the answers that they complete."""

    inputs: dict[str, Any] = Field(default_factory=dict)
    until: Any = None
    expected: list[Any] | None


class CaseEntry(Entry):
    """A case: a query with its catalog, the rows of its inputs, and its answers. `notes` has any content."""

    name: str = Field(min_length=1)
    about: str = ""
    notes: Any = None
    query: str | None = None
    query_file: str | None = None
    language: LanguageEntry = None
    catalog: Any = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    inputs: dict[str, Any] = Field(default_factory=dict)
    start: Any = 0
    until: Any = None
    kind: KindEntry = None
    columns: list[str] | None = None
    expected: list[Any] | None = None
    error: str | None = None
    batches: list[BatchEntry] | None = Field(default=None, min_length=1)


class FileEntry(Entry):
    """A file of cases; its query and its catalog are those of every case that has none."""

    query_file: str | None = None
    catalog: Any = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    cases: list[CaseEntry] = Field(min_length=1)
