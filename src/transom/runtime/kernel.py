"""Whether a query uses the Java kernel, and how the user learns of it.

The command line prints the line of the choice. The Python API issues a KernelWarning when `auto` falls back
to a slower path for a reason that the user can fix. It is silent when the kernel is used, switched off or impossible
(Spark Connect).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from transom.errors import KernelWarning, UsageError
from transom.physical.node import Physical
from transom.physical.plan import Kernel, Path
from transom.physical.walk import walk
from transom.spark.kernel import VERSION, has_jvm, refusal

WAYS = ("auto", "on", "off")
VARIABLE = "TRANSOM_KERNEL"


@dataclass(frozen=True)
class KernelChoice:
    """Whether the kernel is used; if not, the reason, and whether the user can fix it.

    `needed` says whether the kernel would run an operator of the plan, `instead` where that operator runs without it.
    """

    used: bool
    reason: str = ""
    avoidable: bool = False
    needed: bool = True
    instead: str = ""

    @property
    def line(self) -> str:
        """One line for the user: where the stateful operators of a plan run, and if not in the kernel, why."""
        if not self.needed:
            return "kernel: not needed, Spark's own operators run the whole plan"
        if self.used:
            return f"kernel: stateful operators run in Java (transom-kernel {VERSION})"
        return f"kernel: off, {self.instead}: {self.reason}"

    def warn(self) -> None:
        """Warn the caller of this package if the kernel would run the plan and could be enabled."""
        if self.avoidable and self.needed:
            message = f"{self.reason}; {self.instead}. Write kernel='off' to accept it"
            warnings.warn(f"the kernel is not used: {message}", KernelWarning, stacklevel=_caller())


def choose_kernel(spark: SparkSession, kernel: Kernel) -> KernelChoice:
    """Decide for a session: `auto` uses the kernel where the session takes the jar, `on` insists.

    The environment variable TRANSOM_KERNEL replaces `auto`.
    """
    reason = "kernel='off' was requested"
    if kernel == "auto" and VARIABLE in os.environ:
        kernel = os.environ[VARIABLE]  # type: ignore[assignment]
        reason = f"{VARIABLE}=off is set"
    if kernel not in WAYS:
        raise UsageError(f"kernel is one of {', '.join(WAYS)}, not {kernel!r}")
    if kernel == "off":
        return KernelChoice(False, reason)
    why = refusal(spark)
    if why is None:
        return KernelChoice(True)
    if kernel == "on":
        raise UsageError("the kernel cannot be used", detail=why, hint="leave it out, or write kernel='auto'")
    return KernelChoice(False, why, avoidable=has_jvm(spark))


def planned(spark: SparkSession, kernel: Kernel, plan: Callable[[bool], Physical]) -> tuple[KernelChoice, Physical]:
    """The choice for a session, and the plan for it, made once.

    Without the kernel a second plan is made, only to tell the user what the kernel would change.
    """
    choice = choose_kernel(spark, kernel)
    made = plan(choice.used)
    if choice.used:
        return replace(choice, needed=has_path(made, Path.KERNEL)), made
    return replace(choice, needed=has_path(plan(True), Path.KERNEL), instead=_instead(made)), made


def has_path(plan: Physical, path: Path) -> bool:
    """Whether an operator of a plan takes a path."""
    return any(node.choice.path is path for node in walk(plan))


def _instead(plan: Physical) -> str:
    """Where the stateful operators of a plan without the kernel run."""
    where = "in Python" if has_path(plan, Path.MACHINE) else "as Spark's own operators"
    return f"stateful operators run {where}"


def _caller() -> int:
    """The stack level, for a warning of the function that asks, of the first caller outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] == "transom":
        level, frame = level + 1, frame.f_back
    return level
