"""Groups of Streaming SPARQL in which everything stands inside everything."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.holdout.sparql.meaning import Window
from tests.holdout.sparql.patterns import Group, Subquery, Triple, Union, Words

VARIABLES = ("?x", "?y", "?z", "?w")


class Mixed:
    """Draws groups up to a depth; `condition` draws a condition over variables, `window` a window."""

    def __init__(self, source: random.Random, condition: Callable[..., str], window: Callable[..., Window]) -> None:
        self.random = source
        self.condition = condition
        self.window = window
        self.bound = 0

    def triple(self) -> Triple:
        """A pattern over few variables, so that patterns meet."""
        draw = self.random
        subject = draw.choice(["?x"] * 6 + ["?w", "?w", ":a"])
        predicate = draw.choice([":p", ":q", ":r", ":p", ":q"])
        rest = ["?w", "?w", "?w", ":b", "?x"] if predicate == ":r" else ["?y", "?z"] * 5 + ["2"]
        return Triple(subject, predicate, draw.choice(rest))

    def group(self, depth: int, word: str = "", most: int = 3) -> Group:
        """A group: triples, then whatever takes groups, then filters."""
        draw = self.random
        parts: list[Any] = [self.triple() for _ in range(draw.choice([1, 1, 2]))]
        for _ in range(draw.randrange(0, most) if depth else 0):
            parts.append(self.part(depth - 1))
        if draw.random() < 0.2:
            parts.insert(
                draw.randrange(len(parts) + 1), Words(f"FILTER ({self.condition(*draw.sample(VARIABLES, 2))})")
            )
        if draw.random() < 0.15:
            self.bound += 1
            value = draw.choice(["?y + 1", "STR(?x)", "COALESCE(?z, ?w, 0)", "IF(BOUND(?z), ?z, ?x)"])
            parts.append(Words(f"BIND ({value} AS ?b{self.bound})"))
        window = self.window(draw.choice([None, None, "elements"])) if draw.random() < 0.2 else None
        return Group(parts, window, word)

    def part(self, depth: int) -> Any:
        """One thing that takes groups."""
        draw = self.random
        match draw.choice(["optional", "optional", "union", "minus", "exists", "not exists", "group", "values", "sub"]):
            case "optional":
                return self.group(depth, "OPTIONAL")
            case "union":
                return Union([self.group(depth, most=2) for _ in range(2)])
            case "minus":
                return self.group(depth, "MINUS", 2)
            case "exists":
                return self.group(0, "FILTER EXISTS")
            case "not exists":
                return self.group(0, "FILTER NOT EXISTS")
            case "group":
                return self.group(depth)
            case "values":
                rows = draw.sample(["(:a 1)", "(:a UNDEF)", "(UNDEF 2)", "(:b 3)", "(:c 2)", "(UNDEF UNDEF)"], 2)
                return Words(f"VALUES (?x ?y) {{ {' '.join(rows)} }}")
            case _:
                head = draw.choice(["SELECT ?x ?y", "SELECT DISTINCT ?x", "SELECT ?x (COUNT(*) AS ?k)"])
                return Subquery(head, self.group(0), "GROUP BY ?x" if "COUNT" in head else "")
