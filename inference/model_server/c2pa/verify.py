"""Whether a file was signed with the operator's certificate, without its key."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding

from ..contract import OutputFormat
from ..marks import SoftBinding
from ..settings import SettingsError
from .containers import make_room, place_of
from .credentials import CURVES, EDDSA, read_chain
from .manifest import Credentials, sign_file


@dataclass(frozen=True)
class Verifier:
    """Knows a certificate, which may have ended since it signed."""

    credentials: Credentials
    #: A signature, and what it is of. Raises InvalidSignature.
    verify: Callable[[bytes, bytes], None]

    def is_signed(
        self, file: bytes, output_format: OutputFormat, software: str, mark: SoftBinding | None
    ) -> bool:
        """Whether `sign_file` makes this very file, with the signature that is in it."""
        begin = place_of(file, output_format)
        if output_format == 'webp':
            begin = file.rfind(b'C2PA')
            end = signature_end = len(file)
        elif output_format == 'png':
            signature_end = begin + 8 + int.from_bytes(file[begin : begin + 4], 'big')
            end = signature_end + 4
        else:
            end = signature_end = begin + 2 + int.from_bytes(file[begin + 2 : begin + 4], 'big')
        signature = file[signature_end - self.credentials.signature_bytes : signature_end]

        def sign(message: bytes) -> bytes:
            self.verify(signature, message)
            return signature

        unsigned = make_room(file[:begin] + file[end:], output_format, 0)
        credentials = replace(self.credentials, sign=sign)
        try:
            return sign_file(unsigned, output_format, software, credentials, mark) == file
        except InvalidSignature:
            return False


def read_verifier(certificate_file: Path) -> Verifier:
    """Of the first certificate. Raises SettingsError."""
    chain = read_chain(certificate_file)
    key = chain[0].public_key()
    verify: Callable[[bytes, bytes], None]
    if isinstance(key, Ed25519PublicKey):
        algorithm, half, verify = EDDSA, 32, key.verify
    elif isinstance(key, EllipticCurvePublicKey) and type(key.curve) in CURVES:
        algorithm, digest, half = CURVES[type(key.curve)]

        def verify_ecdsa(signature: bytes, message: bytes) -> None:
            numbers = (int.from_bytes(part, 'big') for part in (signature[:half], signature[half:]))
            key.verify(encode_dss_signature(*numbers), message, ECDSA(digest))

        verify = verify_ecdsa
    else:
        raise SettingsError('C2PA_CERTIFICATE must have a key of a kind that the server signs with.')
    certificates = [certificate.public_bytes(Encoding.DER) for certificate in chain]
    ends = chain[0].not_valid_after_utc
    return Verifier(Credentials(certificates, algorithm, ends, 2 * half, bytes), verify)
