"""Accept actual answers: rewrite them in the text of a test file, and leave everything else as it is."""

from __future__ import annotations

from collections.abc import Sequence

from transom.catalog.reading.locations import Location
from transom.testing.answers import yaml_row
from transom.testing.cases import CaseFile
from transom.testing.run import Outcome, Step


def updated_text(file: CaseFile, outcomes: Sequence[Outcome]) -> str:
    """Return a test file's text in which the actual rows replace the expected ones where they differ."""
    text = file.text
    steps = [step for outcome in outcomes for step in outcome.steps if not step.agrees]
    for step in sorted(steps, key=lambda step: file.source_map.keys[step.path].start, reverse=True):
        text = _replace(file, text, step)
    return text


def _replace(file: CaseFile, text: str, step: Step) -> str:
    """Return a test file's text with the rows of a step's `expected` updated; do steps further down before."""
    key = file.source_map.keys[step.path]
    value = file.source_map.span(Location(step.path))
    indent = " " * (key.position(file.text)[1] - 1)
    if step.expected and file.text[value.start] == "-":
        indent = " " * (value.position(file.text)[1] - 1)
    else:
        indent += "  "
    after_key = file.text.index(":", key.end) + 1
    line_end = file.text.find("\n", after_key)
    comment = file.text[after_key : line_end if line_end >= 0 else None].partition("#")
    kept = f"  #{comment[2]}" if comment[1] and not comment[0].strip(" []{}") else ""
    end = max(value.end, after_key + len("".join(comment)) if kept else 0)
    if not step.expected and not kept:
        end = max(value.end, after_key)
    rows = "".join(f"\n{indent}- {yaml_row(row)}" for row in step.actual)
    return text[:after_key] + (f"{kept}{rows}" if rows else f" []{kept}") + text[end:]
