"""
A manifest: assertions about a file, a claim that lists them, and its signature.

All of it follows from the file, the model's version and the certificate. There is no time in it, nothing
random, and nothing of who asked for the image.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from ..contract import OutputFormat
from ..marks import SoftBinding
from ..xmp import MADE_BY_A_MODEL
from .containers import make_room, place_of, wrap
from .encoding import Tagged, Value, box, content_of, encode, labelled_box

GENERATOR: Value = {'name': 'Image Generation Service', 'version': '1.0.0'}

_ACTIONS, _DATA_HASH, _SOFT_BINDING = 'c2pa.actions.v2', 'c2pa.hash.data', 'c2pa.soft-binding'
# COSE (RFC 9052, RFC 9360): a tag, and the numbers of two header parameters.
_COSE_SIGN1, _ALGORITHM, _CERTIFICATES = 18, 1, 33

Sign = Callable[[bytes], bytes]
#: Whether a signature is that of a message.
Verify = Callable[[bytes, bytes], bool]


@dataclass(frozen=True)
class Credentials:
    """Who signs. The same bytes always get the same signature."""

    #: DER, each signed by the next; the first is the signer's.
    certificates: Sequence[bytes]
    #: The algorithm's number in COSE.
    algorithm: int
    #: When the first certificate's validity ends. Without a timestamp its signatures count until then.
    ends: datetime
    #: The length of every signature.
    signature_bytes: int
    sign: Sign = field(repr=False)


def sign_file(
    file: bytes,
    output_format: OutputFormat,
    software: str,
    credentials: Credentials,
    mark: SoftBinding | None = None,
) -> bytes:
    """
    The file with a manifest that says that `software`, a model, made it, and with which mark. Until then it
    must have none.
    """
    place = place_of(file, output_format)

    def part(length: int, pad: bytes, digest: bytes, sign: Sign) -> bytes:
        assertions = {_ACTIONS: _actions(software, mark), _DATA_HASH: _data_hash(place, length, pad, digest)}
        if mark is not None:
            assertions[_SOFT_BINDING] = _soft_binding(mark)
        return wrap(_store(assertions, digest, credentials, sign), output_format)

    length, pad = _settle(
        lambda length, pad: len(part(length, pad, bytes(32), lambda _: bytes(credentials.signature_bytes)))
    )
    rest = make_room(file, output_format, length)
    digest = hashlib.sha256(rest).digest()
    return rest[:place] + part(length, pad, digest, credentials.sign) + rest[place:]


def is_signed(
    file: bytes,
    output_format: OutputFormat,
    software: str,
    credentials: Credentials,
    verify: Verify,
) -> bool:
    """
    Whether `sign_file` made this very file of these, with whichever mark: with the signature that is in it,
    the same comes again. `credentials.sign` is not called.
    """
    begin = file.rfind(b'C2PA') if output_format == 'webp' else place_of(file, output_format)
    head = file[begin : begin + 4]
    lengths = {'png': 12 + int.from_bytes(head), 'jpeg': 2 + int.from_bytes(head[2:])}
    end = begin + lengths.get(output_format, len(file) - begin)
    signature_end = end - 4 if output_format == 'png' else end
    signature = file[signature_end - credentials.signature_bytes : signature_end]
    signed: list[bytes] = []

    def sign(message: bytes) -> bytes:
        signed.append(message)
        return signature

    unsigned = make_room(file[:begin] + file[end:], output_format, 0)
    again = sign_file(unsigned, output_format, software, replace(credentials, sign=sign), _named_mark(file))
    return again == file and verify(signature, signed[0])


def _named_mark(file: bytes) -> SoftBinding | None:
    """The mark that a manifest names. It may say anything: it counts only where its signature does."""
    _, label, assertion = file.partition(_SOFT_BINDING.encode() + b'\0')
    if not label:
        return None
    return SoftBinding(*(_text_after(assertion, name) for name in ('alg', 'value')))


def _text_after(assertion: bytes, name: str) -> str:
    """The member of this name, a text of less than 256 bytes; nothing where it is none."""
    rest = assertion.partition(encode(name))[2][: 2 + 255]
    if rest[:1] == b'\x78':
        return rest[2 : 2 + rest[1]].decode(errors='replace') if len(rest) > 1 else ''
    return rest[1 : 1 + max(0, rest[0] - 0x60)].decode(errors='replace') if rest else ''


def _settle(measure: Callable[[int, bytes], int]) -> tuple[int, bytes]:
    """The length of a part that holds its own length, and the padding to an even length, which WebP needs."""
    length, pad = 0, b''
    for pad in (b'', b'\0'):
        # A larger number may take more bytes.
        while (longer := measure(length, pad)) != length:
            length = longer
        if length % 2 == 0:
            break
    return length, pad


def _actions(software: str, mark: SoftBinding | None) -> bytes:
    made: Value = {
        'action': 'c2pa.created',
        'digitalSourceType': MADE_BY_A_MODEL,
        'softwareAgent': {'name': software},
    }
    marked: list[Value] = [] if mark is None else [{'action': 'c2pa.watermarked.bound'}]
    return _statement(b'cbor', _ACTIONS, {'actions': [made, *marked]})


def _soft_binding(mark: SoftBinding) -> bytes:
    """Of the whole picture (C2PA 2.3, 18.10)."""
    blocks: Value = [{'scope': {}, 'value': mark.value}]
    return _statement(b'cbor', _SOFT_BINDING, {'alg': mark.algorithm, 'blocks': blocks, 'pad': b''})


def _data_hash(place: int, length: int, pad: bytes, digest: bytes) -> bytes:
    """Binds the manifest to all of the file but the manifest's own part."""
    bound: Value = {
        'exclusions': [{'start': place, 'length': length}],
        'name': 'jumbf manifest',
        'alg': 'sha256',
        'hash': digest,
        'pad': pad,
    }
    return _statement(b'cbor', _DATA_HASH, bound)


def _store(assertions: Mapping[str, bytes], digest: bytes, credentials: Credentials, sign: Sign) -> bytes:
    name = _name(digest, credentials)
    claim: Value = {
        'instanceID': f'xmp:iid:{name}',
        'claim_generator_info': GENERATOR,
        'signature': f'self#jumbf=/c2pa/urn:c2pa:{name}/c2pa.signature',
        'created_assertions': [_reference(*assertion) for assertion in assertions.items()],
        'alg': 'sha256',
    }
    manifest = labelled_box(
        b'c2ma',
        f'urn:c2pa:{name}',
        labelled_box(b'c2as', 'c2pa.assertions', *assertions.values()),
        _statement(b'c2cl', 'c2pa.claim.v2', claim),
        _statement(b'c2cs', 'c2pa.signature', _signature(encode(claim), credentials, sign)),
    )
    return labelled_box(b'c2pa', 'c2pa', manifest)


def _name(digest: bytes, credentials: Credentials) -> UUID:
    """
    Another name for another file or signer. The specification asks for a UUID of version 4, whose bits are
    random; here they are those of a digest.
    """
    source = hashlib.sha256(digest + b''.join(credentials.certificates)).digest()
    return UUID(bytes=source[:16], version=4)


def _reference(label: str, assertion: bytes) -> Value:
    digest = hashlib.sha256(content_of(assertion)).digest()
    return {'url': f'self#jumbf=c2pa.assertions/{label}', 'hash': digest}


def _signature(claim: bytes, credentials: Credentials, sign: Sign) -> Tagged:
    """COSE's, without the claim, which is in a box of its own."""
    first, *others = credentials.certificates
    chain: Value = [first, *others] if others else first
    header = encode({_ALGORITHM: credentials.algorithm, _CERTIFICATES: chain})
    signed = encode(['Signature1', header, b'', claim])
    return Tagged(_COSE_SIGN1, [header, {}, None, sign(signed)])


def _statement(kind: bytes, label: str, value: Value) -> bytes:
    return labelled_box(kind, label, box(b'cbor', encode(value)))
