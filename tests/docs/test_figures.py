"""The figures on the page of benchmarks: tables and picture hold all that was measured, losses included."""

from __future__ import annotations

from pathlib import Path

from benchmarks.plot import draw, read
from benchmarks.tables import COMPARISONS, RESULTS, Comparison, entries, ratios, start

from tests.docs.pages import text_of

PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "benchmarks.svg"


def test_picture_is_drawn_from_the_results(rewrite: bool) -> None:
    drawn = draw(read([RESULTS]))
    if rewrite:
        PICTURE.write_text(drawn, "utf-8")
    assert PICTURE.read_text("utf-8") == drawn


def test_every_measured_comparison_is_in_the_table() -> None:
    """A benchmark line with a ratio is shown, whoever is faster."""
    for entry in entries():
        if entry["bench"] in ("keys", "start") or not entry.get("ratio"):
            continue
        shown = [comparison.row(entry) for comparison in COMPARISONS if comparison.matches(entry)]
        assert shown, entry
        assert f"{entry['ratio']:.2f}" in {row[4] for row in shown}, entry
        assert all(f"| {row[2]} | {row[3]} |" in text_of("docs/benchmarks.md") for row in shown), entry


def test_every_line_names_its_machine_day_and_command() -> None:
    for entry in entries():
        assert entry["command"].startswith("python -m benchmarks."), entry
        assert entry["machine"], entry
        assert entry["date"], entry
        assert entry["load"] < 4, entry


def test_missed_target_is_marked() -> None:
    entry = {"bench": "b", "rows/s": {"ours": 40, "other": 100}, "wanted": 0.5}
    comparison = Comparison("b", "ours", "other", "other")
    assert comparison.row(entry)[4:] == ["0.40", "0.5 (missed)"]
    assert comparison.row({**entry, "wanted": 0.4})[4:] == ["0.40", "0.4"]


def test_table_takes_the_last_measurement() -> None:
    line = {"bench": "join", "wanted": 1.5}
    first = {**line, "rows/s": {"kernel": 1, "by hand": 1}}
    second = {**line, "rows/s": {"kernel": 3, "by hand": 2}}
    assert "| 3 | 2 | 1.50 | 1.5 |" in ratios([first, second])
    assert "| 1 | 1 |" not in ratios([first, second])


def test_start_shows_every_query_and_the_median() -> None:
    one = {"bench": "start", "query": "q", "before": {"seconds": 10.0}, "after": {"seconds": 4.0}, "ratio": 0.4}
    total = {"bench": "start", "queries": 1, "seconds": {"before": 10.0, "after": 4.0}, "ratio": 0.4}
    assert "| `q` | 10.0 | 4.0 | 0.40 |" in start([one, total])
    assert "| all queries, with the median ratio | 10.0 | 4.0 | 0.40 |" in start([one, total])
