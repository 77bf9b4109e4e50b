"""Folders of answers as others read them: DuckDB and PyArrow, which know nothing of Spark."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.dataset as ds


def found(folder: Path, kind: str = "parquet") -> Counter[tuple[Any, ...]]:
    """The rows of a folder, each as often as it is there; whoever stumbles over a file raises, or they disagree."""
    if not folder.exists() or not any(folder.iterdir()):
        return Counter()
    if kind == "jsonl":
        lines = [line for file in sorted(folder.glob("*")) for line in file.read_bytes().splitlines()]
        read = duckdb.sql(f"SELECT json FROM read_json_objects('{folder}/*.json')").fetchall()
        rows = Counter((json.dumps(json.loads(line), sort_keys=True),) for line in lines)
        assert rows == Counter((json.dumps(json.loads(line), sort_keys=True),) for (line,) in read)
        return rows
    table = ds.dataset(folder).to_table()
    rows = Counter(tuple(map(str, row.values())) for row in table.to_pylist())
    columns = ", ".join(f'"{name}"' for name in table.column_names)
    globs = ("", "/*", "/*.parquet", "/**")
    counts = {n for glob in globs for (n,) in _asked(f"count(*) FROM read_parquet('{folder}{glob}')")}
    assert counts == {table.num_rows}
    kinds = _asked(f"count(*) FROM (SELECT DISTINCT {columns} FROM '{folder}/*.parquet')")
    assert kinds == [(len(rows),)]
    return rows


def _asked(text: str) -> list[Any]:
    return duckdb.sql(f"SELECT {text}").fetchall()
