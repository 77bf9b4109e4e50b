"""OPC UA, signed and encrypted: our certificate, and a look at that of the server before anything is sent to it.

OPC UA has secure channels of its own instead of TLS, with the same certificates. A server is trusted if its
certificate is one of those that `ca` names, or is issued by one of them, is valid now and is for the host of the
address.
"""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.catalog.extras import needed
from transom.catalog.tls import Tls

if TYPE_CHECKING:
    from cryptography.x509 import Certificate


async def secure(client: Any, tls: Tls) -> None:
    """Let a client sign and encrypt with Basic256Sha256; SSLCertVerificationError if the server is not to be trusted.

    The channel works with the very key of the certificate that was checked, so nobody else can answer for the server.
    """
    asyncua = needed("asyncua", "opcua")
    policies = needed("asyncua.crypto.security_policies", "opcua")
    crypto = needed("asyncua.crypto.uacrypto", "opcua")
    x509 = needed("cryptography.x509", "opcua")
    mode, policy = asyncua.ua.MessageSecurityMode.SignAndEncrypt, policies.SecurityPolicyBasic256Sha256
    endpoints = await client.connect_and_get_server_endpoints()
    found = client.find_endpoint(endpoints, mode, policy.URI).ServerCertificate
    shown = _first(found)
    check_certificate(x509.load_der_x509_certificate(shown), trusted(tls), str(client.server_url.hostname))
    own = x509.load_pem_x509_certificate(Path(tls.certificate or "").read_bytes())
    names = _names(own)
    uris = names.get_values_for_type(x509.UniformResourceIdentifier) if names is not None else []
    if uris:
        client.application_uri = uris[0]  # servers compare it with the certificate
    await client.set_security(
        policy,
        certificate=crypto.CertProperties(tls.certificate, extension="pem"),
        private_key=crypto.CertProperties(tls.key_file, extension="pem"),
        server_certificate=crypto.CertProperties(shown, extension="der"),
        mode=mode,
    )


def trusted(tls: Tls) -> list[Certificate]:
    """The certificates of authorities, or of servers themselves."""
    x509 = needed("cryptography.x509", "opcua")
    found: list[Certificate] = x509.load_pem_x509_certificates(Path(tls.ca or "").read_bytes())
    return found


def check_certificate(shown: Certificate, known: list[Certificate], host: str, now: datetime | None = None) -> None:
    """SSLCertVerificationError, in the words that OpenSSL has, unless a certificate is one for this host and time."""
    now = now or datetime.now(UTC)
    issuer = next((one for one in known if one == shown or _issued(shown, one)), None)
    if issuer is None:
        raise _refused("unable to get local issuer certificate")
    for one in (shown, issuer):
        if now > one.not_valid_after_utc:
            raise _refused("certificate has expired")
        if now < one.not_valid_before_utc:
            raise _refused("certificate is not yet valid")
    if not _is_for(shown, host):
        raise _refused(f"Hostname mismatch, certificate is not valid for '{host}'")


def _issued(shown: Certificate, by: Certificate) -> bool:
    x509 = needed("cryptography.x509", "opcua")
    invalid = needed("cryptography.exceptions", "opcua").InvalidSignature
    try:
        shown.verify_directly_issued_by(by)
        return bool(by.extensions.get_extension_for_class(x509.BasicConstraints).value.ca)
    except (invalid, ValueError, TypeError, x509.ExtensionNotFound):
        return False


def _names(certificate: Certificate) -> Any:
    """The names that a certificate is for; None if it says none."""
    x509 = needed("cryptography.x509", "opcua")
    try:
        return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return None


def _is_for(certificate: Certificate, host: str) -> bool:
    x509 = needed("cryptography.x509", "opcua")
    names = _names(certificate)
    if names is None:
        return False
    try:
        return ip_address(host) in names.get_values_for_type(x509.IPAddress)
    except ValueError:
        return host.lower() in [name.lower() for name in names.get_values_for_type(x509.DNSName)]


def _first(chain: bytes) -> bytes:
    """The first certificate of a chain: a server may send those of its authorities after its own."""
    if chain[:2] != b"\x30\x82":
        return chain
    return chain[: 4 + int.from_bytes(chain[2:4], "big")]


def _refused(words: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, words)
    error.verify_message = words
    return error
