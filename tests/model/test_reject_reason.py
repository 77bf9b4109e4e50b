"""The sentence on rejected rows and messages."""

from __future__ import annotations

from transom.model.reject_reason import rejected_line


def test_one_reason_is_one_line() -> None:
    line = rejected_line("s", {"no time": 1200}, {"no time": "a.nt:2: no time"})
    assert line == "rejected messages of s: 1,200 no time; the first is a.nt:2: no time"


def test_each_of_several_reasons_has_a_line_up_to_five() -> None:
    reasons = ["f", "e", "d", "c", "b", "a"]
    text = rejected_line("s", dict.fromkeys(reasons, 1), {reason: f"x:{reason}" for reason in reasons}, "rows")
    assert text.splitlines() == [
        "rejected rows of s: 1 a, 1 b, 1 c, 1 d, 1 e, 1 f; the first of each reason:",
        *(f"  {reason}: x:{reason}" for reason in ["f", "e", "d", "c", "b"]),
    ]
