"""House rules that no other tool checks: `python -m tests.house`."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests import import_cycles

ROOT = Path(__file__).parents[1]
LONGEST = 400
NAMES = {"utils", "helpers", "common", "base", "core", "manager"}
FOREIGN = re.compile(r"(?<![\w-])/(?:work|root|home|tmp)/\w|py" + r"pi\.org|files\.python" + r"hosted|Impl\b")
"""Paths of a machine and host names of registries."""

ONCE = {
    ".transformWithState(": {
        "src/transom/spark/stateful/operator.py",
        "kernel/src/main/java/transom/kernel/Kernel.java",
    },
}
"""What one file alone may call, in Python and in Java: there is one stateful operator."""


def files() -> list[Path]:
    """The files of the project, as git knows them."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in listed.stdout.splitlines() if (ROOT / name).is_file()]


def complaints() -> list[str]:
    """Everything that breaks a rule."""
    found = import_cycles.complaints()
    for path in files():
        name = path.relative_to(ROOT)
        text = path.read_text("utf-8", errors="replace")
        if path.suffix in (".py", ".lark") and text.count("\n") > LONGEST:
            found.append(f"{name} has {text.count(chr(10))} lines, more than {LONGEST}")
        if path.suffix == ".py" and path.stem in NAMES:
            found.append(f"{name}: name it for what it holds")
        if path.suffix in (".py", ".java") and name.parts[0] in ("src", "kernel"):
            for call, callers in ONCE.items():
                if call in text and name.as_posix() not in callers:
                    found.append(f"{name} calls {call.strip('.(')}, which is for {', '.join(sorted(callers))}")
        for number, line in enumerate(text.splitlines(), start=1):
            if FOREIGN.search(line) and path.name != "house.py":
                found.append(f"{name}:{number}: names a machine or a registry: {line.strip()[:80]}")
    return found


if __name__ == "__main__":
    broken = complaints()
    print("\n".join(broken) or f"{len(files())} files keep the house rules")
    sys.exit(bool(broken))
