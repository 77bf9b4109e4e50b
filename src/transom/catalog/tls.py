"""TLS, the same for every server: which authorities are trusted, and which certificate is shown. Always verified."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from transom.catalog.places import At, Misfit
from transom.catalog.server_shapes import TlsEntry
from transom.catalog.wording import quoted
from transom.errors import UsageError

NAMES = ("ca", "certificate", "key")
"""What the address of a sink may say of TLS."""


@dataclass(frozen=True, slots=True)
class Tls:
    """Paths of PEM files; without a `ca` the authorities of the system are trusted.

    A `certificate` without a `key` is a file that holds both.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None

    @property
    def key_file(self) -> str | None:
        """The file that holds the private key."""
        return self.key or self.certificate

    def check(self) -> None:
        """UsageError if a file cannot be read."""
        for name in NAMES:
            path = getattr(self, name)
            if path is None:
                continue
            try:
                with open(path, "rb"):
                    pass
            except OSError as error:
                raise UsageError(
                    f"cannot read {path}", detail=error.strerror, hint=f"it is named as {name} of TLS"
                ) from None


def read_tls(entry: TlsEntry | None, at: At, folder: Path | None) -> Tls | None:
    """What an entry says; paths are relative to the catalog."""
    if entry is None:
        return None
    for name in NAMES:
        path = getattr(entry, name)
        if path is not None and (not path or "\0" in path or "-----BEGIN" in path):
            raise Misfit(f"{quoted(path)} is not a path", at.then(name), "write the path of a PEM file")
    if entry.key is not None and entry.certificate is None:
        raise Misfit("a key without a certificate", at.then("key").at_key(), "name the certificate: certificate: PATH")
    return Tls(*(_placed(getattr(entry, name), folder) for name in NAMES))


def tls_of(options: Mapping[str, str]) -> Tls | None:
    """What the options of an address say; None if nothing."""
    found = {name: value for name, value in options.items() if name in NAMES}
    if "key" in found and "certificate" not in found:
        raise UsageError("a key without a certificate", hint="add certificate=PATH")
    return Tls(**found) if found else None


def client_context(tls: Tls | None) -> ssl.SSLContext:
    """For connections that we make: certificate and host name of the server are checked."""
    tls = tls or Tls()
    tls.check()
    try:
        context = ssl.create_default_context(cafile=tls.ca)
        if tls.certificate is not None:
            context.load_cert_chain(tls.certificate, tls.key_file, password=_no_passphrase)
    except (ssl.SSLError, ValueError) as error:
        raise _unusable(tls, error) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def server_context(tls: Tls) -> ssl.SSLContext:
    """For connections that others make; with a `ca`, those who connect must show a certificate of it."""
    tls.check()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(tls.certificate or "", tls.key_file, password=_no_passphrase)
        if tls.ca is not None:
            context.load_verify_locations(tls.ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (ssl.SSLError, ValueError) as error:
        raise _unusable(tls, error) from None
    return context


def told(error: BaseException) -> str:
    """What an error of a library says; of a failed handshake, wherever it is wrapped, what was wrong with it."""
    found = refused_certificate(error)
    if found is not None:
        return f"the certificate of the server is refused: {found.verify_message}".rstrip(".")
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {(error.reason or str(error)).lower().replace('_', ' ')}"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def refused_certificate(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    """The refusal of a server's certificate that an error comes from; to try again does not help against it."""
    for _ in range(10):
        if error is None or isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _placed(path: str | None, folder: Path | None) -> str | None:
    return None if path is None else str((folder or Path()) / path)


def _no_passphrase() -> str:
    """Keys are protected by the modes of their files; without this OpenSSL would ask on the terminal."""
    raise ValueError("the key has a passphrase")


def _unusable(tls: Tls, error: Exception) -> UsageError:
    named = ", ".join(path for path in (tls.ca, tls.certificate, tls.key) if path is not None)
    return UsageError(
        f"cannot use {named} for TLS", detail=told(error), hint="give PEM files, and a key without a passphrase"
    )
