"""The mark that stays in a picture, and the detector that looks for it."""

import hashlib
import io
import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bench import marks as bench
from bench.marks import MARK, OTHER, draw
from model_server import detect
from model_server.c2pa.manifest import sign_file
from model_server.delivery import encode_image
from model_server.marks import SoftBinding, load_mark, trustmark
from model_server.marks.tile_search import TileMark
from model_server.pipelines.engine import Prepared
from model_server.previews import encode_preview
from model_server.settings import Settings, SettingsError
from model_server.xmp import xmp_packet

from .support import running
from .test_c2pa import (
    FORMATS,
    Authority,
    authority,  # noqa: F401, a fixture
    credentials_of,
    each_format,
    judge,
    make_signer,
    write_certificates,
    write_key,
)
from .test_process import served, started

KEY = 'k' * 32
PICTURE = draw(4, 512)
MARKED = MARK.apply(PICTURE)


def test_a_picture_gets_the_same_bytes_on_every_machine() -> None:
    # From even ground to noise.
    contrast = np.arange(200)[:, None, None]
    noise = (np.arange(300 * 200 * 3) ** 2 // 977 % 128).reshape(200, 300, 3)
    pixels = (64 + noise * contrast // 200).astype(np.uint8)
    digest = hashlib.sha256(MARK.apply(Image.fromarray(pixels)).tobytes()).hexdigest()
    assert digest == 'bfaabfc0dd7444c8687905e89d3867dbdbf97b9cc7e68378dab29fac682a34e8'


@pytest.mark.parametrize('change', ['nothing', 'JPEG 50', 'mirrored', 'turned by 1 degree', 'width to 0.9'])
def test_the_mark_is_found_again_and_its_bits_where_the_picture_is_not_deformed(change: str) -> None:
    finding = MARK.find(bench.change(change, PICTURE))
    assert finding is not None
    assert finding.found
    assert finding.bits_right == 36 or change in ('turned by 1 degree', 'width to 0.9')


def test_the_preview_of_a_large_picture_has_a_mark_that_lasts() -> None:
    # Of even colors, so that compression leaves least of it.
    finding = MARK.find(bench.change('its preview', draw(3, 1024)))
    assert finding is not None
    assert finding.found


def test_no_mark_and_another_deployment_s_are_not_taken_for_it() -> None:
    blank = Image.new('RGB', (256, 256), 'white')
    others = [OTHER.apply(PICTURE), blank, *(draw(number, 256) for number in range(5))]
    assert [(finding := MARK.find(image)) and finding.found for image in others] == [False] * len(others)
    assert MARK.find(MARKED.resize((95, 200))) is None


TRUSTMARK = {'watermark': 'trustmark', 'watermark_key': KEY}


@pytest.mark.parametrize(
    ('settings', 'sentence'),
    [
        ({'watermark': 'visible'}, 'WATERMARK must be off, tile or trustmark'),
        ({'watermark': 'tile'}, 'WATERMARK=tile needs WATERMARK_KEY'),
        ({'watermark': 'tile', 'watermark_key': 'short'}, 'at least 32 random characters'),
        (TRUSTMARK, 'needs WATERMARK_DIR'),
        (TRUSTMARK | {'watermark_dir': Path('nowhere')}, 'must hold encoder_Q.onnx'),
        (TRUSTMARK | {'watermark_dir': Path('CHANGED')}, 'must be the file with the SHA-256 19b3d1b2'),
    ],
)
def test_a_setting_that_can_t_be_used_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path('CHANGED').mkdir()
    Path('CHANGED/encoder_Q.onnx').write_bytes(b'a pickle')
    with pytest.raises(SettingsError, match=sentence) as error:
        load_mark(Settings(**settings))
    assert 'short' not in str(error.value)


@pytest.mark.anyio
async def test_a_key_is_asked_for_before_the_server_starts(tmp_path: Path) -> None:
    async with started(tmp_path, WATERMARK='tile') as process:
        assert await process.end() == 2
    assert 'needs WATERMARK_KEY' in process.output[0]


@pytest.mark.anyio
async def test_file_and_preview_get_a_mark_each_and_without_one_are_what_they_were(tmp_path: Path) -> None:
    async with running(tmp_path) as server:

        async def files(mark: TileMark | None) -> list[bytes]:
            server.context.mark = mark
            link = server.store.link('preview')
            request = server.request(outputs=1)
            request['outputs'][0]['previewPutUrl'] = link
            await server.invoke(request)
            return [server.uploaded(request)[0] or b'', server.store.stored['preview']]

        off, on, again = await files(None), await files(MARK), await files(MARK)
        spec, seed = server.engine.painted[0]
        make = server.engine.paint(Prepared(spec, 0), seed, lambda _: None)
    assert on == again
    for (file, preview), mark in ((off, None), (on, MARK)):
        shown = mark.apply(make()) if mark else make()
        assert Image.open(io.BytesIO(file)).tobytes() == shown.tobytes()
        assert b'trainedAlgorithmicMedia' in file
        # Of so small a picture the preview is as large, so it has the same pixels.
        assert preview == encode_preview(shown, Image.open(io.BytesIO(preview)).info['xmp'])


@pytest.mark.anyio
async def test_of_a_batch_two_images_are_marked_at_once(tmp_path: Path) -> None:
    at_once = most = 0

    class SlowMark(TileMark):
        def apply(self, image: Image.Image) -> Image.Image:
            nonlocal at_once, most
            at_once += 1
            most = max(most, at_once)
            time.sleep(0.2)
            at_once -= 1
            return image

    async with running(tmp_path) as server:
        server.context.mark = SlowMark(KEY.encode())
        request = server.request(outputs=4)
        await server.invoke(request)
        assert all(server.uploaded(request))
    assert most == 2


@pytest.mark.anyio
async def test_credentials_name_the_mark_and_the_detector_knows_them(
    tmp_path: Path,
    authority: Authority,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    certificate, key = make_signer(authority, 'p256')
    env = {
        'WATERMARK': 'tile',
        'WATERMARK_KEY': KEY,
        'C2PA_CERTIFICATE': str(write_certificates(tmp_path, certificate)),
        'C2PA_PRIVATE_KEY': str(write_key(tmp_path, key)),
    }
    paths = []
    async with served(tmp_path, **env) as (process, _, caller):
        for output_format in FORMATS:
            request = caller.request(outputFormat=output_format)
            await caller.invoke(request)
            paths.append(tmp_path / output_format)
            paths[-1].write_bytes(caller.uploaded(request)[0] or b'')
        process.terminate()
        assert await process.end() == 0
    log = ''.join(process.output)
    assert 'images are marked' in log
    assert KEY not in log
    for path in paths:
        found = judge(path.read_bytes(), path.name, authority)
        assert (found['state'], found['problems']) == ('Trusted', set())
        actions, binding = found['manifest']['assertions']
        assert actions['data']['actions'][1:] == [{'action': 'c2pa.watermarked.bound'}]
        assert (binding['label'], binding['data']['alg']) == ('c2pa.soft-binding', MARK.binding.algorithm)
        assert binding['data']['blocks'] == [{'scope': {}, 'value': MARK.binding.value}]

    for name, value in env.items():
        monkeypatch.setenv(name, value)
    assert detect.main(['--json', *map(str, paths)]) == 0
    for line in capsys.readouterr().out.splitlines():
        verdict = json.loads(line)
        assert (verdict['made_here'], verdict['confidence']) == (True, 'certain')
        assert (verdict['credentials'], verdict['mark']['found']) == ('valid', True)


@each_format
def test_credentials_count_only_for_the_file_and_the_certificate_that_they_are_of(
    tmp_path: Path,
    authority: Authority,  # noqa: F811
    output_format: Any,
) -> None:
    verdicts = []
    for kind in ('ed25519', 'p384'):
        credentials = credentials_of(tmp_path, authority, kind)
        file = encode_image(PICTURE, output_format, xmp_packet('model-1 <a>', {'seed': 1}))
        signed = sign_file(file, output_format, 'model-1 <a>', credentials)
        here = detect.Detector(Settings(c2pa_certificate=tmp_path / 'certificates.pem'))
        broken = bytearray(signed)
        # In the signature itself.
        broken[signed.index(credentials.certificates[0]) + len(credentials.certificates[0]) + 20] ^= 1
        elsewhere = sign_file(file, output_format, 'model-1 <a>', credentials_of(tmp_path, authority))
        changed = signed.replace(b'"seed":1', b'"seed":2')
        mangled = signed.replace(b'softwareAgent', b'softwareAgenT')
        # Of a mark that is off by now, or had another key.
        marks = (MARK.binding, SoftBinding('short', 'x' * 30))
        marked = [sign_file(file, output_format, 'model-1 <a>', credentials, mark) for mark in marks]
        remarked = marked[0].replace(MARK.binding.value.encode(), b'f' * len(MARK.binding.value))
        files = (signed, *marked, broken, changed, mangled, remarked, elsewhere, file)
        verdicts += [here.judge(bytes(each)) for each in files]
    states = [*['valid'] * 3, *['changed'] * 4, 'other', 'absent']
    assert [verdict.credentials for verdict in verdicts] == states * 2
    assert [verdict.confidence for verdict in verdicts] == [*['certain'] * 3, *['low'] * 6] * 2
    assert {verdict.software for verdict in verdicts} == {'model-1 <a>'}


def test_hostile_files_have_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv('WATERMARK', 'tile')
    monkeypatch.setenv('WATERMARK_KEY', KEY)
    whole = encode_image(MARKED, 'png', b'<xmp/>')
    animated = io.BytesIO()
    MARKED.save(animated, 'WEBP', save_all=True, append_images=[PICTURE], lossless=True)
    unreadable = {
        'truncated': whole[: len(whole) // 2],
        'huge': whole[:16] + (60_000).to_bytes(4, 'big') * 2 + whole[24:],
        'zip': b'PK\x03\x04' + bytes(40),
        'empty': b'',
        'riff': b'RIFF' + bytes(4) + b'WEBPVP8 ' + bytes(20),
    }
    cases = {
        'whole': (whole, 'made here, confidence likely', 0),
        'animated': (animated.getvalue(), 'made here, confidence likely', 0),
        'plain': (encode_image(PICTURE, 'webp', b''), 'nothing shows that it was made here', 1),
        'one': (encode_image(PICTURE.resize((1, 1)), 'png', b''), 'mark not looked for', 1),
    } | {name: (content, ': is ', 2) for name, content in unreadable.items()}
    for name, (content, answer, status) in cases.items():
        (tmp_path / name).write_bytes(content)
        assert (name, detect.main([str(tmp_path / name)])) == (name, status)
        assert answer in capsys.readouterr().out
    assert detect.main([str(tmp_path / 'nowhere'), str(tmp_path / 'plain')]) == 2
    monkeypatch.setenv('WATERMARK', 'off')
    assert detect.main([str(tmp_path / 'whole')]) == 2
    assert 'nothing can be found without' in capsys.readouterr().err
    monkeypatch.setenv('WATERMARK', 'tile')
    monkeypatch.setattr(detect, 'LIMIT_BYTES', 1000)
    assert detect.main([str(tmp_path / 'whole')]) == 2
    assert 'is larger than' in capsys.readouterr().out


def test_trustmark_s_bits_are_those_of_its_own_code() -> None:
    # Of adobe/trustmark's DataLayer(100, encoding_mode=1), python/trustmark/datalayer.py.
    data = '0010000000000100111011011110101011001101011011000001111111111'
    bits = trustmark.encode_bits(data)
    assert ''.join(str(int(bit)) for bit in bits) == data + '111100111001110001010000111001101000001'


class StandIn:
    """Takes and gives what TrustMark's two networks do: a bit makes a square of a gray picture redder."""

    def run(self, _: object, inputs: dict[str, Any]) -> list[Any]:
        square = np.arange(256) * 10 // 256
        if 'image' in inputs:
            red = inputs['image'][0, 0] - inputs['image'][0, 1]
            return [np.array([red[12::25, 12::25][:10, :10].ravel() - 0.04])]
        marked = inputs['onnx::Concat_0'].copy()
        marked[0, 0] += 0.1 * inputs['onnx::Gemm_1'].reshape(10, 10)[square][:, square]
        return [marked]


@pytest.mark.parametrize('size', [(512, 640), (1200, 400)])
def test_trustmark_s_networks_write_and_read_the_name(size: tuple[int, int]) -> None:
    ours, theirs = (trustmark.TrustMark(StandIn(), StandIn(), key) for key in (b'a', b'b'))
    assert ours.binding.algorithm == 'com.adobe.trustmark.Q'
    picture = PICTURE.resize(size).convert('L').convert('RGB')
    marked = ours.apply(picture)
    assert marked.tobytes() == ours.apply(picture).tobytes()
    found = [mark.find(image) for mark, image in product((ours, theirs), (marked, picture))]
    assert [finding and finding.found for finding in found] == [True, False, False, False]
