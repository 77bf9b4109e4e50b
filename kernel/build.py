#!/usr/bin/env python3
"""Builds, checks and tests the kernel, the stateful operators in Java, with javac alone.

    kernel/build jar [OUT.jar] [--any-toolchain]   compile into a jar, by default the one in the repository
    kernel/build check                             build again and compare with the jar in the repository, byte by byte
    kernel/build test                              compile the tests as well, and run them
    kernel/build classes [DIR]                     compile into a folder, by default kernel/out

The jar is in the repository, so that installing Transom needs neither a JDK nor Spark. The same sources give the same
bytes: kernel/toolchain.txt pins the compiler and the Spark whose jars are on the class path, and packing.py writes
entries sorted, uncompressed and with a fixed time. `jar` refuses other tools; --any-toolchain takes them for a trial
that is not committed. `check` takes any compiler and lets the bytes decide.

Spark's jars come from the folder TRANSOM_SPARK_JARS, or from the installed PySpark. If `jar` and `check` find another
version in the installed PySpark, pip fetches the pinned one. The tests need JUnit's console, which Maven fetches. Both
are fetched once, into the folder TRANSOM_KERNEL_CACHE or a folder for temporary files.
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

import packing

HERE = Path(__file__).resolve().parent
MAIN, TEST = packing.MAIN, HERE / "src" / "test"
JAR = packing.JAR
JUNIT = "junit-platform-console-standalone"
JUNIT_VERSION = "1.11.4"
JUNIT_SHA256 = "b016ef6b1c3454d6d7c2c88ce081dabf289699686af6622d6e4e2e1b54b4a2fc"

# No warnings about annotations and jars that Spark's class files refer to and that are not on the class path.
LINT = "-Xlint:all,-classfile,-path"


class Problem(Exception):
    """A missing tool or a failed build, with a message for the user."""


def pinned(tool: str) -> str:
    """The version of a tool that the jar in the repository is built with."""
    lines = (HERE / "toolchain.txt").read_text("utf-8").splitlines()
    return dict(line.split(" ", 1) for line in lines)[tool]


def spark_jars(version: str | None = None) -> Path:
    """The folder of Spark's jars, of any version or of one, which pip may fetch; Problem if there is none."""
    configured = os.environ.get("TRANSOM_SPARK_JARS")
    package = None if configured else importlib.util.find_spec("pyspark")
    installed = [f"{folder}/jars" for folder in (package and package.submodule_search_locations) or ()]
    folders = [configured] if configured else installed
    pattern = f"spark-sql_*-{version or '*'}.jar"
    for folder in folders:
        if any(Path(folder).glob(pattern)):
            return Path(folder)
    if version is None:
        raise Problem("there are no jars of Spark: install pyspark, or set TRANSOM_SPARK_JARS to their folder")
    if configured:
        raise Problem(
            f"TRANSOM_SPARK_JARS={configured} has no jars of Spark {version}, against which the kernel is compiled: "
            "unset it, and pip fetches them"
        )
    target = cache() / f"pyspark-{version}"
    if not any((target / "pyspark" / "jars").glob(pattern)):
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target)]
        run([*pip, f"pyspark=={version}"])
    return target / "pyspark" / "jars"


def tool(name: str) -> str:
    """The path of a program, from JAVA_HOME or PATH; Problem if there is none."""
    home = os.environ.get("JAVA_HOME")
    path = shutil.which(name, path=str(Path(home) / "bin")) if home else None
    path = path or shutil.which(name)
    if path is None:
        raise Problem(f"there is no {name}: install a JDK 17 or later, and Maven for the tests")
    return path


def compiler() -> str:
    """The version of the javac that `tool` finds."""
    done = subprocess.run([tool("javac"), "-version"], capture_output=True, text=True)
    return (done.stdout or done.stderr).strip().removeprefix("javac ")


def run(command: Sequence[str]) -> None:
    """Run a program; Problem if it fails."""
    done = subprocess.run(command)
    if done.returncode:
        raise Problem(f"{Path(command[0]).name} failed")


def compile_into(folder: Path, sources: Path, classpath: str) -> None:
    """Compile all sources below a folder, and copy the resources beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    files = sorted(map(str, (sources / "java").rglob("*.java")))
    options = ["--release", "17", LINT, "-Werror", "-proc:none", "-encoding", "UTF-8", "-g"]
    run([tool("javac"), *options, "-cp", classpath, "-d", str(folder), *files])
    if (sources / "resources").is_dir():
        shutil.copytree(sources / "resources", folder, dirs_exist_ok=True)


def build_jar(spark: Path) -> bytes:
    """Compile and pack the kernel, with any compiler that is found."""
    with tempfile.TemporaryDirectory() as folder:
        compile_into(Path(folder), MAIN, f"{spark}/*")
        return packing.pack(Path(folder), packing.digest(MAIN))


def jar(out: Path, *, any_toolchain: bool = False) -> None:
    """Compile the kernel into a jar, with the pinned tools unless others are allowed."""
    if not any_toolchain:
        current, pin = compiler(), pinned("javac")
        if current != pin:
            raise Problem(
                f"the jar in the repository is compiled by javac {pin}, and {tool('javac')} is {current}: install "
                f"JDK {pin} (openjdk-17-jdk-headless of Debian 12, or Eclipse Temurin {pin}) and set JAVA_HOME "
                "to it. For a trial that is not committed: kernel/build jar --any-toolchain. To move the pin, change "
                "kernel/toolchain.txt"
            )
    content = build_jar(spark_jars(None if any_toolchain else pinned("pyspark")))
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(content)


def check() -> None:
    """Build again, and fail unless the bytes are those of the jar in the repository."""
    current, pin = compiler(), pinned("javac")
    built = build_jar(spark_jars(pinned("pyspark")))
    committed = JAR.read_bytes() if JAR.is_file() else None
    if committed == built:
        print(f"kernel/build: {JAR.name} is what kernel/src/main gives, byte by byte (javac {current})")
        return
    if committed is None:
        raise Problem(f"{JAR} is missing; build it with: just kernel")
    lines = packing.differences(committed, built)
    if current != pin:
        lines.append(f"this compiler is javac {current}, the pinned one is {pin}: the difference may come from it")
    raise Problem(
        f"{JAR.name} in the repository is not what kernel/src/main gives:\n  "
        + "\n  ".join(lines)
        + "\nrebuild it with `just kernel` (kernel/build jar) and commit it"
    )


def test() -> None:
    """Compile the kernel and its tests, and run the tests."""
    junit, spark = junit_console(), spark_jars()
    with tempfile.TemporaryDirectory() as folder:
        main, tests = Path(folder) / "main", Path(folder) / "test"
        compile_into(main, MAIN, f"{spark}/*")
        compile_into(tests, TEST, os.pathsep.join([str(main), str(junit), f"{spark}/*"]))
        path = os.pathsep.join([str(main), str(tests), str(junit), f"{spark}/*"])
        launcher = ["org.junit.platform.console.ConsoleLauncher", "execute", f"--scan-class-path={tests}"]
        run([tool("java"), "-cp", path, *launcher, "--details=summary", "--fail-if-no-tests", "--disable-banner"])


def cache() -> Path:
    """The folder that caches downloads; created if missing."""
    configured = os.environ.get("TRANSOM_KERNEL_CACHE")
    folder = Path(configured) if configured else Path(tempfile.gettempdir()) / f"transom-kernel-{os.getuid()}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def junit_console() -> Path:
    """JUnit's console jar, from the cache or by Maven; Problem if its SHA-256 is wrong."""
    jar_path = cache() / f"{JUNIT}-{JUNIT_VERSION}.jar"
    if not jar_path.is_file():
        artifact = f"-Dartifact=org.junit.platform:{JUNIT}:{JUNIT_VERSION}"
        run([tool("mvn"), "-q", "dependency:copy", artifact, f"-DoutputDirectory={cache()}"])
    if hashlib.sha256(jar_path.read_bytes()).hexdigest() != JUNIT_SHA256:
        raise Problem(f"{jar_path} is not the jar that was expected: remove it and try again")
    return jar_path


def main(arguments: Sequence[str]) -> int:
    """Run the command of the arguments and return the exit code."""
    any_toolchain = "--any-toolchain" in arguments
    positional = [argument for argument in arguments if argument != "--any-toolchain"]
    try:
        match positional:
            case ["classes", *rest] if len(rest) < 2 and not any_toolchain:
                compile_into(Path(rest[0]) if rest else HERE / "out", MAIN, f"{spark_jars()}/*")
            case ["jar", *rest] if len(rest) < 2:
                jar(Path(rest[0]).absolute() if rest else JAR, any_toolchain=any_toolchain)
            case ["check"] if not any_toolchain:
                check()
            case ["test"] if not any_toolchain:
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
