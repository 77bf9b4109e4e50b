"""The SNEEql golden cases s01 to s35, written by hand as abstract queries."""

from __future__ import annotations

from .question import (
    Aggregate,
    Binary,
    Column,
    Converter,
    Expr,
    Extent,
    Item,
    Literal,
    Not,
    Output,
    Query,
    Scan,
    StreamQuery,
    Window,
    WindowQuery,
)


def col(written: str) -> Column:
    """A column from its text, qualified or not."""
    qualifier, _, name = written.rpartition(".")
    return Column(name, qualifier or None)


def outs(*written: str) -> tuple[Output, ...]:
    """Outputs from their text: columns, or calls such as MIN(temp)."""
    return tuple(Output(_call(text) if "(" in text else col(text)) for text in written)


def _call(text: str) -> Aggregate:
    function, _, argument = text.rstrip(")").partition("(")
    return Aggregate(function, None if argument == "*" else col(argument))


def check(left: str, op: str, right: str | int) -> Binary:
    """A comparison of a column with a column or a number."""
    return Binary(op, col(left), col(right) if isinstance(right, str) else Literal(right))


def rows(since: int, upto: int, slide: int) -> Window:
    """A row window."""
    return Window(since, upto, slide, "ROWS")


def secs(since: int, upto: int, slide: int) -> Window:
    """A time window in seconds."""
    return Window(since, upto, slide, "SEC")


def over(name: str, window: Window | Scan | None = None) -> Item:
    """A from-item on an extent."""
    return Item(Extent(name), window)


def weight(window: Window) -> WindowQuery:
    """SELECT weight FROM traffic with a window, the shape of many cases."""
    return WindowQuery(outs("weight"), (over("traffic", window),))


def product(names: tuple[str, ...], *items: Item, where: Expr | None = None) -> WindowQuery:
    """A window query over several items."""
    return WindowQuery(outs(*names), items, where)


def aggregates(names: tuple[str, ...], item: Item) -> WindowQuery:
    """A window query over one item that selects calls."""
    return WindowQuery(outs(*names), (item,))


def both(left: Expr, right: Expr) -> Binary:
    """AND."""
    return Binary("AND", left, right)


Q2 = WindowQuery(
    outs("MIN(temp)", "MAX(vibration)"),
    (over("road", Window(10, 0, 1, "MIN")), over("traffic", rows(10, 0, 1))),
    both(check("road.site", "=", "traffic.site"), check("road.time", "=", "traffic.time")),
)
Q3 = product(
    ("road.site", "tempClass.category"),
    over("road", Window(5, 0, 5, "MIN")),
    over("tempClass", Scan(10, "MIN")),
    where=check("tempClass.temp", "=", "road.temp"),
)
ROW_PAIRS = product(("l.x", "r.y"), over("l", rows(0, 0, 1)), over("r", rows(0, 0, 1)))
L_WIDE, R_WIDE = over("l", rows(1, 0, 1)), over("r", rows(1, 0, 1))
LAST_2_SECS = weight(secs(2, 0, 1))

SPECS: dict[str, Query] = {
    "s01": StreamQuery(
        outs("road.time", "road.site", "road.vibration"),
        over("road"),
        both(check("road.temp", "<", 50), check("road.vibration", ">", 20)),
    ),
    "s02": Q2,
    "s03": Converter("ISTREAM", Q3),
    "s04": Converter("DSTREAM", Q3),
    "s05": Converter("RSTREAM", Q3),
    "s06": Q3,
    "s07": weight(rows(2, 0, 1)),
    "s08": weight(rows(1, 0, 3)),
    "s09": weight(secs(5, 2, 1)),
    "s10": weight(rows(3, 1, 2)),
    "s11": aggregates(("COUNT(weight)", "MAX(weight)"), over("traffic", secs(1, 0, 2))),
    "s12": aggregates(("COUNT(temp)", "MIN(temp)"), over("road", Window(2, 0, 1, "MIN"))),
    "s13": product(("a.x", "b.y"), over("a", secs(1, 0, 2)), over("b", secs(2, 0, 3))),
    "s14": product(
        ("traffic.weight", "lim.maxw"),
        over("traffic", rows(0, 0, 1)),
        over("lim", Scan(10, "SEC")),
    ),
    "s15": ROW_PAIRS,
    "s16": Converter("DSTREAM", ROW_PAIRS),
    "s17": Converter("ISTREAM", LAST_2_SECS),
    "s18": Converter("DSTREAM", LAST_2_SECS),
    "s19": WindowQuery(
        outs("weight"),
        (
            Item(
                StreamQuery(outs("traffic.weight"), over("traffic"), check("traffic.weight", ">", 10)),
                rows(1, 0, 1),
            ),
        ),
    ),
    "s20": StreamQuery(outs("weight"), Item(Converter("ISTREAM", LAST_2_SECS)), check("weight", ">", 7)),
    "s21": aggregates(
        ("COUNT(weight)", "SUM(weight)"), Item(Converter("RSTREAM", weight(secs(0, 0, 1))), rows(2, 0, 2))
    ),
    "s22": WindowQuery(
        outs("site", "COUNT(weight)", "MAX(weight)"),
        (over("traffic", secs(4, 0, 5)),),
        group_by=(col("site"),),
        having=Binary(">", Aggregate("COUNT", col("weight")), Literal(1)),
    ),
    "s23": WindowQuery(outs("category"), (over("tempClass"),), check("temp", ">", 20)),
    "s24": aggregates(("COUNT(temp)", "MAX(temp)"), over("tempClass", Scan(1, "MIN"))),
    "s25": product(
        ("a.x", "b.y", "c.z"), over("a", secs(0, 0, 2)), over("b", secs(2, 0, 3)), over("c", Scan(4, "SEC"))
    ),
    "s26": StreamQuery(
        outs("weight", "vehicle"),
        over("traffic"),
        Binary("OR", check("weight", ">=", 1000), check("vehicle", "=", 3)),
    ),
    "s27": WindowQuery(outs("weight"), (Item(Converter("RSTREAM", weight(rows(1, 0, 1))), secs(1, 0, 2)),)),
    "s28": weight(secs(0, 1, 1)),
    "s29": Converter("ISTREAM", product(("l.x", "r.y"), L_WIDE, R_WIDE)),
    "s30": Converter("ISTREAM", product(("l.x", "r.y"), R_WIDE, L_WIDE)),
    "s31": weight(Window(1, 0, 1, "HOUR")),
    "s32": StreamQuery(outs("weight"), over("traffic"), Not(check("weight", ">", 10))),
    "s33": aggregates(
        ("COUNT(weight)", "COUNT(*)", "SUM(weight)", "AVG(weight)"),
        over("traffic", secs(1, 0, 1)),
    ),
    "s34": Converter(
        "RSTREAM",
        WindowQuery(outs("site", "COUNT(*)"), (over("traffic", secs(2, 0, 2)),), group_by=(col("site"),)),
    ),
    "s35": Converter(
        "RSTREAM",
        WindowQuery(
            (Output(Aggregate("COUNT", None), "n"),),
            (over("a", secs(1, 0, 1)), over("lim", Scan(2, "SEC"))),
            check("a.x", "=", "lim.x"),
        ),
    ),
}
