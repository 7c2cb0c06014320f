"""The operator's certificate and key, checked before the first image needs them."""

from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    SECP384R1,
    SECP521R1,
    EllipticCurve,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID

from ..settings import SettingsError
from .manifest import Credentials, Sign, Verify

# All of it is in every image.
_LARGEST_CHAIN_BYTES = 16 * 1024
# By curve: the algorithm's number in COSE (RFC 9053), its hash, and the bytes of half a signature.
_CURVES: dict[type[EllipticCurve], tuple[int, hashes.HashAlgorithm, int]] = {
    SECP256R1: (-7, hashes.SHA256(), 32),
    SECP384R1: (-35, hashes.SHA384(), 48),
    SECP521R1: (-36, hashes.SHA512(), 66),
}
_EDDSA = -8
#: What the certificate may be for: to sign claims of C2PA, e-mail or documents (C2PA 2.3, 14.5.1).
_PURPOSES = {
    x509.ObjectIdentifier('1.3.6.1.4.1.62558.2.1'),
    ExtendedKeyUsageOID.EMAIL_PROTECTION,
    x509.ObjectIdentifier('1.3.6.1.5.5.7.3.36'),
}


def read_credentials(certificate_file: Path | None, key_file: Path | None) -> Credentials:
    """
    Reads the files that C2PA_CERTIFICATE and C2PA_PRIVATE_KEY name. Raises SettingsError.

    Its message repeats neither contents nor names: by mistake a name may be the key itself.
    """
    if certificate_file is None or key_file is None:
        raise SettingsError('C2PA_CERTIFICATE and C2PA_PRIVATE_KEY need each other: set both, or none.')
    chain = _read_chain(certificate_file)
    key = _read_key(_read(key_file, 'C2PA_PRIVATE_KEY'))
    if not _belongs(key, chain[0]):
        raise SettingsError('C2PA_PRIVATE_KEY is not the key of the first certificate in C2PA_CERTIFICATE.')
    check_certificate(chain[0], datetime.now(UTC))
    ends = chain[0].not_valid_after_utc
    certificates = [certificate.public_bytes(Encoding.DER) for certificate in chain]
    if isinstance(key, Ed25519PrivateKey):
        return Credentials(certificates, _EDDSA, ends, 64, key.sign)
    algorithm, _, half = _CURVES[type(key.curve)]
    return Credentials(certificates, algorithm, ends, 2 * half, _ecdsa(key))


def read_verifier(certificate_file: Path) -> tuple[Credentials, Verify]:
    """For `is_signed`, without a key: the certificate may have ended. Raises SettingsError."""
    chain = _read_chain(certificate_file)
    key = chain[0].public_key()
    if isinstance(key, Ed25519PublicKey):
        algorithm, half = _EDDSA, 32
    elif isinstance(key, EllipticCurvePublicKey) and type(key.curve) in _CURVES:
        algorithm, digest, half = _CURVES[type(key.curve)]
    else:
        raise SettingsError('C2PA_CERTIFICATE must have a key of a kind that the server signs with.')

    def verify(signature: bytes, message: bytes) -> bool:
        try:
            if isinstance(key, Ed25519PublicKey):
                key.verify(signature, message)
            else:
                numbers = (int.from_bytes(part) for part in (signature[:half], signature[half:]))
                key.verify(encode_dss_signature(*numbers), message, ECDSA(digest))
        except InvalidSignature:
            return False
        return True

    certificates = [certificate.public_bytes(Encoding.DER) for certificate in chain]
    return Credentials(certificates, algorithm, chain[0].not_valid_after_utc, 2 * half, bytes), verify


def _belongs(key: Ed25519PrivateKey | EllipticCurvePrivateKey, certificate: x509.Certificate) -> bool:
    try:
        return key.public_key() == certificate.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return False


def _read(file: Path, name: str) -> bytes:
    try:
        return file.read_bytes()
    except (OSError, ValueError):
        raise SettingsError(f'{name} must be the path of a file that the server can read.') from None


def _read_chain(certificate_file: Path) -> list[x509.Certificate]:
    """The certificates in the file of C2PA_CERTIFICATE. Raises SettingsError."""
    pem = _read(certificate_file, 'C2PA_CERTIFICATE')
    try:
        chain = x509.load_pem_x509_certificates(pem)
    except ValueError:
        raise SettingsError('C2PA_CERTIFICATE must hold certificates in PEM.') from None
    try:
        for certificate, issuer in pairwise(chain):
            certificate.verify_directly_issued_by(issuer)
    except (InvalidSignature, TypeError, ValueError, UnsupportedAlgorithm):
        raise SettingsError('C2PA_CERTIFICATE must hold after each certificate that of its issuer.') from None
    if sum(len(certificate.public_bytes(Encoding.DER)) for certificate in chain) > _LARGEST_CHAIN_BYTES:
        raise SettingsError('C2PA_CERTIFICATE must hold at most 16 KiB, because all of it is in every image.')
    return chain


def _read_key(pem: bytes) -> Ed25519PrivateKey | EllipticCurvePrivateKey:
    try:
        key = load_pem_private_key(pem, None)
    except TypeError:
        raise SettingsError('C2PA_PRIVATE_KEY must not be encrypted.') from None
    except (ValueError, UnsupportedAlgorithm):
        raise SettingsError('C2PA_PRIVATE_KEY must hold a private key in PEM.') from None
    if isinstance(key, Ed25519PrivateKey):
        return key
    if isinstance(key, EllipticCurvePrivateKey) and type(key.curve) in _CURVES:
        return key
    raise SettingsError(
        'C2PA_PRIVATE_KEY must be an Ed25519 key, or one on the curve P-256, P-384 or P-521.'
        ' With others, such as RSA, the same request would not give the same bytes.'
    )


def check_certificate(certificate: x509.Certificate, now: datetime) -> None:
    """What C2PA asks of a signer's certificate (C2PA 2.3, 14.5.1). Raises SettingsError."""
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if not begin <= now <= end:
        dates = f'from {begin.date()} to {end.date()}'
        raise SettingsError(f'C2PA_CERTIFICATE is valid {dates}, and that is not now.')
    try:
        extensions = {each.oid: each.value for each in certificate.extensions}
    except (ValueError, x509.DuplicateExtension):
        raise SettingsError('C2PA_CERTIFICATE has extensions that cannot be read.') from None
    constraints = extensions.get(x509.BasicConstraints.oid)
    usage = extensions.get(x509.KeyUsage.oid)
    purposes = extensions.get(x509.ExtendedKeyUsage.oid)
    for kept, rule in (
        (not getattr(constraints, 'ca', False), "must be a signer's, not an authority's"),
        (x509.AuthorityKeyIdentifier.oid in extensions, 'must name its issuer in authorityKeyIdentifier'),
        (getattr(usage, 'digital_signature', False), 'must have digitalSignature in keyUsage'),
        (
            isinstance(purposes, x509.ExtendedKeyUsage)
            and _PURPOSES.intersection(purposes)
            and ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE not in purposes,
            'must have emailProtection, documentSigning or 1.3.6.1.4.1.62558.2.1 (C2PA) in extendedKeyUsage',
        ),
    ):
        if not kept:
            raise SettingsError(f'C2PA_CERTIFICATE {rule}.')


def _ecdsa(key: EllipticCurvePrivateKey) -> Sign:
    """Signatures as COSE has them. Their random number is made of key and message (RFC 6979)."""
    _, digest, half = _CURVES[type(key.curve)]
    method = ECDSA(digest, deterministic_signing=True)

    def sign(message: bytes) -> bytes:
        return b''.join(
            number.to_bytes(half, 'big') for number in decode_dss_signature(key.sign(message, method))
        )

    return sign
