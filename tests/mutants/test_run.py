"""Stages run in a copy, stop at the first failure, and go on where the results end."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from coverage import CoverageData

from tests.mutants.covering import CoverageMap
from tests.mutants.java_sites import java_sites
from tests.mutants.python_sites import python_sites
from tests.mutants.run import Runner, first_failure, recorded, summary
from tests.mutants.site import Site
from tests.mutants.stages import Stage, related

SOURCE = b"def larger(a, b):\n    return a if a > b else b\n"
CHECK = "import sys; sys.path.insert(0, 'src'); from transom.pick import larger; sys.exit(larger(1, 2) != 2)"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "src/transom").mkdir(parents=True)
    (root / "src/transom/__init__.py").touch()
    (root / "src/transom/pick.py").write_bytes(SOURCE)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    return root


def mutants() -> list[Site]:
    found = python_sites("top", "src/transom/pick.py", SOURCE)
    assert [site.kind for site in found] == ["condition", "comparison"]
    return found


def runner(tree: Path, *stages: Stage) -> Runner:
    return Runner(stages, tree.parent / "results.jsonl", tree.parent / "copy", root=tree)


def test_first_failing_stage_catches_and_survivors_are_counted(tree: Path) -> None:
    one = runner(tree, Stage("first", "{python} -c 'pass'", 60), Stage("second", '{python} -c "' + CHECK + '"', 60))
    one.run(mutants())
    known = recorded(one.results)
    turned, widened = mutants()
    assert {stage: result["outcome"] for stage, result in known[turned.name].items()} == {
        "first": "passed",
        "second": "failed",
    }
    assert known[widened.name]["second"]["outcome"] == "passed"
    text, survived = summary(mutants(), one.results)
    assert survived == 1
    assert "SURVIVED first, second" in text
    assert text.endswith("2 mutants: 1 caught, 1 survived, 0 not run")
    assert (tree / "src/transom/pick.py").read_bytes() == SOURCE
    assert (one.copy / "src/transom/pick.py").read_bytes() == SOURCE


def test_a_run_goes_on_where_the_results_end(tree: Path) -> None:
    first = runner(tree, Stage("first", "{python} -c 'pass'", 60))
    first.run(mutants())
    lines = first.results.read_text().count("\n")
    first.run(mutants())
    assert first.results.read_text().count("\n") == lines == 2
    runner(tree, Stage("first", "false", 60), Stage("late", "false", 60)).run(mutants())
    assert all(one["late"]["outcome"] == "failed" for one in recorded(first.results).values())
    assert all(one["first"]["outcome"] == "passed" for one in recorded(first.results).values())


def test_what_a_stage_writes_is_taken_back(tree: Path) -> None:
    one = runner(tree, Stage("writes", "echo '# more' >> src/transom/__init__.py", 60))
    one.run(mutants())
    assert (one.copy / "src/transom/__init__.py").read_bytes() == b""
    assert (one.copy / "src/transom/pick.py").read_bytes() == SOURCE


def test_a_mutant_in_java_is_built_before_it_is_tried(tree: Path) -> None:
    (tree / "kernel/src/main/java").mkdir(parents=True)
    (tree / "kernel/src/main/java/A.java").write_text("class A { int a = 1; }\n")
    (tree / "src/transom/transom-kernel.jar").write_text("class A { int a = 1; }\n")
    found = java_sites("kernel", "kernel/src/main/java/A.java", b"class A { int a = 1; }\n")
    one = runner(tree, Stage("old", "grep -q 'a = 1' src/transom/transom-kernel.jar", 60))
    one.build = "cp kernel/src/main/java/A.java src/transom/transom-kernel.jar"
    one.run(found)
    assert [result["old"]["outcome"] for result in recorded(one.results).values()] == ["failed"]
    assert "a = 1" in (one.copy / "src/transom/transom-kernel.jar").read_text()
    one.build = "false"
    one.run(found, again=True)
    assert len(one.results.read_text().splitlines()) == 1


def test_a_hang_catches_and_says_so(tree: Path) -> None:
    one = runner(tree, Stage("slow", "sleep 60", 0.2))
    one.run(mutants()[:1])
    assert "caught by a hang (slow)" in summary(mutants()[:1], one.results)[0]


def test_a_test_that_fails_without_the_mutant_catches_nothing(tree: Path) -> None:
    (tree / "tests").mkdir()
    (tree / "tests/test_all.py").write_text("def test_broken(): assert False\ndef test_whole(): assert True\n")
    (tree / "tests/conftest.py").write_text(
        "def pytest_addoption(parser):\n"
        "    for name in ('deep', 'kernel', 'spark', 'servers'):\n"
        "        parser.addoption('--' + name, action='store_true')\n"
    )
    one = runner(tree, Stage("plain", "{python} -m pytest -q -x -rfE -p no:cacheprovider tests", 60))
    one.run(mutants()[:1])
    assert one.left_out == ["tests/test_all.py::test_broken"]
    assert recorded(one.results)[mutants()[0].name]["plain"]["outcome"] == "passed"


def test_the_first_failure_is_named() -> None:
    assert (
        first_failure("x\nFAILED tests/a.py::test_b[1 - 2] - assert 1\nFAILED tests/c.py::d\n")
        == "tests/a.py::test_b[1 - 2]"
    )
    assert first_failure("ERROR tests/a.py\n") == "tests/a.py"
    assert first_failure("  MethodSource [className = 'a.B', methodName = 'c', ...]") == "a.B.c"


def test_stages_without_a_test_are_left_out() -> None:
    assert Stage("covering", "pytest {covering}", 1).filled({"covering": ""}) is None
    assert Stage("covering", "pytest {covering}", 1).filled({"covering": "a b"}) == "pytest a b"


def test_related_tests_share_the_name_or_import_the_module() -> None:
    [mutant, *_] = python_sites("model", "src/transom/model/geometry/geodesy.py", b"x = 1 < 2")
    root = Path(__file__).parents[2]
    assert related(root, mutant)[0] == "tests/model/test_geodesy.py"
    assert not any(name.startswith(("tests/spark/", "tests/servers/")) for name in related(root, mutant))


def test_a_map_of_coverage_names_the_tests_of_a_line(tmp_path: Path) -> None:
    [mutant, *_] = python_sites("model", "src/transom/model/bag.py", b"x = f(\n  a < 2)\n")
    assert (mutant.statement, mutant.line) == (1, 2)
    contexts = {"1": ["tests/spark/test_a.py::b|run", ""], "2": ["tests/model/test_bag.py::c|run"], "3": ["x.py::y"]}
    path = tmp_path / "map.json"
    path.write_text(json.dumps({"files": {"/elsewhere/src/transom/model/bag.py": {"contexts": contexts}}}))
    known = CoverageMap.read(path)
    assert known.slow(mutant) == ["tests/spark/test_a.py::b"]
    assert known.plain(mutant) == ["tests/model/test_bag.py::c"]
    assert CoverageMap.read(None).tests(mutant) == []


def test_a_map_of_coverage_is_read_from_its_own_file(tmp_path: Path) -> None:
    [mutant, *_] = python_sites("model", "src/transom/model/bag.py", b"x = a < 2\n")
    data = CoverageData(str(tmp_path / "data"))
    for test in ("tests/spark/test_a.py::b[c d]|run", "tests/servers/test_e.py::f|setup"):
        data.set_context(test)
        data.add_lines({"/elsewhere/src/transom/model/bag.py": [1]})
    data.write()
    assert CoverageMap.read(tmp_path / "data").slow(mutant) == [
        "tests/servers/test_e.py::f",
        "tests/spark/test_a.py::b[c d]",
    ]
