"""Check the state files of a checkpoint where Spark's own messages name neither the file nor the remedy.

Spark records full paths of its state's schemas, so a moved checkpoint is refused before a start. If Spark cannot load a
state, the damaged changelog is found by reading all of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark import SparkContext

from transom.errors import CheckpointError
from transom.runtime.checkpoint.logs.spark_files import SparkFolder


def check_not_moved(files: SparkFolder) -> None:
    """Raise CheckpointError if a state schema is missing at the full path that Spark has recorded for it."""
    for name in _metadata_files(files):
        for path in _schema_paths(files.read(name)):
            if not os.path.exists(path):
                before = path.partition("/state/")[0]
                raise CheckpointError(
                    f"{path} is missing, which {files.path(name)} names",
                    detail="Spark records full paths in the state, so the checkpoint cannot be used in another folder",
                    hint=f"put the checkpoint back, so that this folder of Spark is {before} again, or start with a "
                    "new checkpoint",
                )


def _metadata_files(files: SparkFolder) -> Iterator[str]:
    """Yield the name of each stateful operator's newest metadata file of format 2; format 1 has no paths."""
    for operator in files.entries("state"):
        folder = f"state/{operator}/_metadata/v2"
        if operator.isdecimal():
            numbers = [int(name) for name in files.entries(folder) if name.isdecimal()]
            if numbers:
                yield f"{folder}/{max(numbers)}"


def _schema_paths(content: bytes) -> Iterator[str]:
    """Yield the local paths of schemas in the description of a stateful operator; none if it is not as expected."""
    try:
        stores: Any = json.loads(content.partition(b"\n")[2])["stateStoreInfo"]
        locations = [str(path) for store in stores for path in store.get("stateSchemaFilePaths", ())]
    except (ValueError, KeyError, TypeError, AttributeError):
        return  # Spark reports a damaged state itself
    for location in locations:
        parts = urlsplit(location)
        if parts.scheme in ("", "file"):
            yield unquote(parts.path)


def find_damaged_changelog(state: Path) -> Path | None:
    """Return the first changelog below a local folder of state that cannot be decompressed; None if there is none.

    None also over Spark Connect, where this process has no JVM that could read the files.
    """
    jvm: Any = SparkContext._jvm
    if jvm is None:
        return None
    return next((file for file in sorted(state.rglob("*.changelog")) if not _is_readable(jvm, file)), None)


def _is_readable(jvm: Any, file: Path) -> bool:
    """Whether a changelog, which Spark compresses with LZ4 by default, is whole; its blocks have checksums."""
    stream = jvm.java.io.FileInputStream(str(file))
    try:
        jvm.org.apache.commons.io.IOUtils.consume(jvm.net.jpountz.lz4.LZ4BlockInputStream(stream))
    except Py4JJavaError:
        return False
    finally:
        stream.close()
    return True
