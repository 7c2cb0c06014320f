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

from model_server.c2pa.credentials import read_credentials
from model_server.c2pa.manifest import Credentials

KEYS: dict[str, Any] = {
    'ed25519': ed25519.Ed25519PrivateKey.generate,
    'p256': lambda: ec.generate_private_key(ec.SECP256R1()),
    'p384': lambda: ec.generate_private_key(ec.SECP384R1()),
    'p521': lambda: ec.generate_private_key(ec.SECP521R1()),
    'p256k': lambda: ec.generate_private_key(ec.SECP256K1()),
    'rsa': lambda: rsa.generate_private_key(65537, 2048),
}


def usage(**allowed: bool) -> x509.KeyUsage:
    """Of a key that is for nothing else."""
    names = (
        'digital_signature',
        'content_commitment',
        'key_encipherment',
        'data_encipherment',
        'key_agreement',
    )
    others = 'key_cert_sign', 'crl_sign', 'encipher_only', 'decipher_only'
    return x509.KeyUsage(**dict.fromkeys((*names, *others), False) | allowed)


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
    extensions = [x509.BasicConstraints(True, None), usage(key_cert_sign=True)]
    return Authority(key, _certify('A root', key, key, extensions))


def make_signer(
    authority: Authority,
    kind: str = 'ed25519',
    *,
    usage: x509.KeyUsage | None = usage(digital_signature=True),  # noqa: B008
    purposes: Sequence[x509.ObjectIdentifier] | None = (ExtendedKeyUsageOID.EMAIL_PROTECTION,),
    is_authority: bool = False,
    names_issuer: bool = True,
    days: tuple[float, float] = (-1, 30),
) -> tuple[x509.Certificate, Any]:
    """A certificate as C2PA wants it, or not, and its key."""
    key = KEYS[kind]()
    extensions: list[x509.ExtensionType] = [x509.BasicConstraints(is_authority, None)]
    if usage is not None:
        extensions.append(usage)
    if purposes is not None:
        extensions.append(x509.ExtendedKeyUsage(purposes))
    if names_issuer:
        extensions.append(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key()))
    return _certify('A signer', key, authority.key, extensions, days), key


def _certify(
    subject: str,
    key: Any,
    issuer_key: Any,
    extensions: Sequence[x509.ExtensionType],
    days: tuple[float, float] = (-1, 30),
) -> x509.Certificate:
    begin, end = (datetime.now(UTC) + timedelta(days=day) for day in days)
    builder = (
        x509.CertificateBuilder(_named('A root'), _named(subject), key.public_key())
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


def credentials_of(folder: Path, authority: Authority, kind: str = 'ed25519') -> Credentials:
    """Of a new signer."""
    certificate, key = make_signer(authority, kind)
    return read_credentials(write_certificates(folder, certificate), write_key(folder, key))
