#!/usr/bin/env python3
"""Builds and tests the kernel, the machines in Java, with javac alone.

    kernel/build classes [DIR]     compile into a folder, by default kernel/out
    kernel/build jar OUT.jar       compile into a jar; the same sources give the same bytes
    kernel/build test              compile the tests as well, and run them

It compiles against Spark's jars: those of the folder TRANSOM_SPARK_JARS, or those of the pyspark that is installed.
The tests need JUnit's console, which Maven fetches once, into the folder TRANSOM_KERNEL_CACHE or a
folder for temporary files.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAIN, TEST = HERE / "src" / "main", HERE / "src" / "test"
JUNIT = "junit-platform-console-standalone"
JUNIT_VERSION = "1.11.4"
JUNIT_SHA256 = "b016ef6b1c3454d6d7c2c88ce081dabf289699686af6622d6e4e2e1b54b4a2fc"

# Spark's class files name annotations and jars that are not there: no fault of ours.
LINT = "-Xlint:all,-classfile,-path"


class Problem(Exception):
    """Something that the machine lacks, in words."""


def spark_jars() -> Path:
    """The folder of Spark's jars."""
    given = os.environ.get("TRANSOM_SPARK_JARS")
    found = None if given else importlib.util.find_spec("pyspark")
    places = [given] if given else [f"{place}/jars" for place in (found and found.submodule_search_locations) or ()]
    for place in places:
        if any(Path(place).glob("spark-sql*.jar")):
            return Path(place)
    raise Problem("there are no jars of Spark: install pyspark, or set TRANSOM_SPARK_JARS to their folder")


def tool(name: str) -> str:
    """A program of the JDK."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(name, path=str(Path(home) / "bin")) if home else None
    found = found or shutil.which(name)
    if found is None:
        raise Problem(f"there is no {name}: install a JDK 17 or later, and Maven for the tests")
    return found


def run(command: Sequence[str]) -> None:
    """Run a program that must succeed."""
    done = subprocess.run(command)
    if done.returncode:
        raise Problem(f"{Path(command[0]).name} failed")


def compile_into(folder: Path, sources: Path, classpath: str) -> None:
    """Compile all sources below a folder, and copy what lies beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(map(str, (sources / "java").rglob("*.java")))
    options = ["--release", "17", LINT, "-Werror", "-proc:none", "-encoding", "UTF-8", "-g"]
    run([tool("javac"), *options, "-cp", classpath, "-d", str(folder), *files])
    if (sources / "resources").is_dir():
        shutil.copytree(sources / "resources", folder, dirs_exist_ok=True)


def classes(folder: Path) -> None:
    """Compile the kernel into a folder."""
    compile_into(folder, MAIN, f"{spark_jars()}/*")


def jar(out: Path) -> None:
    """Compile the kernel into a jar."""
    with tempfile.TemporaryDirectory() as folder:
        classes(Path(folder) / "classes")
        out.parent.mkdir(parents=True, exist_ok=True)
        date = "--date=2020-01-01T00:00:00Z"
        run([tool("jar"), "--create", f"--file={out}", date, "-C", str(Path(folder) / "classes"), "."])


def test() -> None:
    """Compile the kernel and its tests, and run these."""
    junit, spark = fetched(), spark_jars()
    with tempfile.TemporaryDirectory() as folder:
        main, tests = Path(folder) / "main", Path(folder) / "test"
        compile_into(main, MAIN, f"{spark}/*")
        compile_into(tests, TEST, os.pathsep.join([str(main), str(junit), f"{spark}/*"]))
        path = os.pathsep.join([str(main), str(tests), str(junit), f"{spark}/*"])
        launcher = ["org.junit.platform.console.ConsoleLauncher", "execute", f"--scan-class-path={tests}"]
        run([tool("java"), "-cp", path, *launcher, "--details=summary", "--fail-if-no-tests", "--disable-banner"])


def fetched() -> Path:
    """JUnit's console, from the cache or by Maven."""
    given = os.environ.get("TRANSOM_KERNEL_CACHE")
    cache = Path(given) if given else Path(tempfile.gettempdir()) / f"transom-kernel-{os.getuid()}"
    cache.mkdir(parents=True, exist_ok=True)
    wanted = cache / f"{JUNIT}-{JUNIT_VERSION}.jar"
    if not wanted.is_file():
        artifact = f"-Dartifact=org.junit.platform:{JUNIT}:{JUNIT_VERSION}"
        run([tool("mvn"), "-q", "dependency:copy", artifact, f"-DoutputDirectory={cache}"])
    if hashlib.sha256(wanted.read_bytes()).hexdigest() != JUNIT_SHA256:
        raise Problem(f"{wanted} is not the jar that was expected: remove it and try again")
    return wanted


def main(arguments: Sequence[str]) -> int:
    """Do what is asked for."""
    try:
        match list(arguments):
            case ["classes"]:
                classes(HERE / "out")
            case ["classes", folder]:
                classes(Path(folder))
            case ["jar", out]:
                jar(Path(out).absolute())
            case ["test"]:
                test()
            case _:
                print(__doc__, file=sys.stderr)
                return 2
    except (Problem, OSError) as problem:
        print(f"kernel/build: {problem}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
