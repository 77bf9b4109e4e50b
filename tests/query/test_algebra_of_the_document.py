"""`explain --stage algebra` of Q1 and Q3 against the expressions that Section 5 of the document prints.

The document's expressions are typed in below as it prints them, but for two slips: in the condition of Q1 its algebra
says temp > 50 and its query temp < 50 (S1), and the parentheses of TimeScope in Q3 close too late (S27). A small
reader turns them into nested lists; the explained plan, read from its JSON, is turned into the same lists: one Window
operator stands for TimeWindow and Scan.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from transom.cli.app import app

ROADS = Path(__file__).parents[2] / "examples" / "roads"

Q1 = """
evaluateStream (
 StreamProject [Attr "road.time", Attr "road.site", Attr "road.vibration"] (
 StreamSelect (Predicate "road.temp<50 and road.vibration>20") (
 StreamAcquire "road" (Tick 60) [1,2,3,4])))
"""

Q3 = """
evaluateStream (IStream (
 WindowProject [Attr "road.site", Attr "tempClass.category"] (
 WindowSelect (Predicate "tempClass.temp=road.temp") (
 WindowCrossProduct (
 TimeWindow (TimeScope (Tick (-300)) (Tick 0)) (Tick 300) (
 StreamAcquire "road" (Tick 60) [1,2,3,4])) (
 Scan (Tick 600) "tempClass")))))
"""


def read(text: str) -> Any:
    """An expression of the document as nested lists; parentheses around one thing are dropped."""
    tokens = re.findall(r'"[^"]*"|[()\[\],]|[^\s()\[\],"]+', text)

    def group(close: str | None) -> list[Any]:
        parts: list[Any] = []
        while tokens:
            token = tokens.pop(0)
            if token == close:
                break
            if token == "(":
                inner = group(")")
                parts.append(inner[0] if len(inner) == 1 else inner)
            elif token == "[":
                parts.append(group("]"))
            elif token != ",":
                parts.append(token.strip('"'))
        return parts

    return group(None)


def spoken(node: dict[str, Any]) -> Any:
    """An explained operator in the words of the document."""
    below = [spoken(one) for one in node["inputs"]]
    name = node["node"]
    if name in ("StreamProject", "WindowProject"):
        items = [word for item in node["items"] for word in ("Attr", item)]
        return [name, items, *below]
    if name in ("StreamSelect", "WindowSelect"):
        return [name, ["Predicate", condition(node["predicate"])], *below]
    if name == "StreamAcquire":
        return [name, node["extent"], ["Tick", str(node["every"])], [str(site) for site in node["sites"]]]
    if name == "Window":
        step, first = re.fullmatch(r"every (\d+) tick from (\d+)", node["slide"]).groups()  # type: ignore[union-attr]
        assert first == "0"
        if node["range"] == "content":
            return ["Scan", ["Tick", step], node["inputs"][0]["extent"]]
        low, high, steps = re.fullmatch(r"tick now(\S*) \.\. now(\S*) in steps of (\d+)", node["range"]).groups()  # type: ignore[union-attr]
        assert steps == step
        return ["TimeWindow", ["TimeScope", ["Tick", low or "0"], ["Tick", high or "0"]], ["Tick", step], *below]
    return [name, *below]


def condition(text: str) -> str:
    """A condition without the blanks and parentheses in which the two differ."""
    return (
        text.replace("(", "")
        .replace(")", "")
        .replace(" AND ", " and ")
        .replace(" < ", "<")
        .replace(" > ", ">")
        .replace(" = ", "=")
    )


def explained(name: str) -> Any:
    """The algebra of an example query, as the command line explains it."""
    command = ["explain", str(ROADS / name), "--stage", "algebra", "--format", "json"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    return spoken(json.loads(result.output))


def normal(parts: Any) -> Any:
    """Lists of one part are that part."""
    if isinstance(parts, list):
        inner = [normal(part) for part in parts]
        return inner[0] if len(inner) == 1 else inner
    return parts


def printed(text: str) -> Any:
    """The operator under evaluateStream, as the document prints it."""
    head, expression = normal(read(text))
    assert head == "evaluateStream"
    return expression


def test_q1() -> None:
    assert normal(explained("q1.sneeql")) == printed(Q1)


def test_q3() -> None:
    assert normal(explained("q3.sneeql")) == printed(Q3)


def test_the_comparison_can_fail() -> None:
    assert normal(explained("q3.sneeql")) != printed(Q3.replace("-300", "-240"))
    assert normal(explained("q1.sneeql")) != printed(Q1.replace("temp<50", "temp>50"))
