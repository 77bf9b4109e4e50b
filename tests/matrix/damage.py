"""Faults of files: torn, changed and deleted files, an old copy of the checkpoint, and disks without room."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.matrix.bench import Place


def tear(file: Path) -> None:
    """Cut a file in half, as a power failure may leave it."""
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    _forget_checksum(file)


def flip(file: Path) -> None:
    """Change one byte in the middle of a file."""
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 0xFF
    file.write_bytes(content)


def _forget_checksum(file: Path) -> None:
    """Delete Hadoop's checksum beside a file, which may be lost just as well."""
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def torn_offsets(place: Place) -> None:
    """Tear the newest offsets, after a clean stop."""
    tear(place.newest("offsets"))


def torn_commits(place: Place) -> None:
    """Tear the newest commit."""
    tear(place.newest("commits"))


def state_files(place: Place) -> list[Path]:
    """The newest file of the state of each operator and partition, those with rows first."""
    stores = {file.parent for file in (place.spark_logs / "state").rglob("*.changelog")}
    newest = [max(store.glob("*.changelog"), key=lambda file: int(file.stem.split("_")[0])) for store in stores]
    return sorted(newest, key=lambda file: (-file.stat().st_size, str(file)))


def flipped_state(place: Place) -> None:
    """Change a byte in the newest file of a state."""
    flip(state_files(place)[0])


def deleted_state(place: Place) -> None:
    """Delete the newest file of a state."""
    state_files(place)[0].unlink()


def deleted_metadata(place: Place) -> None:
    """Delete Spark's file `metadata`."""
    (place.spark_logs / "metadata").unlink()


def deleted_answers(place: Place) -> None:
    """Delete the newest file of the sink."""
    max(place.out.glob("part-*")).unlink()


@contextlib.contextmanager
def small_disk(folder: Path, free: int) -> Iterator[Path]:
    """Put the content of a folder on a disk of its own with `free` bytes of room; yields the file that fills it."""
    content = folder.with_name(f".{folder.name}.content")
    shutil.rmtree(content, ignore_errors=True)
    if folder.exists():
        folder.rename(content)
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", str(folder)], check=True, capture_output=True)
    try:
        if content.exists():
            shutil.copytree(content, folder, dirs_exist_ok=True)
            shutil.rmtree(content)
        yield fill(folder, free)
        shutil.copytree(folder, content, ignore=shutil.ignore_patterns("filler"))
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True, capture_output=True)
        if content.exists():
            folder.rmdir()
            content.rename(folder)


def fill(folder: Path, free: int) -> Path:
    """Fill a disk up to `free` bytes."""
    filler = folder / "filler"
    room = shutil.disk_usage(folder).free - free
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, room)
    return filler


def can_mount(folder: Path) -> bool:
    """Whether this process may mount a file system."""
    try:
        with small_disk(folder / "trial", 0):
            return True
    except (subprocess.CalledProcessError, FileNotFoundError, PermissionError):
        return False
