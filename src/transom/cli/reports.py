"""Reports of `check` for programs: one JSON document, or annotations of GitHub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.cli.files import QuerySource, load_query, pause_garbage_collection
from transom.cli.options import unbounded_warning
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
    parameters: list[str] | None,
    *,
    strict: bool,
    github: bool,
) -> int:
    """Check queries and print a report, as JSON or as annotations for GitHub; returns the exit code of the command."""
    reports, exit_code = [], 0
    for source in sources:
        report, code = query_report(source, catalog, parameters)
        reports.append(report)
        exit_code = max(exit_code, 1 if strict and report["problems"] and not code else code)
    problems = [problem for report in reports for problem in report["problems"]]
    if github:
        for problem in problems:
            write_data(annotation(problem), escape_lines)
        return exit_code
    counts = {
        severity: sum(problem["severity"] == severity for problem in problems) for severity in ("error", "warning")
    }
    document = {"queries": reports, "errors": counts["error"], "warnings": counts["warning"]}
    write_data(json.dumps(document, ensure_ascii=False, indent=2), escape_json)
    return exit_code


def query_report(source: QuerySource, catalog: Path | None, parameters: list[str] | None) -> tuple[dict[str, Any], int]:
    """The report on one query for JSON, and its exit code: 0, or that of its error."""
    try:
        query = load_query(source, catalog, parameters=parameters)
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
    """The engines that run a query, and why the others do not, for JSON."""
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
    """The warnings about a query as problems."""
    for warning in query.warnings:
        yield problem(name, "warning", "QueryWarning", warning.message, text=query.text, span=warning.span)
    if not query.state.bounded:
        yield problem(name, "warning", "UnboundedState", unbounded_warning(query))


def error_problem(error: TransomError, name: str) -> dict[str, Any]:
    """An error as a problem; it is in the file that the error names, which may be the catalog."""
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
    """A problem for JSON: where it is, its severity, code and message, and the decision that the message names."""
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
    """Line and column, from 1, where a span of a text begins, and where it ends; None where either is unknown."""
    if text is None or span is None:
        return dict.fromkeys(("line", "column", "end_line", "end_column"))
    line, column = span.position(text)
    end_line, end_column = Span(span.end, span.end).position(text)
    return {"line": line, "column": column, "end_line": end_line, "end_column": end_column}


def annotation(problem: dict[str, Any]) -> str:
    """A problem as a workflow command of GitHub, which shows it beside the line."""
    fields = {"file": problem["file"], "line": problem["line"], "col": problem["column"], "title": problem["code"]}
    written = ",".join(f"{name}={escape_property(str(value))}" for name, value in fields.items() if value is not None)
    parts = [problem["message"], *(f"{name}: {problem[name]}" for name in ("detail", "hint") if problem[name])]
    return f"::{problem['severity']} {written}::{escape_message('; '.join(parts))}"


def escape_message(text: str) -> str:
    """A text that a workflow command can hold: percent signs and line ends are written as numbers."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """A text that a field of a workflow command can hold, which also ends at a comma or a colon."""
    return escape_message(text).replace(":", "%3A").replace(",", "%2C")
