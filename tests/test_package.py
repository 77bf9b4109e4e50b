"""The package holds the kernel's jar, and the jar is that of the sources. No JDK and no Spark is needed to check it."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.resources import files
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]
JAR = Path("src/transom/transom-kernel.jar")
PACKED = ("src", "kernel", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "ARCHITECTURE.md")
TOP_LEVEL = re.compile(r"^(?:(?:public|final|abstract|sealed|non-sealed) )*(?:class|interface|record|enum) (\w+)", re.M)


def load(name: str) -> ModuleType:
    """A module of the folder kernel, which is not a package."""
    spec = importlib.util.spec_from_file_location(f"kernel_{name}", ROOT / "kernel" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


packing = load("packing")


def entries(jar: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(jar)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def jar() -> dict[str, bytes]:
    """The jar as the installed package has it."""
    return entries((files("transom") / "transom-kernel.jar").read_bytes())


def test_jar_is_built_from_the_present_sources(jar: dict[str, bytes]) -> None:
    recorded = jar["META-INF/transom-sources.sha256"].decode().strip()
    assert recorded == packing.digest(ROOT / "kernel" / "src" / "main"), (
        "the jar is stale: `just kernel`, then commit it"
    )


def test_jar_holds_exactly_the_declared_classes(jar: dict[str, bytes]) -> None:
    main = ROOT / "kernel" / "src" / "main" / "java"
    declared = {
        f"{path.parent.relative_to(main).as_posix()}/{name}"
        for path in main.rglob("*.java")
        for name in TOP_LEVEL.findall(path.read_text("utf-8"))
    }
    assert len(declared) >= len(list(main.rglob("*.java"))) > 20
    assert {name.removesuffix(".class").split("$")[0] for name in jar if name.endswith(".class")} == declared


def test_classes_are_for_java_17(jar: dict[str, bytes]) -> None:
    assert {content[6:8] for name, content in jar.items() if name.endswith(".class")} == {(61).to_bytes(2)}


def test_entries_are_sorted_stored_and_without_a_time() -> None:
    with zipfile.ZipFile(ROOT / JAR) as archive:
        infos = archive.infolist()
    assert [info.filename for info in infos] == sorted(info.filename for info in infos)
    assert {(info.date_time, info.compress_type, info.create_system) for info in infos} == {
        ((1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED, 3)
    }


def test_packing_depends_on_contents_alone(tmp_path: Path) -> None:
    contents = {"t/B.class": b"b", "t/A$1.class": b"a1", "t/A.class": b"a", "s/C.class": b"c"}
    jars = []
    for folder, names in (("one", list(contents)), ("two", list(reversed(contents)))):
        for age, name in enumerate(names):
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(contents[name])
            os.utime(path, (1e9 + age, 1e9 + age))
            path.chmod(0o600 if folder == "one" else 0o755)
        jars.append(packing.pack(tmp_path / folder, "digest"))
    assert jars[0] == jars[1]
    assert entries(jars[0]) == {
        "META-INF/MANIFEST.MF": b"Manifest-Version: 1.0\r\n\r\n",
        "META-INF/transom-sources.sha256": b"digest\n",
        **contents,
    }


def test_digest_sees_names_and_contents(tmp_path: Path) -> None:
    digests = set()
    for name, content in (("A.java", "a"), ("A.java", "b"), ("B.java", "a"), ("x/A.java", "a")):
        shutil.rmtree(tmp_path / "main", ignore_errors=True)
        path = tmp_path / "main" / name
        path.parent.mkdir(parents=True)
        path.write_text(content, "utf-8")
        digests.add(packing.digest(tmp_path / "main"))
    assert len(digests) == 4


def test_differences_name_the_entries(tmp_path: Path) -> None:
    def packed(folder: str, digest: str, **contents: bytes) -> bytes:
        (tmp_path / folder).mkdir()
        for name, content in contents.items():
            (tmp_path / folder / name).write_bytes(content)
        return bytes(packing.pack(tmp_path / folder, digest))

    old, new = packed("old", "1", A=b"a", B=b"b"), packed("new", "2", B=b"c", C=b"c")
    assert packing.differences(old, new) == [
        "the sources have changed since the jar was built",
        "only in the repository: A",
        "missing in the repository: C",
        "differs: META-INF/transom-sources.sha256",
        "differs: B",
    ]
    assert packing.differences(old, packed("other", "1", A=b"a", B=b"d")) == ["differs: B"]


def test_another_compiler_is_refused_for_the_jar_in_the_repository(tmp_path: Path) -> None:
    javac = tmp_path / "javac"
    javac.write_text("#!/bin/sh\necho javac 17.0.99\n", "utf-8")
    javac.chmod(0o755)
    command = [sys.executable, str(ROOT / "kernel" / "build.py"), "jar", str(tmp_path / "out.jar")]
    bare = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    done = subprocess.run(command, env={**bare, "PATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 1
    pin = dict(line.split() for line in (ROOT / "kernel" / "toolchain.txt").read_text("utf-8").splitlines())
    assert f"is compiled by javac {pin['javac']}, and {javac} is 17.0.99" in done.stderr
    assert "--any-toolchain" in done.stderr
    assert not (tmp_path / "out.jar").exists()


def copied(folder: Path) -> Path:
    """The files that make a package, as git would check them out."""
    for name in PACKED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "out"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def build(folder: Path, kind: str) -> subprocess.CompletedProcess[str]:
    """Build a package with an empty PATH: no JDK, no git."""
    nothing = folder.parent / "nothing"
    nothing.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder.parent / kind)]
    return subprocess.run(command, cwd=folder, env={**os.environ, "PATH": str(nothing)}, capture_output=True, text=True)


def test_sdist_and_the_wheel_of_it_hold_the_jar(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    checkout = copied(tmp_path / "checkout")
    (checkout / ".gitignore").write_text("*.jar\n", "utf-8")  # as many a global one
    done = build(checkout, "sdist")
    assert done.returncode == 0, done.stderr
    (archive,) = (tmp_path / "sdist").glob("*.tar.gz")
    with tarfile.open(archive) as sdist:
        sdist.extractall(tmp_path / "unpacked", filter="data")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    assert (unpacked / JAR).read_bytes() == (ROOT / JAR).read_bytes()
    done = build(unpacked, "wheel")
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "unpacked" / "wheel").glob("*.whl")
    assert entries(wheel.read_bytes())["transom/transom-kernel.jar"] == (ROOT / JAR).read_bytes()


def test_without_the_jar_no_package_is_built(tmp_path: Path) -> None:
    (tmp_path / "checkout").mkdir()
    checkout = copied(tmp_path / "checkout")
    (checkout / JAR).unlink()
    done = build(checkout, "wheel")
    assert done.returncode != 0
    assert f"{JAR} is missing" in done.stderr
    assert "just kernel" in done.stderr


def test_each_extra_in_a_hint_exists() -> None:
    texts = {path: path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")}
    named = {name for text in texts.values() for name in re.findall(r"install_hint\([\"'](\w+)[\"']\)", text)}
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {"png", "rdf", "serve", "spark"} <= named <= set(extras)
    assert [path.name for path, text in texts.items() if "pip install '.[" in text] == ["errors.py"]
    assert not [path.name for path, text in texts.items() if "transom[" in text]
