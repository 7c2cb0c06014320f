"""A certificate or a key that does not fit is refused before the first image, by a sentence without it."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID

from model_server.c2pa.credentials import check_certificate, read_credentials
from model_server.c2pa.manifest import sign_file
from model_server.delivery import encode_image
from model_server.settings import SettingsError

from .certificates import (
    KEYS_ONLY,
    Authority,
    make_authority,
    make_signer,
    write_certificates,
    write_key,
)
from .test_c2pa import credentials_of, judge, noise
from .test_process import started

CLAIM_SIGNING = x509.ObjectIdentifier('1.3.6.1.4.1.62558.2.1')
DOCUMENT_SIGNING = x509.ObjectIdentifier('1.3.6.1.5.5.7.3.36')


@pytest.fixture(scope='module')
def authority() -> Authority:
    return make_authority()


@pytest.mark.parametrize('purpose', [CLAIM_SIGNING, DOCUMENT_SIGNING, ExtendedKeyUsageOID.EMAIL_PROTECTION])
def test_a_certificate_for_claims_documents_or_email_is_taken(
    authority: Authority, purpose: x509.ObjectIdentifier
) -> None:
    certificate, _ = make_signer(authority, purposes=[purpose])
    check_certificate(certificate, datetime.now(UTC))


#: What is wrong, the sentence, and what the reference library says of an image signed with it all the same.
UNFIT: list[tuple[dict[str, Any], str, str]] = [
    ({'days': (-9, -1)}, 'is valid from .* to .*, and that is not now', 'Credential.expired|outsideValidity'),
    ({'days': (1, 9)}, 'is valid from .* to .*, and that is not now', 'Credential.expired|outsideValidity'),
    ({'is_authority': True}, "must be a signer's, not an authority's", 'Credential.invalid'),
    ({'names_issuer': False}, 'authorityKeyIdentifier', 'Credential.invalid'),
    ({'usage': None}, 'digitalSignature in keyUsage', 'Credential.invalid'),
    ({'usage': KEYS_ONLY}, 'digitalSignature in keyUsage', 'Credential.invalid'),
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
    signed = sign_file(encode_image(noise(), 'png', b'<xmp/>'), 'png', 'm', unfit)
    assert any(re.search(verdict, code) for code in judge(signed, 'png', authority)['problems'])


def test_a_chain_is_taken_in_its_order_only(tmp_path: Path, authority: Authority) -> None:
    certificate, key = make_signer(authority)
    stranger = make_authority().certificate
    key_file = write_key(tmp_path, key)

    chain = write_certificates(tmp_path, certificate, authority.certificate)
    signed = sign_file(
        encode_image(noise(), 'webp', b'<xmp/>'), 'webp', 'm', read_credentials(chain, key_file)
    )
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
    certificates, key_file = write_certificates(tmp_path, certificate), write_key(tmp_path, key)
    text = tmp_path / 'text'
    text.write_text('-----BEGIN CERTIFICATE-----')

    def said(certificate_file: Path | None, key_path: Path | None) -> str:
        with pytest.raises(SettingsError) as refused:
            read_credentials(certificate_file, key_path)
        return str(refused.value)

    both = 'C2PA_CERTIFICATE and C2PA_PRIVATE_KEY need each other: set both, or none.'
    assert [said(certificates, None), said(None, key_file)] == [both, both]
    assert said(text, key_file) == 'C2PA_CERTIFICATE must hold certificates in PEM.'
    assert said(certificates, text) == 'C2PA_PRIVATE_KEY must hold a private key in PEM.'
    assert said(certificates, certificates) == 'C2PA_PRIVATE_KEY must hold a private key in PEM.'
    for path in (tmp_path, tmp_path / 'nowhere', Path('\0')):
        assert said(path, key_file) == 'C2PA_CERTIFICATE must be the path of a file that the server can read.'
    other = write_key(tmp_path, make_signer(authority)[1])
    assert said(certificates, other).startswith('C2PA_PRIVATE_KEY is not the key of the first certificate')
    locked = write_key(tmp_path, key, b'password')
    assert said(certificates, locked) == 'C2PA_PRIVATE_KEY must not be encrypted.'


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
