"""Packs the kernel's classes into a jar whose bytes depend only on the classes and the sources.

Entries are sorted and stored uncompressed, because versions of zlib compress differently; their time is fixed, and the
manifest names no JDK. The jar holds a digest of its sources, so that a stale jar is detected without a compiler.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAIN = HERE / "src" / "main"
JAR = HERE.parent / "src" / "transom" / "transom-kernel.jar"
MANIFEST = "META-INF/MANIFEST.MF"
SOURCES = "META-INF/transom-sources.sha256"
TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file can represent."""


def digest(sources: Path) -> str:
    """A digest of the names and contents of all sources below a folder."""
    hasher = hashlib.sha256()
    for path in sorted(sources.rglob("*"), key=lambda path: path.relative_to(sources).as_posix()):
        if path.is_file():
            name, content = path.relative_to(sources).as_posix(), hashlib.sha256(path.read_bytes()).hexdigest()
            hasher.update(f"{content}  {name}\n".encode())
    return hasher.hexdigest()


def pack(classes: Path, sources: str) -> bytes:
    """Pack a folder of classes into a jar; `sources` is the digest of their sources."""
    entries = {MANIFEST: b"Manifest-Version: 1.0\r\n\r\n", SOURCES: f"{sources}\n".encode()}
    files = {path.relative_to(classes).as_posix(): path for path in classes.rglob("*") if path.is_file()}
    entries |= {name: files[name].read_bytes() for name in sorted(files)}
    jar = io.BytesIO()
    with zipfile.ZipFile(jar, "w", zipfile.ZIP_STORED) as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.create_system = 3  # Unix, even if packed on Windows
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return jar.getvalue()


def differences(committed: bytes, built: bytes) -> list[str]:
    """The entries in which two jars differ, in words."""
    old, new = _entries(committed), _entries(built)
    lines = [f"only in the repository: {name}" for name in old if name not in new]
    lines += [f"missing in the repository: {name}" for name in new if name not in old]
    lines += [f"differs: {name}" for name in new if name in old and old[name] != new[name]]
    if old.get(SOURCES) != new.get(SOURCES):
        lines.insert(0, "the sources have changed since the jar was built")
    return lines or ["the entries are equal, and the way in which they are packed differs"]


def _entries(jar: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(jar)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
