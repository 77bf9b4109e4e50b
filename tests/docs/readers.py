"""What a reader who has not seen the code is asked to judge: `python -m tests.docs.readers KIND [SEED]`.

The kind `functions` prints twenty functions of src and kernel with their signatures and the first lines of their
docstrings; `sentences` prints fifty sentences of the pages. Both are drawn by the hash of the commit. `errors` prints
every message of the golden file of errors.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import yaml

ROOT = Path(__file__).parents[2]
DRAWN = 20
SENTENCES_DRAWN = 50
SHORTEST_SENTENCE = 5
"""In words: what is shorter is a label."""
_JAVA = re.compile(
    r"(?:/\*\*(?P<comment>(?:(?!\*/).)*)\*/\s*)?(?:@\w+(?:\([^)]*\))?\s*)*"
    r"^ +(?P<signature>(?:(?:public|protected|private|static|final|abstract|synchronized|default) )*"
    r"(?!return |new |throw |else |case )[\w.]+(?:<[\w<>\[\], ?.]+>)?(?:\[\])* \w+\([^(){};]*\))[^;{]*[{;]",
    re.DOTALL | re.MULTILINE,
)
_JAVA_LITERAL = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'", re.DOTALL)
_JAVA_BLOCK = re.compile(r"\b(?:class|interface|enum|record) (?P<name>\w+)|[{}]")
UNDOCUMENTED = "(no description)"


def _functions_in(owner: ast.AST, holder: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions defined in a module, class or function, nested ones included, with their qualified names."""
    for node in ast.iter_child_nodes(owner):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield holder + node.name, node
        named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        yield from _functions_in(node, f"{holder}{node.name}." if named else holder)


def python_functions() -> Iterator[str]:
    """Every function and method of the package."""
    for path in sorted((ROOT / "src").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        for name, node in _functions_in(ast.parse(path.read_text("utf-8")), ""):
            returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
            first = (ast.get_docstring(node) or UNDOCUMENTED).splitlines()[0]
            yield f"{module}\n    {name}({ast.unparse(node.args)}){returns}\n    {first}"


def _java_class(source: str, offset: int) -> str:
    """The classes around an offset of a Java source, outermost first: `SlidingSums.Decimals`."""
    code = _JAVA_LITERAL.sub(lambda literal: " " * len(literal[0]), source)
    blocks, declared = [], ""
    for token in _JAVA_BLOCK.finditer(code, 0, offset):
        if token["name"]:
            declared = token["name"]
        elif token[0] == "{":
            blocks.append(declared)
            declared = ""
        else:
            blocks.pop()
    return ".".join(filter(None, blocks))


def java_functions() -> Iterator[str]:
    """Every method of the kernel, with the class that declares it."""
    for path in sorted((ROOT / "kernel" / "src" / "main").rglob("*.java")):
        source = path.read_text("utf-8")
        for method in _JAVA.finditer(source):
            owner = _java_class(source, method.start("signature"))
            comment = " ".join(line.strip(" *") for line in (method["comment"] or UNDOCUMENTED).splitlines()).strip()
            first = re.split(r"(?<=\.) ", comment)[0]
            yield f"{owner} (Java)\n    {' '.join(method['signature'].split())}\n    {first}"


def drawn(seed: str) -> list[str]:
    """Twenty functions, the same ones for the same seed."""
    return Random(seed).sample([*python_functions(), *java_functions()], DRAWN)


def sentences() -> Iterator[str]:
    """Every sentence of the pages outside of code blocks, with its page; cells of tables count as sentences."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]:
        prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        prose = re.sub(r"<!--.*?-->|<a id=[^>]*></a>|^#.*$|^!\[.*$", "", prose, flags=re.MULTILINE)
        for paragraph in re.split(r"\n\s*\n|\n(?=[-*|] |\d+\. )|(?<=.) \| ", prose):
            text = " ".join(paragraph.strip("|- \n").split())
            for sentence in re.split(r"(?<=[.?!:]) (?=[A-Z`*\[])", text):
                if len(re.findall(r"[A-Za-z]{2,}", sentence)) >= SHORTEST_SENTENCE:
                    yield f"{page.relative_to(ROOT)}: {sentence}"


def errors() -> Iterator[str]:
    """The messages of the golden file, as users see them."""
    sections = yaml.safe_load((ROOT / "tests" / "golden" / "errors.yaml").read_text("utf-8"))
    for section in sections.values():
        if isinstance(section, list):
            yield from (case["message"] for case in section)


def drawn_sentences(seed: str) -> list[str]:
    """Fifty sentences, the same ones for the same seed."""
    return Random(seed).sample(list(sentences()), SENTENCES_DRAWN)


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
