"""Mutants are drawn the same way each time, from every layer, and each one is a change that compiles."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.mutants.draw import KERNEL, PACKAGE, ROOT, draw, loaded, ranked, saved, shares, sites, sources
from tests.mutants.java_sites import java_sites
from tests.mutants.python_sites import python_sites
from tests.mutants.site import Site

LAYERS = {path.name for path in (ROOT / PACKAGE).iterdir() if (path / "__init__.py").is_file()}


def changes(text: str) -> set[tuple[str, str]]:
    return {(site.before, site.after) for site in python_sites("layer", "file.py", text.encode())}


def java_changes(text: str) -> set[tuple[str, str]]:
    return {(site.before, site.after) for site in java_sites("kernel", "File.java", text.encode())}


@pytest.fixture(scope="module")
def drawn() -> list[Site]:
    return draw(19, 30)


@pytest.mark.nightly
def test_a_seed_draws_the_same_mutants_again(drawn: list[Site]) -> None:
    assert draw(19, 30) == drawn
    assert {site.name for site in drawn} != {site.name for site in draw(20, 30)}


def test_every_layer_is_drawn_from(drawn: list[Site]) -> None:
    layers = Counter(site.layer for site in drawn)
    assert layers.total() == 30
    assert set(layers) == LAYERS | {"errors", "top", "kernel"}
    assert layers["kernel"] >= 4


def test_names_are_unique_and_changes_elsewhere_leave_them_alone() -> None:
    path = Path("src/transom/machines/windows/window.py")
    source = (ROOT / path).read_bytes()
    names = [site.name for site in python_sites("machines", path.as_posix(), source)]
    assert len(set(names)) == len(names) > 50
    below = python_sites("machines", path.as_posix(), b"X = 1 < 2\n" + source)
    assert set(names) < {site.name for site in below}


def test_drawn_mutants_differ_and_parse(drawn: list[Site]) -> None:
    for site in drawn:
        source = (ROOT / site.path).read_bytes()
        assert site.applied(source) != source
        if site.path.endswith(".py"):
            ast.parse(site.applied(source))


@pytest.mark.parametrize("path", ["errors.py", "machines/windows/window.py", "languages/sql/translate.py"])
def test_every_change_of_a_file_parses_and_changes_its_tree(path: str) -> None:
    source = (ROOT / PACKAGE / path).read_bytes()
    before = ast.dump(ast.parse(source))
    found = sites(ROOT, "layer", PACKAGE / path)
    assert found
    for site in found:
        assert ast.dump(ast.parse(site.applied(source))) != before, site.shown


def test_a_stale_mutant_is_refused() -> None:
    site = next(iter(python_sites("layer", "file.py", b"a = 1 < 2\n")))
    with pytest.raises(ValueError, match="has changed"):
        site.applied(b"a = b << 2\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v = a < b", ("<", "<=")),
        ("v = a is not b", ("is not", "is")),
        ("v = (a) + (b)", ("+", "-")),
        ("é = 'é' == b", ("==", "!=")),
        ("v = a and b", ("and", "or")),
        ("v = not a", ("not ", "")),
        ("f(3)", ("3", "4")),
        ("f(-1)", ("-1", "1")),
        ("f(True)", ("True", "False")),
        ("min(a, b)", ("min(a, b)", "(b)")),
        ("v = x[i:]", ("i", "")),
        ("if f(a):\n    g()", ("f(a)", "not (f(a))")),
        ("if a:\n    raise B", ("raise B", "pass")),
        ("def f(a):\n    if a:\n        return 'x'\n    return 'y'", ("return 'x'", "pass")),
        ("def f(a=5): ...", ("5", "6")),
        ("a += 1", ("+=", "-=")),
        ("v = [a for a in b if c(a)]", ("c(a)", "not (c(a))")),
        ("match a:\n    case b if c(b):\n        d()", ("c(b)", "not (c(b))")),
    ],
)
def test_changes_in_python(text: str, expected: tuple[str, str]) -> None:
    assert expected in changes(text)


@pytest.mark.parametrize(
    "text",
    [
        '"""a < 1"""',
        "if TYPE_CHECKING:\n    X = 1",
        "__slots__ = (1, True)",
        "def f(a: X[1] = None) -> Y[2]: ...",
        "raise Error(f'{a + 1}', 5)",
        "assert a < 1",
        "assert_never(a + 1)",
        "@dataclass(frozen=True)\nclass A: ...",
        "if __name__ == '__main__':\n    f(1)",
        "v = a + 'text'",
        "x = y = name",
    ],
)
def test_what_is_left_alone_in_python(text: str) -> None:
    assert changes(text) == set()


def test_changes_in_java() -> None:
    text = 'List<String> a = b < 1 && c ? d++ : "x < 1"; // 1 < 2\nthrow new E(1 + 2); /* a - b */ f(-x, true);'
    assert java_changes(text) == {("<", "<="), ("1", "2"), ("&&", "||"), ("++", "--"), ("true", "false")}


def test_each_layer_gets_its_minimum_and_the_rest_goes_by_lines() -> None:
    assert shares({"a": 1000, "b": 10, "kernel": 10}, 10) == {"a": 5, "b": 1, "kernel": 4}
    with pytest.raises(ValueError, match="too few"):
        shares({"a": 1000, "b": 10, "kernel": 10}, 5)


def test_a_saved_mutant_is_found_on_its_new_line(tmp_path: Path) -> None:
    path = tmp_path / "src/transom/pick.py"
    path.parent.mkdir(parents=True)
    path.write_text("a = b < c\n")
    [site] = sites(tmp_path, "top", Path("src/transom/pick.py"))
    path.write_text("d = 1\na = b < c\n")
    [again] = loaded(saved([site]), tmp_path)
    assert (again.line, again.name) == (2, site.name)
    path.write_text("a = b << c\n")
    with pytest.raises(ValueError, match="no longer has the line"):
        loaded(saved([site]), tmp_path)


def test_one_mutant_per_source_line() -> None:
    found = python_sites("layer", "file.py", b"a = 1 < 2 < 3\nb = f(4)\n")
    assert len(found) == 6
    assert sorted(site.line for site in ranked(1, found)) == [1, 2]


def test_sources_cover_every_file() -> None:
    listed = [path for paths in sources(ROOT).values() for path in paths]
    assert len(listed) == len(set(listed))
    assert len(listed) == len(list((ROOT / PACKAGE).rglob("*.py"))) + len(
        list((ROOT / "kernel/src/main").rglob("*.java"))
    )


def test_a_layer_that_does_not_compile_is_named(tmp_path: Path) -> None:
    """A draw without Spark's jars had no mutant of the kernel, and did not say so."""
    for path in (PACKAGE / "errors.py", PACKAGE / "model" / "__init__.py", KERNEL / "Some.java"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("".join(f"a{n} = {n} < 2;\n" for n in range(4)))
    with pytest.raises(ValueError, match="only 0 of 4 mutants of kernel compile"):
        draw(1, 6, tmp_path, lambda site: site.layer != "kernel")
