"""Whether a query uses the Java kernel, and how the user learns of it.

The command line prints the line that `describe` returns. The Python API issues a KernelWarning when `auto` falls back
to a slower path for a reason that the user can fix. It is silent when the kernel is used, switched off or impossible
(Spark Connect).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

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
    """Whether the kernel is used; if not, the reason, and whether the user can fix it."""

    used: bool
    reason: str = ""
    avoidable: bool = False


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


def use_kernel(spark: SparkSession, kernel: Kernel) -> bool:
    """Whether stateful operators run in Java."""
    return choose_kernel(spark, kernel).used


def planned(spark: SparkSession, kernel: Kernel, plan: Callable[[bool], Physical]) -> tuple[bool, Physical]:
    """Whether the kernel is used, and the plan for that; warn if the kernel would run the plan and could be enabled."""
    choice = choose_kernel(spark, kernel)
    if choice.avoidable and has_path(plan(True), Path.KERNEL):
        message = f"{choice.reason}; {_instead(plan(False))}. Write kernel='off' to accept it"
        warnings.warn(f"the kernel is not used: {message}", KernelWarning, stacklevel=_caller())
    return choice.used, plan(choice.used)


def describe(choice: KernelChoice, plan: Callable[[bool], Physical]) -> str:
    """One line for the user: which path the stateful operators of a plan take, and if not the kernel, why."""
    if not has_path(plan(True), Path.KERNEL):
        return "kernel: not needed, Spark's own operators run the whole plan"
    if choice.used:
        return f"kernel: stateful operators run in Java (transom-kernel {VERSION})"
    return f"kernel: off, {_instead(plan(False))}: {choice.reason}"


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
