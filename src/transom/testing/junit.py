"""Write the outcomes of test cases as JUnit XML, which CI servers read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

from transom.errors import TransomError
from transom.printable import escape_lines
from transom.testing.run import Outcome


def junit(outcomes: Mapping[Path, Sequence[Outcome]], errors: Mapping[Path, TransomError]) -> str:
    """Return JUnit XML with a suite for each file; `errors` are those of files that cannot be read."""
    root = ElementTree.Element("testsuites", name="transom test")
    for path in {**outcomes, **errors}:
        cases = outcomes.get(path, ())
        failures = sum(not case.passed and case.error is None for case in cases)
        broken = sum(case.error is not None for case in cases) + (path in errors)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=str(path),
            tests=str(len(cases) + (path in errors)),
            failures=str(failures),
            errors=str(broken),
            time=f"{sum(case.seconds for case in cases):.3f}",
        )
        for case in cases:
            element = ElementTree.SubElement(
                suite,
                "testcase",
                name=escape_lines(case.case.name),
                classname=str(path),
                time=f"{case.seconds:.3f}",
                file=str(path),
                line=str(case.case.line),
            )
            if not case.passed:
                _problem(element, "failure" if case.error is None else "error", case.lines())
        if path in errors:
            element = ElementTree.SubElement(suite, "testcase", name=str(path), classname=str(path), file=str(path))
            _problem(element, "error", errors[path].render().split("\n"))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _problem(element: ElementTree.Element, kind: str, lines: Sequence[str]) -> None:
    """Add a failure or an error (`kind`) to a JUnit test case; the first of `lines` is its message."""
    problem = ElementTree.SubElement(element, kind, message=escape_lines(lines[0]))
    problem.text = escape_lines("\n".join(lines))
