"""Sign and encrypt OPC UA connections, and verify the server's certificate before sending anything.

OPC UA has its own secure channels instead of TLS, with the same certificates. A server is trusted if its certificate
is listed in `ca` or issued by a certificate in it, is currently valid, and is for the host of the address.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.catalog.extras import require_library
from transom.catalog.tls import Tls

if TYPE_CHECKING:
    from cryptography.x509 import Certificate


async def secure_client(client: Any, tls: Tls) -> None:
    """Make an OPC UA client sign and encrypt; raise SSLCertVerificationError if the server cannot be trusted.

    The policy is Basic256Sha256. The channel uses the key of the verified certificate, so nobody else can answer for
    the server.
    """
    asyncua = require_library("asyncua", "opcua")
    policies = require_library("asyncua.crypto.security_policies", "opcua")
    crypto = require_library("asyncua.crypto.uacrypto", "opcua")
    x509 = require_library("cryptography.x509", "opcua")
    mode, policy = asyncua.ua.MessageSecurityMode.SignAndEncrypt, policies.SecurityPolicyBasic256Sha256
    endpoints = await client.connect_and_get_server_endpoints()
    certificate_chain = client.find_endpoint(endpoints, mode, policy.URI).ServerCertificate
    server_certificate = _first_certificate(certificate_chain)
    check_certificate(
        x509.load_der_x509_certificate(server_certificate), trusted_certificates(tls), str(client.server_url.hostname)
    )
    client_certificate = x509.load_pem_x509_certificate(Path(tls.certificate or "").read_bytes())
    names = _names(client_certificate)
    uris = names.get_values_for_type(x509.UniformResourceIdentifier) if names is not None else []
    if uris:
        client.application_uri = uris[0]  # servers compare it with the certificate
    await client.set_security(
        policy,
        certificate=crypto.CertProperties(tls.certificate, extension="pem"),
        private_key=crypto.CertProperties(tls.key_file, extension="pem"),
        server_certificate=crypto.CertProperties(server_certificate, extension="der"),
        mode=mode,
    )


def trusted_certificates(tls: Tls) -> list[Certificate]:
    """Read the certificates in the declared file `ca`: those of certificate authorities, or of servers themselves."""
    x509 = require_library("cryptography.x509", "opcua")
    certificates: list[Certificate] = x509.load_pem_x509_certificates(Path(tls.ca or "").read_bytes())
    return certificates


def check_certificate(
    certificate: Certificate, trusted: list[Certificate], host: str, now: datetime | None = None
) -> None:
    """Raise SSLCertVerificationError unless a certificate is trusted, for `host`, and valid `now` (None: current time).

    The messages are those of OpenSSL. `now` is the current time by default.
    """
    now = now or datetime.now(UTC)
    issuer = next(
        (authority for authority in trusted if certificate == authority or _is_issued_by(certificate, authority)), None
    )
    if issuer is None:
        raise _verification_error("unable to get local issuer certificate")
    for checked in (certificate, issuer):
        if now > checked.not_valid_after_utc:
            raise _verification_error("certificate has expired")
        if now < checked.not_valid_before_utc:
            raise _verification_error("certificate is not yet valid")
    if not _is_for_host(certificate, host):
        raise _verification_error(f"Hostname mismatch, certificate is not valid for '{host}'")


def _is_issued_by(certificate: Certificate, authority: Certificate) -> bool:
    """Whether a certificate is signed by `authority`, and `authority` may sign certificates."""
    x509 = require_library("cryptography.x509", "opcua")
    invalid = require_library("cryptography.exceptions", "opcua").InvalidSignature
    try:
        certificate.verify_directly_issued_by(authority)
        return bool(authority.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
    except (invalid, ValueError, TypeError, x509.ExtensionNotFound):
        return False


def _names(certificate: Certificate) -> Any:
    """Return the extension with a certificate's subject alternative names; None if the certificate has none."""
    x509 = require_library("cryptography.x509", "opcua")
    try:
        return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return None


def _is_for_host(certificate: Certificate, host: str) -> bool:
    """Whether a certificate's subject alternative names include this host name or IP address."""
    x509 = require_library("cryptography.x509", "opcua")
    names = _names(certificate)
    if names is None:
        return False
    try:
        return ip_address(host) in names.get_values_for_type(x509.IPAddress)
    except ValueError:
        return host.lower() in [name.lower() for name in names.get_values_for_type(x509.DNSName)]


def _first_certificate(chain: bytes) -> bytes:
    """Return the server's certificate, which is the first in a concatenated chain of certificates in DER."""
    if chain[:2] != b"\x30\x82":
        return chain
    return chain[: 4 + int.from_bytes(chain[2:4], "big")]


def _verification_error(message: str) -> ssl.SSLCertVerificationError:
    """Build an SSLCertVerificationError that looks like one of OpenSSL, with this message."""
    error = ssl.SSLCertVerificationError(1, message)
    error.verify_message = message
    return error
