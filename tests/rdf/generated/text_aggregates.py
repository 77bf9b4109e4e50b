"""Groups and aggregates of drawn SPARQL texts, only where the Recommendation leaves one answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.rdf.generated.text_parts import Draw, condition, merged, scalar

Exists = Callable[[Sequence[str]], str]


@dataclass(frozen=True)
class Level:
    """A pattern that is grouped: its variables, and whether Oxigraph makes no others of it; the keys of the groups."""

    names: Sequence[str]
    plain: bool
    keys: Sequence[str] = ()


def grouped(draw: Draw, below: Level, exists: Exists) -> tuple[str, str, tuple[str, ...]]:
    """What a SELECT of groups hands out, what stands behind its pattern, and the variables of the answer."""
    said, level = keyed(draw, below)
    kept = [key for key in level.keys if draw.now(0.8)]
    items = [f"?{key}" for key in kept]
    for _ in range(draw.chance.randint(1, 2)):
        name = draw.fresh()
        items.append(f"({over(draw, level)} AS ?{name})")
        kept.append(name)
    tail = f" GROUP BY {' '.join(said)}" if said else ""
    if draw.now(0.4):
        tail += f" HAVING({having(draw, level, exists)})"
    return " ".join(items), tail, tuple(kept)


def keyed(draw: Draw, below: Level) -> tuple[list[str], Level]:
    """Keys: variables, expressions with names, expressions."""
    keys: list[str] = []
    said: list[str] = []
    for _ in range(draw.chance.choice([0, 1, 1, 2]) if below.names else 0):
        key = draw.of(*below.names)
        if draw.now(0.6):
            said.append(f"?{key}")
        elif draw.now(0.6):
            key = draw.unused(merged(below.names, keys))
            said.append(f"({named(draw, scalar(draw, below.names))} AS ?{key})")
        else:
            said.append(f"STR(?{key})")
            continue
        keys.append(key)
    return said, Level(below.names, below.plain, merged(keys))


def named(draw: Draw, value: str) -> str:
    """An expression that gets a name; Oxigraph does not take one that is a variable only."""
    return draw.either(value, f"COALESCE({value})") if value.startswith("?") else value


def having(draw: Draw, level: Level, exists: Exists) -> str:
    """A condition on a group."""
    one = f"{aggregate(draw, level)} {draw.of('>', '<', '=', '!=')} {draw.of('1', '2', '3')}"
    match draw.chance.randrange(6):
        case 0:
            return f"{one} && {condition(draw, level.keys)}"
        case 1:
            return f"{one} || {condition(draw, level.keys)}"
        case 2:
            return f"{one} || {exists(level.keys)}"
        case _:
            return one


def over(draw: Draw, level: Level) -> str:
    """An aggregate, or an expression over several."""
    one = aggregate(draw, level)
    match draw.chance.randrange(8):
        case 0:
            return f"({one} {draw.of('+', '-', '*')} {aggregate(draw, level)})"
        case 1:
            return f"IF({one} > 1, {aggregate(draw, level)}, {scalar(draw, level.keys)})"
        case 2:
            return f'COALESCE({one}, "none")'
        case _:
            return one


def aggregate(draw: Draw, level: Level) -> str:
    """One of the seven aggregates; of SAMPLE and GROUP_CONCAT only what no order and no choice decides.

    For DISTINCT * Oxigraph looks at variables of its own, too, so it is drawn where there are none.
    """
    distinct = "DISTINCT " if draw.now(0.5) else ""
    value = f"?{draw.of(*level.names)}" if level.names and draw.now(0.7) else scalar(draw, level.names)
    match draw.chance.randrange(9):
        case 0:
            return f"COUNT({distinct if level.plain else ''}*)"
        case 1:
            return draw.either(f"COUNT({distinct}{value})", counted(distinct, value))
        case 2:
            return f"SUM({distinct}{value})"
        case 3:
            return f"AVG({distinct}{value})"
        case 4 | 5:
            return f"{draw.of('MIN', 'MAX')}({distinct}{like(draw, value)})"
        case 6:
            return f"SAMPLE({distinct}{scalar(draw, level.keys)})"
        case 7:
            return f'GROUP_CONCAT({distinct}STR({scalar(draw, level.keys)}); SEPARATOR="|")'
        case _:
            return f'STRLEN(GROUP_CONCAT({distinct}STR({value}); SEPARATOR="|"))'


def counted(distinct: str, value: str) -> str:
    """COUNT for Oxigraph, to which it is an error where the expression is one; W3C 18.5.1.2 counts what is none."""
    if not distinct:
        return f"SUM(COALESCE(IF(isBLANK({value}), 1, 1), 0))"
    errors = f"MAX(COALESCE(IF(isBLANK({value}), 0, 0), 1))"
    return f"(COUNT(DISTINCT COALESCE({value}, :none)) - COALESCE({errors}, 0))"


def like(draw: Draw, value: str) -> str:
    """Values of one kind only: W3C 15.1 has no order between numbers and other literals."""
    return draw.of(f"({value} + 0)", f"STR({value})", f"STRLEN(STR({value}))")
