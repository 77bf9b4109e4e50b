"""The address of a running project: the file that tells it to `transom status`, and names of this computer.

The file is in the state folder of the project. The process that has written it keeps it locked, so that a file that
is left after `kill -9` is known as such, also if another project has the address meanwhile.
"""

from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

from transom.connectors.private_files import make_folder, open_private
from transom.errors import Unavailable

ADDRESS_FILE = "serve.address"
"""The name of the file; names of queries, which name the other folders there, have no dot."""
_LONGEST = 1000


@contextmanager
def published_address(state: Path, address: str) -> Iterator[None]:
    """Keep an address in the state folder of a project during the block; raise OSError if it cannot be written.

    The file is readable only by its owner. If a later process has replaced it, it stays.
    """
    make_folder(state)
    file, temporary = state / ADDRESS_FILE, state / f"{ADDRESS_FILE}.{uuid4().hex}"
    with contextlib.ExitStack() as at_end:
        at_end.callback(temporary.unlink, missing_ok=True)
        handle = at_end.enter_context(open_private(temporary))
        handle.write(f"{address}\n".encode())
        handle.flush()
        fcntl.flock(handle, fcntl.LOCK_EX)
        os.replace(temporary, file)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(handle.fileno()), os.stat(file)):
                    file.unlink()


def read_address(state: Path, project: Path) -> str:
    """Return the address at which the project with this state folder is served; raise Unavailable if none is.

    `project` is the project's file, for messages.
    """
    file = state / ADDRESS_FILE
    hint = f"start it: transom serve {project.parent}; if it runs elsewhere, give its URL: transom status http://..."
    try:
        with file.open("rb") as handle:
            text = handle.read(_LONGEST).decode("ascii", "replace").strip()
            if not _is_locked(handle.fileno()):
                raise Unavailable(
                    f"`transom serve` of {project} has ended",
                    detail=f"it was killed, because {file} is still there",
                    hint=hint,
                )
    except FileNotFoundError:
        raise Unavailable(
            f"no `transom serve` answers for {project}", detail=f"there is no file {file}", hint=hint
        ) from None
    except OSError as error:
        raise Unavailable(f"cannot read {file}", detail=error.strerror, hint=hint) from error
    return text


def _is_locked(handle: int) -> bool:
    """Whether a process still holds the lock of an open file."""
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def reachable(address: str) -> str:
    """Return the URL of a server as programs on this computer write it: every address of it becomes a loopback one."""
    url = urlsplit(address)
    if not ipaddress.ip_address(url.hostname or "").is_unspecified:
        return address
    host = "[::1]" if ":" in (url.hostname or "") else "127.0.0.1"
    return f"{url.scheme}://{host}:{url.port}"


def is_loopback_name(host: str) -> bool:
    """Whether the name in a header `Host` is that of this computer: localhost or a loopback address, with any port."""
    name = host.strip().lower()
    if name.startswith("["):
        name = name[1:].partition("]")[0]
    elif name.count(":") <= 1:
        name = name.partition(":")[0]
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
