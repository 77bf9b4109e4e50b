"""Which plans answer a tick only once it is closed, derived by hand from where their rows wait."""

from __future__ import annotations

import pytest

import transom
from tests.spark.kills.shapes import Shape
from transom.physical.answer_times import answers_closed_ticks

WINDOW = "traffic [FROM NOW-4 TO NOW SLIDE 2 SEC]"
AIR = "air [FROM NOW-3 TO NOW SLIDE 3 SEC]"
CLOSED = {
    "a group waits until its window is complete": f"RSTREAM(SELECT site, SUM(weight) AS s FROM {WINDOW} GROUP BY site)",
    "an empty window shows when its tick is closed": f"SELECT weight FROM {WINDOW}",
    "a group over a join waits": f"RSTREAM(SELECT air.id, COUNT(*) AS n FROM {WINDOW}, {AIR} "
    "WHERE traffic.id = air.id GROUP BY air.id)",
    "rows are counted in order": "RSTREAM(SELECT weight FROM traffic [FROM NOW-4 TO NOW SLIDE 2 ROWS])",
}
AHEAD = {
    "a row is answered when it comes": "SELECT weight FROM traffic WHERE weight > 4",
    "a row is answered at once in all its windows": f"RSTREAM(SELECT weight FROM {WINDOW})",
    "a pair is answered at once in all its windows": f"RSTREAM(SELECT traffic.id FROM {WINDOW}, {AIR} "
    "WHERE traffic.id = air.id)",
    "a row leaves a window at a known later tick": f"DSTREAM(SELECT weight FROM {WINDOW})",
    "a row is paired with all versions of a table": f"RSTREAM(SELECT band.name FROM {WINDOW}, band [SCAN 5 SEC] "
    "WHERE traffic.weight = band.weight)",
}


@pytest.mark.parametrize("why", [*CLOSED, *AHEAD])
def test_whether_no_answer_is_ahead_of_the_closed_tick(why: str) -> None:
    shape = Shape("", (CLOSED | AHEAD)[why], ("traffic", "air"), stored=True)
    query = transom.compile(shape.text, shape.catalog())
    assert answers_closed_ticks(query.physical(user_sources=[source.name for source in query.sources])) is (
        why in CLOSED
    )
