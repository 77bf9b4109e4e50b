"""Parse lines of CSV into cells on Spark, exactly as `csv_lines` does in plain Python."""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.connectors.csv_lines import CELL_SEPARATOR


def with_cells(frame: DataFrame, delimiter: str = ",") -> DataFrame:
    """Add the column `cells`, the texts of the fields in the column `line`; NULL if a line is not CSV."""
    mark = re.escape(delimiter)
    last = F.size("parts") - 1

    def is_valid_part(part: Column, index: Column) -> Column:
        """Build the condition that part `index` of a CSV line, split at quotes, is valid; odd parts are quoted text.

        `index` is the number of the part, from 0; parts with an odd number are quoted text.
        """
        closed = (index == 0) | part.startswith(delimiter) | ((part == "") & (index == last))
        opens = (index == last) | part.rlike(rf"(\A|{mark}) *\z")
        doubled = (part == "") & (index > 0) & (index < last)
        return (index % 2 == 1) | doubled | (closed & opens)

    def unquote(part: Column, index: Column) -> Column:
        """Unquote part `index` of a CSV line split at quotes (odd: quoted); other delimiters become CELL_SEPARATOR."""
        doubled = (part == "") & (index > 0) & (index < last)
        return F.when(index % 2 == 1, part).when(doubled, F.lit('"')).otherwise(_mark_cells(part, index == 0, mark))

    single_line = (F.col("line") != "") & ~F.col("line").rlike(f"[\r\n{CELL_SEPARATOR}]")
    quoted = F.col("line").contains('"')
    is_well_formed = F.forall(F.transform("parts", is_valid_part), lambda is_valid: is_valid)
    is_csv = single_line & (~quoted | ((last % 2 == 0) & is_well_formed))
    marked_line = F.when(quoted, F.array_join(F.transform("parts", unquote), "")).otherwise(
        _mark_cells(F.col("line"), F.lit(True), mark)
    )
    split = frame.select("*", F.split("line", '"', -1).alias("parts"))
    return split.select("*", F.when(is_csv, F.split(marked_line, CELL_SEPARATOR, -1)).alias("cells"))


def _mark_cells(part: Column, is_first_part: Column, delimiter_pattern: str) -> Column:
    """Replace delimiters (a regex) in an unquoted part of a CSV line by CELL_SEPARATOR; `is_first_part` trims its left.

    If `is_first_part`, leading blanks are dropped. `delimiter_pattern` is the delimiter as a regular expression.
    """
    begun = F.when(is_first_part, F.regexp_replace(part, "^ +", "")).otherwise(part)
    return F.regexp_replace(begun, f"{delimiter_pattern} *", CELL_SEPARATOR)
