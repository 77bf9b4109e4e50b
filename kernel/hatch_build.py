"""Builds the kernel's jar into the wheel, so that whoever installs it needs no compiler.

A build without a JDK, or without Spark's jars to compile against, makes a package without the kernel and says so; with
TRANSOM_KERNEL_REQUIRED=1 it fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

JAR = Path("src/transom/transom-kernel.jar")


class KernelHook(BuildHookInterface):
    """What hatchling calls before it packs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the jar and have it packed."""
        jar = Path(self.root) / JAR
        built = subprocess.run(
            [sys.executable, str(Path(self.root) / "kernel" / "build.py"), "jar", str(jar)],
            capture_output=True,
            text=True,
        )
        if built.returncode:
            if os.environ.get("TRANSOM_KERNEL_REQUIRED") == "1":
                raise RuntimeError(f"the kernel could not be built:\n{built.stdout}{built.stderr}")
            self.app.display_warning(f"built without the kernel: {built.stderr.strip().splitlines()[-1:]}")
            return
        build_data["artifacts"].append(JAR.as_posix())
