"""Certificates for tests, made anew in each run."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

KEYS: dict[str, Any] = {
    'ed25519': ed25519.Ed25519PrivateKey.generate,
    'p256': lambda: ec.generate_private_key(ec.SECP256R1()),
    'p384': lambda: ec.generate_private_key(ec.SECP384R1()),
    'p521': lambda: ec.generate_private_key(ec.SECP521R1()),
    'p256k': lambda: ec.generate_private_key(ec.SECP256K1()),
    'rsa': lambda: rsa.generate_private_key(65537, 2048),
}
SIGNATURES_ONLY = x509.KeyUsage(True, False, False, False, False, False, False, False, False)
KEYS_ONLY = x509.KeyUsage(False, False, True, False, False, False, False, False, False)
CERTIFICATES_ONLY = x509.KeyUsage(False, False, False, False, False, True, False, False, False)


@dataclass(frozen=True)
class Authority:
    """Issues signers' certificates."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()


def make_authority() -> Authority:
    """A root."""
    key = ec.generate_private_key(ec.SECP256R1())
    extensions = [x509.BasicConstraints(True, None), CERTIFICATES_ONLY]
    return Authority(key, _certify('A root', key, 'A root', key, extensions))


def make_signer(
    authority: Authority,
    kind: str = 'ed25519',
    *,
    key: Any = None,
    usage: x509.KeyUsage | None = SIGNATURES_ONLY,
    purposes: Sequence[x509.ObjectIdentifier] | None = (ExtendedKeyUsageOID.EMAIL_PROTECTION,),
    is_authority: bool = False,
    names_issuer: bool = True,
    days: tuple[float, float] = (-1, 30),
) -> tuple[x509.Certificate, Any]:
    """A certificate as C2PA wants it, or not, and its key."""
    key = key or KEYS[kind]()
    extensions: list[x509.ExtensionType] = [x509.BasicConstraints(is_authority, None)]
    if usage is not None:
        extensions.append(usage)
    if purposes is not None:
        extensions.append(x509.ExtendedKeyUsage(purposes))
    if names_issuer:
        extensions.append(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()))
    return _certify('A signer', key, 'A root', authority.key, extensions, days), key


def _certify(
    subject: str,
    key: Any,
    issuer: str,
    issuer_key: Any,
    extensions: Sequence[x509.ExtensionType],
    days: tuple[float, float] = (-1, 30),
) -> x509.Certificate:
    begin, end = (datetime.now(UTC) + timedelta(days=day) for day in days)
    builder = (
        x509.CertificateBuilder()
        .subject_name(_named(subject))
        .issuer_name(_named(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(end)
    )
    for extension in extensions:
        critical = not isinstance(extension, x509.AuthorityKeyIdentifier | x509.ExtendedKeyUsage)
        builder = builder.add_extension(extension, critical)
    return builder.sign(issuer_key, hashes.SHA256())


def _named(name: str) -> x509.Name:
    organization = x509.NameAttribute(NameOID.ORGANIZATION_NAME, 'Tests')
    return x509.Name([organization, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def write_certificates(folder: Path, *certificates: x509.Certificate) -> Path:
    """One file in PEM."""
    file = folder / 'certificates.pem'
    file.write_bytes(b''.join(each.public_bytes(Encoding.PEM) for each in certificates))
    return file


def write_key(folder: Path, key: Any, password: bytes | None = None) -> Path:
    """A file in PEM."""
    encryption = BestAvailableEncryption(password) if password else NoEncryption()
    file = folder / 'key.pem'
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    return file
