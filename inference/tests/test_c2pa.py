"""Signed images, judged by the reference library of C2PA; and certificates and keys that do not fit."""

import hashlib
import io
import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, get_args

import c2pa
import pytest
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
from PIL import Image

from model_server.c2pa.containers import LARGEST_MANIFEST_BYTES, wrap
from model_server.c2pa.credentials import read_credentials
from model_server.c2pa.manifest import GENERATOR, Credentials, sign_file
from model_server.contract import OutputFormat
from model_server.delivery import encode_image
from model_server.settings import SettingsError

from .test_process import ROOT, SECRET, served, started

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


FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)
each_format = pytest.mark.parametrize('output_format', FORMATS)


@pytest.fixture(scope='module')
def authority() -> Authority:
    return make_authority()


def encoded(output_format: OutputFormat = 'png', side: int = 64) -> bytes:
    """The file of a picture of its size, which grows with it."""
    return encode_image(Image.effect_noise((side, side), 64).convert('RGB'), output_format, b'<xmp/>')


def judge(file: bytes, output_format: str, authority: Authority) -> dict[str, Any]:
    """What the reference library says of a file, where this authority is trusted."""
    settings = {'trust': {'user_anchors': authority.pem}, 'verify': {'verify_trust': True}}
    with (
        c2pa.Context.from_dict(settings) as context,
        c2pa.Reader(f'image/{output_format}', io.BytesIO(file), context=context) as reader,
    ):
        report: dict[str, Any] = json.loads(reader.json())
    return {
        'state': report['validation_state'],
        'problems': {each['code'] for each in report.get('validation_status', [])},
        'manifest': report['manifests'][report['active_manifest']],
        'manifests': len(report['manifests']),
    }


def contents(file: bytes) -> tuple[bytes, dict[Any, Any]]:
    """A file's pixels, and what else is in it."""
    image = Image.open(io.BytesIO(file))
    return image.tobytes(), image.info


@each_format
@pytest.mark.parametrize('kind', ['ed25519', 'p256', 'p384', 'p521'])
def test_the_reference_library_trusts_the_mark_and_each_byte_comes_again(
    tmp_path: Path, authority: Authority, kind: str, output_format: OutputFormat
) -> None:
    credentials = credentials_of(tmp_path, authority, kind)
    files = [encoded(output_format, side) for side in (16, 64, 200)]
    # Names of other lengths make the manifest, with the number of its bytes, even and odd.
    for file, software in product(files, ('m', 'mo', 'model-1 on a card')):
        signed = sign_file(file, output_format, software, credentials)

        found = judge(signed, output_format, authority)
        assert (found['state'], found['problems'], found['manifests']) == ('Trusted', set(), 1)
        (actions,) = found['manifest']['assertions']
        made = {
            'action': 'c2pa.created',
            'digitalSourceType': 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia',
            'softwareAgent': {'name': software},
        }
        assert (actions['label'], actions['data']['actions']) == ('c2pa.actions.v2', [made])
        assert found['manifest']['claim_generator_info'] == [GENERATOR]
        assert 'time' not in found['manifest']['signature_info']
        assert sign_file(file, output_format, software, credentials) == signed
        assert contents(signed) == contents(file)


@each_format
def test_a_changed_picture_is_found_out(
    tmp_path: Path, authority: Authority, output_format: OutputFormat
) -> None:
    signed = sign_file(encoded(output_format), output_format, 'm', credentials_of(tmp_path, authority))
    found = judge(signed.replace(b'<xmp/>', b'<XMP/>'), output_format, authority)
    assert (found['state'], found['problems']) == ('Invalid', {'assertion.dataHash.mismatch'})


def test_another_picture_and_another_signer_have_another_manifest(
    tmp_path: Path, authority: Authority
) -> None:
    signers = [credentials_of(tmp_path, authority) for _ in range(2)]
    files = [encoded(side=16), encoded(side=17)]
    signed = [sign_file(file, 'png', 'm', signer) for file, signer in product(files, signers)]
    assert len({judge(file, 'png', authority)['manifest']['label'] for file in signed}) == 4


def test_a_manifest_that_no_jpeg_could_hold_is_no_broken_file() -> None:
    with pytest.raises(ValueError, match='too large'):
        wrap(bytes(LARGEST_MANIFEST_BYTES + 2), 'jpeg')
    assert len(wrap(bytes(LARGEST_MANIFEST_BYTES), 'jpeg')) < 2**16


def test_the_generator_s_version_is_the_package_s() -> None:
    project = tomllib.loads((ROOT / 'pyproject.toml').read_text('utf-8'))['project']
    assert isinstance(GENERATOR, dict)
    assert GENERATOR['version'] == project['version']


@pytest.mark.anyio
async def test_two_processes_put_the_same_signed_files_and_send_their_digests(
    tmp_path: Path, authority: Authority
) -> None:
    certificate, key = make_signer(authority)
    env = {
        'C2PA_CERTIFICATE': str(write_certificates(tmp_path, certificate)),
        'C2PA_PRIVATE_KEY': str(write_key(tmp_path, key)),
    }

    async def files_of(**env: str) -> list[bytes]:
        async with served(tmp_path, **env) as (process, _, caller):
            files = []
            for output_format in FORMATS:
                request = caller.request(outputs=2, prompt=SECRET, outputFormat=output_format)
                completed = (await caller.invoke(request))[-1]
                put = [file or b'' for file in caller.uploaded(request)]
                sent = [(output['bytes'], output['sha256']) for output in completed['outputs']]
                assert sent == [(len(file), hashlib.sha256(file).hexdigest()) for file in put]
                files += put
            process.terminate()
            assert await process.end() == 0
        assert ('images are signed' in ''.join(process.output)) == bool(env)
        return files

    first, second, plain = await files_of(**env), await files_of(**env), await files_of()

    assert first == second
    assert len(set(first)) == 6
    for index, (signed, unsigned) in enumerate(zip(first, plain, strict=True)):
        found = judge(signed, FORMATS[index // 2], authority)
        assert (found['state'], found['problems']) == ('Trusted', set())
        assert SECRET not in repr(found)
        assert contents(signed) == contents(unsigned)


@pytest.mark.parametrize('purpose', ['1.3.6.1.4.1.62558.2.1', '1.3.6.1.5.5.7.3.36', '1.3.6.1.5.5.7.3.4'])
def test_a_certificate_for_claims_documents_or_email_is_taken(
    tmp_path: Path, authority: Authority, purpose: str
) -> None:
    certificate, key = make_signer(authority, purposes=[x509.ObjectIdentifier(purpose)])
    read_credentials(write_certificates(tmp_path, certificate), write_key(tmp_path, key))


#: What is wrong, the sentence, and what the reference library says of an image signed with it all the same.
UNFIT: list[tuple[dict[str, Any], str, str]] = [
    ({'days': (-9, -1)}, 'is valid from .* to .*, and that is not now', 'Credential.expired|outsideValidity'),
    ({'days': (1, 9)}, 'is valid from .* to .*, and that is not now', 'Credential.expired|outsideValidity'),
    ({'is_authority': True}, "must be a signer's, not an authority's", 'Credential.invalid'),
    ({'names_issuer': False}, 'authorityKeyIdentifier', 'Credential.invalid'),
    ({'usage': None}, 'digitalSignature in keyUsage', 'Credential.invalid'),
    ({'usage': usage(key_encipherment=True)}, 'digitalSignature in keyUsage', 'Credential.invalid'),
    ({'purposes': None}, 'extendedKeyUsage', 'Credential.invalid'),
    ({'purposes': [ExtendedKeyUsageOID.SERVER_AUTH]}, 'extendedKeyUsage', 'Credential.invalid'),
]


@pytest.mark.parametrize(('changes', 'sentence', 'verdict'), UNFIT)
def test_what_is_refused_the_reference_library_refuses_too(
    tmp_path: Path, authority: Authority, changes: dict[str, Any], sentence: str, verdict: str
) -> None:
    certificate, key = make_signer(authority, **changes)
    with pytest.raises(SettingsError, match=sentence):
        read_credentials(write_certificates(tmp_path, certificate), write_key(tmp_path, key))

    fit = credentials_of(tmp_path, authority)
    unfit = replace(fit, certificates=[certificate.public_bytes(Encoding.DER)], sign=key.sign)
    signed = sign_file(encoded(), 'png', 'm', unfit)
    assert any(re.search(verdict, code) for code in judge(signed, 'png', authority)['problems'])


def test_a_chain_is_taken_in_its_order_only(tmp_path: Path, authority: Authority) -> None:
    certificate, key = make_signer(authority)
    stranger = make_authority().certificate
    key_file = write_key(tmp_path, key)

    chain = write_certificates(tmp_path, certificate, authority.certificate)
    signed = sign_file(encoded('webp'), 'webp', 'm', read_credentials(chain, key_file))
    assert judge(signed, 'webp', authority)['state'] == 'Trusted'
    for wrong, sentence in (
        ((certificate, stranger), 'after each certificate that of its issuer'),
        ((certificate, *[authority.certificate] * 60), 'at most 16 KiB'),
        ((authority.certificate, authority.certificate), 'not the key of the first certificate'),
    ):
        with pytest.raises(SettingsError, match=sentence):
            read_credentials(write_certificates(tmp_path, *wrong), key_file)


@pytest.mark.parametrize('kind', ['rsa', 'p256k'])
def test_a_key_whose_signatures_would_not_repeat_is_refused(
    tmp_path: Path, authority: Authority, kind: str
) -> None:
    with pytest.raises(SettingsError, match='the same request would not give the same bytes'):
        credentials_of(tmp_path, authority, kind)


def test_files_that_hold_something_else_are_refused(tmp_path: Path, authority: Authority) -> None:
    certificate, key = make_signer(authority)
    certificates = write_certificates(tmp_path, certificate)
    text = tmp_path / 'text'
    text.write_text('-----BEGIN CERTIFICATE-----')
    both = 'need each other: set both, or none'
    unread = 'C2PA_CERTIFICATE must be the path of a file that the server can read'
    good = write_key(tmp_path, key).rename(tmp_path / 'good.pem')
    locked = write_key(tmp_path, key, b'password').rename(tmp_path / 'locked.pem')
    other = write_key(tmp_path, make_signer(authority)[1])
    for certificate_file, key_file, sentence in (
        (certificates, None, both),
        (None, good, both),
        (text, good, 'C2PA_CERTIFICATE must hold certificates in PEM'),
        (certificates, text, 'C2PA_PRIVATE_KEY must hold a private key in PEM'),
        (tmp_path, good, unread),
        (tmp_path / 'nowhere', good, unread),
        (Path('\0'), good, unread),
        (certificates, other, 'C2PA_PRIVATE_KEY is not the key of the first certificate'),
        (certificates, locked, 'C2PA_PRIVATE_KEY must not be encrypted'),
    ):
        with pytest.raises(SettingsError, match=sentence):
            read_credentials(certificate_file, key_file)


@pytest.mark.anyio
async def test_a_bad_key_ends_the_process_with_2_and_is_not_printed(
    tmp_path: Path, authority: Authority
) -> None:
    certificate, key = make_signer(authority)
    env = {'C2PA_CERTIFICATE': str(write_certificates(tmp_path, certificate))}
    # The key itself where its file's name belongs.
    secret = write_key(tmp_path, key).read_text('utf-8')
    async with started(tmp_path, **env, C2PA_PRIVATE_KEY=secret) as process:
        assert await process.end() == 2
    assert process.output == ['C2PA_PRIVATE_KEY must be the path of a file that the server can read.\n']
