"""Choose whether a query uses the Java kernel, and report the choice to the user.

The command line prints `KernelChoice.line`. The Python API issues a KernelWarning when `auto` falls back to a slower
executor for a reason that the user can fix. It is silent when the kernel is used, switched off or impossible (Spark
Connect).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import SparkSession

from transom.errors import KernelWarning, UsageError
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import Executor, KernelMode
from transom.spark.stateful.kernel import VERSION, has_jvm, load_kernel

KERNEL_MODES = ("auto", "on", "off")
KERNEL_VARIABLE = "TRANSOM_KERNEL"


@dataclass(frozen=True)
class KernelChoice:
    """Whether the kernel is used; if not, the reason, and whether the user can fix it.

    `would_run` says whether the kernel would run an operator of the plan, `fallback` where that operator runs instead.
    """

    used: bool
    reason: str = ""
    avoidable: bool = False
    would_run: bool = True
    fallback: str = ""

    @property
    def line(self) -> str:
        """Return one line for the user: where stateful operators run and, if not in the Java kernel, the reason."""
        if not self.would_run:
            return "kernel: not needed, Spark's own operators run the whole plan"
        if self.used:
            return f"kernel: stateful operators run in Java (transom-kernel {VERSION})"
        return f"kernel: off, {self.fallback}: {self.reason}"

    def warn(self) -> None:
        """Issue a KernelWarning if the user could enable the Java kernel and it would run an operator of the plan."""
        if self.avoidable and self.would_run:
            message = f"{self.reason}; {self.fallback}. Write --kernel off (kernel='off') to accept it"
            warnings.warn(f"the kernel is not used: {message}", KernelWarning, stacklevel=_caller_stacklevel())


def choose_kernel(spark: SparkSession | None, kernel: KernelMode) -> KernelChoice:
    """Decide whether a session uses the Java kernel: `auto`, if Spark accepts the jar; `on` raises UsageError if not.

    The environment variable TRANSOM_KERNEL replaces `auto`. Without a session, for a plan that never runs, `auto` means
    on.
    """
    reason = "--kernel off (kernel='off') was requested"
    if kernel == "auto" and KERNEL_VARIABLE in os.environ:
        kernel = os.environ[KERNEL_VARIABLE]  # type: ignore[assignment]
        reason = f"{KERNEL_VARIABLE}=off is set"
    if kernel not in KERNEL_MODES:
        raise UsageError(f"kernel is one of {', '.join(KERNEL_MODES)}, not {kernel!r}")
    if kernel == "off":
        return KernelChoice(False, reason)
    if spark is None:
        return KernelChoice(True)
    reason_not_loaded = load_kernel(spark)
    if reason_not_loaded is None:
        return KernelChoice(True)
    if kernel == "on":
        raise UsageError(
            "the kernel cannot be used",
            detail=reason_not_loaded,
            hint="leave it out, or write --kernel auto (kernel='auto')",
        )
    return KernelChoice(False, reason_not_loaded, avoidable=has_jvm(spark))


def plan_for_session(
    spark: SparkSession | None, kernel: KernelMode, make_plan: Callable[[bool], PhysicalNode]
) -> tuple[KernelChoice, PhysicalNode]:
    """Decide whether a session uses the Java kernel; return this choice, and the plan of `make_plan(uses_kernel)`.

    Without the kernel a second plan is made, only to find out whether the kernel would run any operator.
    """
    choice = choose_kernel(spark, kernel)
    plan = make_plan(choice.used)
    if choice.used:
        return replace(choice, would_run=has_executor(plan, Executor.KERNEL)), plan
    return replace(
        choice, would_run=has_executor(make_plan(True), Executor.KERNEL), fallback=_fallback_description(plan)
    ), plan


def has_executor(plan: PhysicalNode, executor: Executor) -> bool:
    """Whether any operator of the plan runs on an executor: Spark's own operators, Python or the Java kernel."""
    return any(node.decision.executor is executor for node in walk(plan))


def _fallback_description(plan: PhysicalNode) -> str:
    """Describe where the stateful operators of a plan run without the Java kernel."""
    where = "in Python" if has_executor(plan, Executor.MACHINE) else "as Spark's own operators"
    return f"stateful operators run {where}"


def _caller_stacklevel() -> int:
    """Return the `stacklevel` with which a warning points to the first caller outside this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__", "")).split(".")[0] == "transom":
        level, frame = level + 1, frame.f_back
    return level
