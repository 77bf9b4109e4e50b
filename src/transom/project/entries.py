"""The structure of a project file as pydantic models: the keys, and the types of their values."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from transom.catalog.schema.entry import Entry
from transom.model.types import INTEGER_MAX


class QueryEntry(Entry):
    """`[queries.NAME]`: the file of a query, and the options with which it runs."""

    file: str = Field(min_length=1)
    language: Literal["sneeql", "cql", "sparql"] | None = None
    parameters: dict[str, Any] = Field(default_factory=dict)
    output: str = Field(default="console", min_length=1)
    start: Any = None
    until: Any = None
    since: Any = None
    on_change: Literal["refuse", "rebuild"] = "refuse"
    on_data_loss: Literal["refuse", "continue"] = "refuse"
    kernel: Literal["auto", "on", "off"] = "auto"
    index: bool = False
    approximate_sums: bool = False
    allow_unbounded: bool = False


class LimitsEntry(Entry):
    """`[limits]`: what the queries and the readers of a project may use."""

    queries: int = Field(default=100, ge=1, le=10_000)
    state_rows: int | None = Field(default=None, ge=0, le=INTEGER_MAX)
    restart_first: float = Field(default=1.0, ge=0.01, le=3600)
    restart_longest: float = Field(default=300.0, ge=0.01, le=86_400)
    readers: int = Field(default=64, ge=1, le=10_000)
    answer_rows: int = Field(default=10_000, ge=1, le=1_000_000)
    request_bytes: int = Field(default=8192, ge=1024, le=1 << 20)
    requests_per_second: float = Field(default=50.0, ge=0.1, le=100_000)


class ProjectEntry(Entry):
    """The top level of a project file."""

    catalog: str = Field(default="catalog.yaml", min_length=1)
    state: str = Field(default="state", min_length=1)
    queries: dict[str, QueryEntry] = Field(default_factory=dict)
    limits: LimitsEntry = LimitsEntry()
