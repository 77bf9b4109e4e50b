"""RunOptions: every option of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from transom.physical.nodes.windows import KernelMode

OnDataLoss = Literal["refuse", "continue"]


@dataclass(frozen=True)
class RunOptions:
    """The options of one run. A replay has no sink and no checkpoint.

    `once` processes the available input and stops; with `until` the sources of the catalog then count as complete up
    to that tick. Rows count from the tick `start` on, and answers from `since` on if it is given. `on_data_loss` says
    what to do when Kafka has deleted messages before they were read.
    """

    start: int = 0
    until: int | None = None
    index: bool = False
    approximate_sums: bool = False
    kernel: KernelMode = "auto"
    sink: str = "console"
    checkpoint: Path | None = None
    once: bool = False
    allow_unbounded: bool = False
    on_data_loss: OnDataLoss = "refuse"
    since: int | None = None

    @property
    def allow_data_loss(self) -> bool:
        """Whether the run continues although a broker has deleted messages before the run could read them."""
        return self.on_data_loss == "continue"

    @property
    def folder(self) -> Path:
        """The checkpoint folder of a live run; raises ValueError in a replay, which has none."""
        if self.checkpoint is None:
            raise ValueError("a live run has a checkpoint")
        return self.checkpoint
