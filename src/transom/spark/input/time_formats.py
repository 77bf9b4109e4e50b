"""`time_format` on Spark, with the same regular expression and result as in plain Python."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.catalog.time_formats import MONTHS, PIVOT, TimeFormat


def iso_text(text: Column, time_format: TimeFormat) -> Column:
    """Rewrite a timestamp from a custom format to ISO 8601, as `TimeFormat.iso` does; NULL if it does not match."""
    pattern = f"^{time_format.pattern}\\z"
    part = {letter: F.regexp_extract(text, pattern, n) for n, letter in enumerate(time_format.directives, 1)}

    def two_digits(letter: str) -> Column:
        """Return the digits that the directive `letter` matched, padded to two; 00 if the format does not have it."""
        return F.lpad(part[letter], 2, "0") if letter in part else F.lit("00")

    pieces = [
        _year_text(part),
        F.lit("-"),
        _month_text(part),
        F.lit("-"),
        two_digits("d"),
        F.lit("T"),
        _hour_text(part),
    ]
    pieces += [F.lit(":"), two_digits("M"), F.lit(":"), two_digits("S"), F.lit(".")]
    pieces += [F.rpad(part["f"], 6, "0") if "f" in part else F.lit("000000")]
    pieces += [part["z"]] if "z" in part else []
    return F.when(text.rlike(pattern), F.concat(*pieces))


def _year_text(part: dict[str, Column]) -> Column:
    """Return the four-digit year from `part`: the matched text by directive, Y or y (two digits).

    Two digits get the century 19 or 20.
    """
    if "Y" in part:
        return part["Y"]
    century = F.when(part["y"] >= F.lit(str(PIVOT)), F.lit("19")).otherwise(F.lit("20"))
    return F.concat(century, part["y"])


def _month_text(part: dict[str, Column]) -> Column:
    """Return the two-digit month, from its number or name; `part` maps directives to the texts that they matched."""
    if "m" in part:
        return F.lpad(part["m"], 2, "0")
    number = F.array_position(F.array(*map(F.lit, MONTHS)), F.lower(part["b"]))
    return F.lpad(number.cast("string"), 2, "0")


def _hour_text(part: dict[str, Column]) -> Column:
    """Return the two-digit hour of the 24-hour clock; `part` maps directives to the texts that they matched."""
    if "I" not in part:
        return F.lpad(part["H"], 2, "0") if "H" in part else F.lit("00")
    half_day = F.when(F.lower(part["p"]) == "pm", F.lit(12)).otherwise(F.lit(0))
    return F.lpad((part["I"].try_cast("int") % 12 + half_day).cast("string"), 2, "0")
