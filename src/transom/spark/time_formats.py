"""`time_format` on Spark: the same expression as in plain Python, its groups put together in the same way."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.catalog.time_formats import MONTHS, PIVOT, TimeFormat


def iso_text(text: Column, written: TimeFormat) -> Column:
    """The instant in a text as ISO 8601, as `TimeFormat.iso` has it; NULL if it is written otherwise."""
    pattern = f"^{written.pattern}\\z"
    part = {letter: F.regexp_extract(text, pattern, place) for place, letter in enumerate(written.letters, 1)}

    def two(letter: str) -> Column:
        return F.lpad(part[letter], 2, "0") if letter in part else F.lit("00")

    pieces = [_year(part), F.lit("-"), _month(part), F.lit("-"), two("d"), F.lit("T"), _hour(part)]
    pieces += [F.lit(":"), two("M"), F.lit(":"), two("S"), F.lit(".")]
    pieces += [F.rpad(part["f"], 6, "0") if "f" in part else F.lit("000000")]
    pieces += [part["z"]] if "z" in part else []
    return F.when(text.rlike(pattern), F.concat(*pieces))


def _year(part: dict[str, Column]) -> Column:
    if "Y" in part:
        return part["Y"]
    century = F.when(part["y"] >= F.lit(str(PIVOT)), F.lit("19")).otherwise(F.lit("20"))
    return F.concat(century, part["y"])


def _month(part: dict[str, Column]) -> Column:
    if "m" in part:
        return F.lpad(part["m"], 2, "0")
    place = F.array_position(F.array(*map(F.lit, MONTHS)), F.lower(part["b"]))
    return F.lpad(place.cast("string"), 2, "0")


def _hour(part: dict[str, Column]) -> Column:
    if "I" not in part:
        return F.lpad(part["H"], 2, "0") if "H" in part else F.lit("00")
    half = F.when(F.lower(part["p"]) == "pm", F.lit(12)).otherwise(F.lit(0))
    return F.lpad((part["I"].try_cast("int") % 12 + half).cast("string"), 2, "0")
