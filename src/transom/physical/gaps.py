"""Every construct that Spark does not run, declared once: its name for users, the reason and what to do instead.

The planner and the lowering refuse queries only because of these gaps. docs/engines.md lists them, each with a query
that a test compiles.
"""

from __future__ import annotations

from dataclasses import dataclass

from transom.errors import GapKind, Unsupported

SIMULATE_HINT = "run it on the reference engine: `transom simulate`"
REPLAY_HINT = "run it on Spark with `transom replay`"


@dataclass(frozen=True, slots=True)
class Gap:
    """A construct that Spark does not run, the operator or function that it maps to, and the reason."""

    construct: str
    operator: str
    reason: str
    kind: GapKind = "not yet"
    hint: str = SIMULATE_HINT

    def refusal(self, operator: str | None = None, *, detail: str = "") -> Unsupported:
        """Build the Unsupported error for this gap; `operator` (None: the gap's) is refused, `detail` adds a reason.

        `operator` replaces the operator that the gap names, `detail` is added to the reason.
        """
        why = f"{self.reason}: {detail}" if detail else self.reason
        return Unsupported(operator or self.operator, why, self.kind, hint=self.hint, construct=self.construct)


# --- SNEEql and CQL --------------------------------------------------------------------------------

ROW_ORDER = Gap(
    "in CQL, a row window over a join, a set operation, a table, DISTINCT or FIRST",
    "Window",
    "a row window counts rows in order, and such rows have no order on Spark",
)
TRACK_ORDER = Gap(
    "AvgSpd, PATHLENGTH, TRAJECTORY or PLACE in a query with a join, or with a subquery in a condition",
    "TrackAggregation",
    "these aggregates need the rows of an object in order, and joined rows have no order on Spark",
)
FOLLOWED_ORDER = Gap(
    "a row window over a PostgreSQL table, or the option --index for such a table",
    "Window",
    "a live run follows the table's log, which does not record the order of rows",
    hint=REPLAY_HINT,
)
FOLLOWED_WITHOUT_SCAN = Gap(
    "a PostgreSQL table without SCAN, joined with another table",
    "WindowCrossProduct",
    "a live run follows the table's log from scan to scan, so the table needs a SCAN interval",
    hint=f"write for example [SCAN 1 HOUR] after the table, or {REPLAY_HINT}",
)
PERIODS_BY_KEY = Gap(
    "a calendar window (`AT` a time zone) with PARTITION BY",
    "PeriodWindow",
    "the stateful operator for windows by key needs slides of equal length, and calendar periods differ in length",
    hint="leave PARTITION BY out and write GROUP BY, or run it on the reference engine: `transom simulate`",
)
LONG_DECIMAL = Gap(
    "a decimal constant with more than 19 digits before the point or 18 after it",
    "Constant",
    "on Spark, decimals have the type decimal(38,18)",
    "never",
)

# --- answers of other queries ---------------------------------------------------------------------

RESULT_ORDER = Gap(
    "a window of rows or elements over the answer of a SPARQL query, or over triples that are made from rows",
    "Window",
    "such a window counts rows in order, and rows that begin at the same tick have no order on Spark",
)

# --- SPARQL ----------------------------------------------------------------------------------------

VOLATILE_FUNCTION = Gap(
    "NOW(), RAND(), UUID() and STRUUID()",
    "NOW",
    "Spark may call a function twice for one row, and these functions would then return two different values",
    "never",
)
VARIABLE_PATTERN = Gap(
    "REGEX or REPLACE with a pattern, flags or a replacement that is not constant",
    "REGEX",
    "the pattern must be translated from XPath to Java before the query runs",
)
UNTRANSLATABLE_PATTERN = Gap(
    "REGEX or REPLACE with a pattern that has another meaning in Java",
    "REGEX",
    "the pattern cannot be translated from XPath to Java",
)
RELATIVE_IRI = Gap(
    "IRI() in a query with BASE",
    "IRI",
    "Spark has no function that resolves a relative IRI",
)

GAPS: tuple[Gap, ...] = tuple(gap for gap in list(globals().values()) if isinstance(gap, Gap))
"""All gaps, in the order above."""
