"""TLS settings, the same for every server: trusted authorities and our certificate. Servers are always verified."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.wording import quoted
from transom.catalog.schema.servers import TlsEntry
from transom.errors import UsageError

TLS_OPTIONS = ("ca", "certificate", "key")
"""The TLS options in the address of a sink."""


@dataclass(frozen=True, slots=True)
class Tls:
    """Paths of PEM files; without `ca`, the system's authorities are trusted.

    A `certificate` without a `key` contains both.
    """

    ca: str | None = None
    certificate: str | None = None
    key: str | None = None

    @property
    def key_file(self) -> str | None:
        """The file with the private key: `key`, or `certificate` if that contains both."""
        return self.key or self.certificate

    def check(self) -> None:
        """Raise UsageError if one of the certificate or key files cannot be read."""
        for name in TLS_OPTIONS:
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


def read_tls(entry: TlsEntry | None, at: Location, catalog_folder: Path | None) -> Tls | None:
    """Read the `tls` entry of a catalog, whose paths start from `catalog_folder`; raise EntryError if it is invalid."""
    if entry is None:
        return None
    for name in TLS_OPTIONS:
        path = getattr(entry, name)
        if path is not None and (not path or "\0" in path or "-----BEGIN" in path):
            raise EntryError(f"{quoted(path)} is not a path", at.then(name), "write the path of a PEM file")
    if entry.key is not None and entry.certificate is None:
        raise EntryError(
            "a key needs a certificate", at.then("key").at_key(), "name the certificate: certificate: PATH"
        )
    return Tls(*(_resolve_path(getattr(entry, name), catalog_folder) for name in TLS_OPTIONS))


def tls_from_options(options: Mapping[str, str]) -> Tls | None:
    """Return the TLS settings among the options of a sink address; None if there are none."""
    files = {name: value for name, value in options.items() if name in TLS_OPTIONS}
    if "key" in files and "certificate" not in files:
        raise UsageError("a key needs a certificate", hint="add certificate=PATH")
    return Tls(**files) if files else None


def client_context(tls: Tls | None) -> ssl.SSLContext:
    """Create the SSL context for outgoing connections, which verifies servers; `tls` None means default settings.

    These are the system's certificate authorities, and no client key.
    """
    tls = tls or Tls()
    tls.check()
    try:
        context = ssl.create_default_context(cafile=tls.ca)
        if tls.certificate is not None:
            context.load_cert_chain(tls.certificate, tls.key_file, password=_no_passphrase)
    except (ssl.SSLError, ValueError) as error:
        raise _unusable_tls(tls, error) from None
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def server_context(tls: Tls) -> ssl.SSLContext:
    """Create the SSL context for incoming connections; if `tls.ca` is set, clients need a certificate issued by it."""
    tls.check()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(tls.certificate or "", tls.key_file, password=_no_passphrase)
        if tls.ca is not None:
            context.load_verify_locations(tls.ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (ssl.SSLError, ValueError) as error:
        raise _unusable_tls(tls, error) from None
    return context


def error_text(error: BaseException) -> str:
    """Return the message of an exception for users; for a failed TLS handshake, return the reason of the failure.

    The exception of the handshake may be wrapped in another one.
    """
    certificate_error = refused_certificate(error)
    if certificate_error is not None:
        return f"the certificate of the server is refused: {certificate_error.verify_message}".rstrip(".")
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {(error.reason or str(error)).lower().replace('_', ' ')}"
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def refused_certificate(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    """Return the certificate error among an exception's causes, or None; after one, retrying is pointless."""
    for _ in range(10):
        if error is None or isinstance(error, ssl.SSLCertVerificationError):
            return error
        error = error.__cause__ or error.__context__
    return None


def _resolve_path(path: str | None, catalog_folder: Path | None) -> str | None:
    """Return a path relative to `catalog_folder` (None: working directory); None if the path is None."""
    return None if path is None else str((catalog_folder or Path()) / path)


def _no_passphrase() -> str:
    """Raise ValueError, as a key has a passphrase; OpenSSL calls this instead of prompting on the terminal."""
    raise ValueError("the key has a passphrase")


def _unusable_tls(tls: Tls, error: Exception) -> UsageError:
    """Return the error for certificate or key files that OpenSSL cannot use."""
    named = ", ".join(path for path in (tls.ca, tls.certificate, tls.key) if path is not None)
    return UsageError(
        f"cannot use {named} for TLS", detail=error_text(error), hint="give PEM files, and a key without a passphrase"
    )
