"""The twelve plans of the matrix: shapes of all three languages, with the kernel and without it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from transom.physical.nodes.windows import KernelMode


@dataclass(frozen=True)
class Plan:
    """A shape of `tests.spark.kills`, and whether its stateful operators run in the kernel."""

    shape: str
    language: str
    kernel: KernelMode
    what: str


PLANS: Mapping[str, Plan] = {
    plan.shape: plan
    for plan in (
        Plan("slide", "SNEEql", "on", "aggregates of the groups in a sliding time window"),
        Plan("join", "SNEEql", "off", "a join of two time windows with different slides"),
        Plan("rows", "SNEEql", "off", "aggregates of a row window"),
        Plan("scan", "SNEEql", "on", "a time window joined with a table that changes"),
        Plan("nested", "SNEEql", "on", "a row window over the answer of a time window"),
        Plan("changes", "SNEEql", "off", "the rows that are new in a row window (`ISTREAM`)"),
        Plan("distance", "CQL", "on", "aggregates of windows by distance"),
        Plan("mixed", "CQL", "off", "windows with a range by distance and a slide by time"),
        Plan("region", "CQL", "on", "a window by region, joined with the last row of each key"),
        Plan("rdf_join", "SPARQL", "on", "a join of two windows of statements"),
        Plan("rdf_optional", "SPARQL", "off", "a query with two OPTIONAL patterns"),
        Plan("sparql_over_cql", "SPARQL", "on", "a window over the answer of a CQL query, joined with a stream"),
    )
}
