"""Signed images, judged by the reference library of C2PA."""

import hashlib
import io
import json
import tomllib
from itertools import product
from pathlib import Path
from typing import Any, get_args

import c2pa
import pytest
from PIL import Image

from model_server.c2pa.containers import LARGEST_MANIFEST_BYTES, wrap
from model_server.c2pa.credentials import read_credentials
from model_server.c2pa.manifest import GENERATOR, Credentials, sign_file
from model_server.contract import OutputFormat
from model_server.delivery import encode_image

from .certificates import Authority, make_authority, make_signer, write_certificates, write_key
from .test_process import ROOT, SECRET, served
from .test_request import read_xmp

FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)
MADE_BY_A_MODEL = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia'


@pytest.fixture(scope='module')
def authority() -> Authority:
    return make_authority()


def credentials_of(folder: Path, authority: Authority, kind: str = 'ed25519') -> Credentials:
    certificate, key = make_signer(authority, kind)
    return read_credentials(write_certificates(folder, certificate), write_key(folder, key))


def noise(side: int = 64) -> Image.Image:
    """A picture of its size, whose file grows with it."""
    return Image.effect_noise((side, side), 64).convert('RGB')


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


@pytest.mark.parametrize('output_format', FORMATS)
@pytest.mark.parametrize('kind', ['ed25519', 'p256', 'p384', 'p521'])
def test_the_reference_library_trusts_the_mark_and_each_byte_comes_again(
    tmp_path: Path, authority: Authority, kind: str, output_format: OutputFormat
) -> None:
    credentials = credentials_of(tmp_path, authority, kind)
    files = [encode_image(noise(side), output_format, b'<xmp/>') for side in (16, 64, 200)]
    # Names of other lengths make the manifest, with the number of its bytes, even and odd.
    for file, software in product(files, ('m', 'mo', 'model-1 on a card')):
        signed = sign_file(file, output_format, software, credentials)

        found = judge(signed, output_format, authority)
        assert (found['state'], found['problems'], found['manifests']) == ('Trusted', set(), 1)
        (actions,) = found['manifest']['assertions']
        assert (actions['label'], actions['data']['actions']) == (
            'c2pa.actions.v2',
            [
                {
                    'action': 'c2pa.created',
                    'digitalSourceType': MADE_BY_A_MODEL,
                    'softwareAgent': {'name': software},
                }
            ],
        )
        assert found['manifest']['claim_generator_info'] == [GENERATOR]
        assert 'time' not in found['manifest']['signature_info']
        assert sign_file(file, output_format, software, credentials) == signed
        original, image = Image.open(io.BytesIO(file)), Image.open(io.BytesIO(signed))
        assert (image.tobytes(), image.info) == (original.tobytes(), original.info)


@pytest.mark.parametrize('output_format', FORMATS)
def test_a_changed_picture_is_found_out(
    tmp_path: Path, authority: Authority, output_format: OutputFormat
) -> None:
    file = encode_image(noise(), output_format, b'<xmp/>')
    signed = sign_file(file, output_format, 'm', credentials_of(tmp_path, authority))
    changed = signed.replace(b'<xmp/>', b'<XMP/>')
    assert changed != signed
    found = judge(changed, output_format, authority)
    assert (found['state'], found['problems']) == ('Invalid', {'assertion.dataHash.mismatch'})


def test_another_picture_and_another_signer_have_another_manifest(
    tmp_path: Path, authority: Authority
) -> None:
    signers = [credentials_of(tmp_path, authority) for _ in range(2)]
    files = [encode_image(noise(side), 'png', b'<xmp/>') for side in (16, 17)]
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
    files = {
        'C2PA_CERTIFICATE': str(write_certificates(tmp_path, certificate)),
        'C2PA_PRIVATE_KEY': str(write_key(tmp_path, key)),
    }

    async def files_of(**env: str) -> list[bytes]:
        async with served(tmp_path, **env) as (process, _, caller):
            painted = []
            for output_format, embed in product(FORMATS, (False, True)):
                request = caller.request(
                    outputs=2, prompt=SECRET, outputFormat=output_format, embedParameters=embed
                )
                closing = (await caller.invoke(request))[-1]
                put = [file for file in caller.uploaded(request) if file]
                expected = [{'bytes': len(file), 'sha256': hashlib.sha256(file).hexdigest()} for file in put]
                assert [
                    {name: out[name] for name in ('bytes', 'sha256')} for out in closing['outputs']
                ] == expected
                painted += put
            process.terminate()
            assert await process.end() == 0
        assert ('images are signed' in ''.join(process.output)) == bool(env)
        return painted

    first, second, plain = await files_of(**files), await files_of(**files), await files_of()

    assert first == second
    assert len(set(first)) == 12
    for index, (signed, unsigned) in enumerate(zip(first, plain, strict=True)):
        output_format, embedded = FORMATS[index // 4], index % 4 > 1
        found = judge(signed, output_format, authority)
        assert (found['state'], found['problems']) == ('Trusted', set())
        assert SECRET not in repr(found)
        assert (SECRET.encode() in signed) == embedded
        image, original = Image.open(io.BytesIO(signed)), Image.open(io.BytesIO(unsigned))
        assert (image.tobytes(), read_xmp(image)) == (original.tobytes(), read_xmp(original))
