"""Entries of saved state, decoded without Spark: for every machine in Python, they are those of the machine itself."""

from __future__ import annotations

import json
import random

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import Row

from tests.machines.test_twins import CASES
from transom.machines.protocol import create_machine, sort_inputs
from transom.runtime.state.stores import _key_values as key_values
from transom.runtime.state.stores import _restore as restore
from transom.runtime.state.stores import key_text


@pytest.mark.parametrize("machine", list(CASES))
def test_saved_state_is_decoded(machine: str) -> None:
    _, make = CASES[machine]
    decoded = 0
    for seed in range(5):
        case = make(random.Random(f"{machine} {seed}"))
        specification = json.dumps(case.spec)
        running = create_machine(specification)
        try:
            for tick, arrivals, _ in case.ticks:
                list(running.feed(tick, sort_inputs(arrivals)))
        except ValueError:
            continue  # a case that retracts a row which was never inserted
        state = running.save()
        if state is not None:
            saved = restore(specification, state)
            assert saved.rows == running.held
            assert sorted(map(repr, (entry for _, entry in saved.entries))) == sorted(map(repr, running.entries()))
            decoded += 1
    assert decoded


def test_keys() -> None:
    assert key_values(Row(bucket=3)) is None
    assert key_values(Row(k0=7, k1="north")) == (7, "north")
    assert key_values(Row(window_key=Row(k0=7, k1=None), bucket=0)) == (7, None)
    assert key_text((7, "north", None, True)) == "7,north,null,true"
    assert key_text(()) == ""
