"""Reports of `check` for programs: one JSON document, or annotations of GitHub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.cli.files import QuerySource, load_query, pause_garbage_collection
from transom.cli.options import state_warnings
from transom.cli.output import write_data
from transom.errors import Span, TransomError
from transom.printable import escape_json, escape_lines

if TYPE_CHECKING:
    from transom.query import Query
    from transom.reports import Engines

DECISION = re.compile(r"\b[CERS][1-9]\d?\b")
"""The identifier of a decision, such as C31, in a message."""


def print_report(
    sources: Sequence[QuerySource],
    catalog: Path | None,
    name_value_pairs: list[str] | None,
    *,
    fail_on_warnings: bool,
    as_github_annotations: bool,
) -> int:
    """Check queries and print a report (JSON or GitHub annotations); return the highest exit code, 0 if none failed."""
    reports, exit_code = [], 0
    for source in sources:
        report, code = query_report(source, catalog, name_value_pairs)
        reports.append(report)
        exit_code = max(exit_code, 1 if fail_on_warnings and report["problems"] and not code else code)
    problems = [problem for report in reports for problem in report["problems"]]
    if as_github_annotations:
        for problem in problems:
            write_data(annotation(problem), escape_lines)
        return exit_code
    counts = {
        severity: sum(problem["severity"] == severity for problem in problems) for severity in ("error", "warning")
    }
    document = {"queries": reports, "errors": counts["error"], "warnings": counts["warning"]}
    write_data(json.dumps(document, ensure_ascii=False, indent=2), escape_json)
    return exit_code


def query_report(
    source: QuerySource, catalog: Path | None, name_value_pairs: list[str] | None
) -> tuple[dict[str, Any], int]:
    """Return the JSON report on a query with parameters NAME=VALUE, and its exit code: 0 unless it has an error."""
    try:
        query = load_query(source, catalog, name_value_pairs=name_value_pairs)
        with pause_garbage_collection():
            engines = query.engines
    except TransomError as error:
        return {"file": source.name, "fine": False, "problems": [error_problem(error, source.name)]}, error.exit_code
    state = query.state
    return {
        "file": source.name,
        "fine": True,
        "language": query.language,
        "gives": {"kind": query.result_kind, "columns": list(query.columns)},
        "state": {
            "formula": state.formula,
            "rows": state.rows,
            "unit": query.semantics.unit,
            "bounded": state.bounded,
            "hints": list(state.hints),
            "promises": list(state.promises),
        },
        "engines": engines_report(engines),
        "problems": list(warning_problems(query, source.name)),
    }, 0


def engines_report(engines: Engines) -> dict[str, Any]:
    """Return which engines run a query, and why the others do not, for a report in JSON."""
    refusals = [
        {
            "engine": engine,
            "construct": gap.construct,
            "reason": gap.why,
            "hint": gap.hint,
            **position_fields(gap.text, gap.span),
        }
        for engine, gap in engines.refusals.items()
    ]
    return {"runs": list(engines.runs), "replay_only": engines.replay_only, "refusals": refusals}


def warning_problems(query: Query[Any], name: str) -> Iterator[dict[str, Any]]:
    """Yield each warning about a query as a problem (JSON object) of a report that calls the query `name`."""
    for warning in query.warnings:
        yield problem(name, "warning", "QueryWarning", warning.message, text=query.text, span=warning.span)
    for code, text in state_warnings(query):
        yield problem(name, "warning", code, text)


def error_problem(error: TransomError, name: str) -> dict[str, Any]:
    """Convert an error to a problem for a report; its file is the one that the error names, or else `name`."""
    return problem(
        error.source or name,
        "error",
        type(error).__name__,
        error.message,
        detail=error.detail,
        hint=error.hint,
        text=error.text,
        span=error.span,
    )


def problem(
    file: str,
    severity: str,
    code: str,
    message: str,
    *,
    detail: str | None = None,
    hint: str | None = None,
    text: str | None = None,
    span: Span | None = None,
) -> dict[str, Any]:
    """Build the JSON object of a problem (error or warning); `span` is the part of the query's `text` at fault.

    It also has the decision that the message names.
    """
    decision = DECISION.search(f"{message} {detail or ''}")
    return {
        "file": file,
        **position_fields(text, span),
        "severity": severity,
        "code": code,
        "decision": decision[0] if decision else None,
        "message": message,
        "detail": detail,
        "hint": hint,
    }


def position_fields(text: str | None, span: Span | None) -> dict[str, int | None]:
    """Return line, column, end_line and end_column (from 1) of a span, by these names; all None if unknown."""
    if text is None or span is None:
        return dict.fromkeys(("line", "column", "end_line", "end_column"))
    line, column = span.position(text)
    end_line, end_column = Span(span.end, span.end).position(text)
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column}


def annotation(problem: dict[str, Any]) -> str:
    """Convert a warning or error (dict) to a GitHub workflow command, which shows it beside its line."""
    fields = {"file": problem["file"], "line": problem["line"], "col": problem["column"], "title": problem["code"]}
    written = ",".join(f"{name}={escape_property(str(value))}" for name, value in fields.items() if value is not None)
    parts = [problem["message"], *(f"{name}: {problem[name]}" for name in ("detail", "hint") if problem[name])]
    return f"::{problem['severity']} {written}::{escape_message('; '.join(parts))}"


def escape_message(text: str) -> str:
    """Escape percent signs and line ends in the message of a GitHub workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Escape a field of a GitHub workflow command: its percent signs, line ends, commas and colons."""
    return escape_message(text).replace(":", "%3A").replace(",", "%2C")
