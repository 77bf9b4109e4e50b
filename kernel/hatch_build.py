"""Fails the build of a package that lacks the kernel's jar. The jar is in the repository; nothing is compiled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

JAR = Path("src/transom/transom-kernel.jar")


class KernelHook(BuildHookInterface):
    """The build hook that hatchling calls before it packs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raise RuntimeError if the jar is missing."""
        if not (Path(self.root) / JAR).is_file():
            raise RuntimeError(
                f"{JAR} is missing: it is a file of the repository; get it back with `git checkout {JAR}`, or build it "
                "with `just kernel`, which needs a JDK"
            )
