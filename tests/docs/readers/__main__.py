"""What a reader who has not seen the code is asked to judge: `python -m tests.docs.readers KIND [SEED]`.

The kind `functions` prints twenty functions of src and kernel with their signatures and the first lines of their
docstrings; `sentences` prints fifty sentences of the pages, each with its section and the text around it. Both are
drawn by the hash of the commit. `errors` prints every message of the golden file of errors.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import yaml

from tests.docs.readers.functions import java_functions, python_functions
from tests.docs.readers.sentences import drawn_sentences

ROOT = Path(__file__).parents[3]
DRAWN = 20


def drawn(seed: str) -> list[str]:
    """Twenty functions, the same ones for the same seed."""
    return Random(seed).sample([*python_functions(), *java_functions()], DRAWN)


def errors() -> Iterator[str]:
    """The messages of the golden file, as users see them."""
    sections = yaml.safe_load((ROOT / "tests" / "golden" / "errors.yaml").read_text("utf-8"))
    for section in sections.values():
        if isinstance(section, list):
            yield from (case["message"] for case in section)


if __name__ == "__main__":
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    kind, seed = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else head.strip()
    kinds: dict[str, Callable[[str], list[str]]] = {
        "functions": drawn,
        "sentences": drawn_sentences,
        "errors": lambda _: list(errors()),
    }
    for number, entry in enumerate(kinds[kind](seed), 1):
        print(f"{number}. {entry}\n")
