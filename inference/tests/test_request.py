"""One request, from its start to its end, with its images and their previews."""

import asyncio
import io
import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from model_server import previews
from model_server.previews import MAX_BYTES, encode_preview

from .product_photos import noise
from .support import Running, failure, identity, in_seconds, running, steps, until

pytestmark = pytest.mark.anyio

each_format = pytest.mark.parametrize('output_format', ['png', 'webp', 'jpeg'])


@each_format
@pytest.mark.parametrize('longest', ['🌊', '\u0001', '&', '\uffff'])
async def test_the_longest_texts_fit_into_every_format(
    server: Running, output_format: str, longest: str
) -> None:
    texts: dict[str, Any] = {'prompt': longest * 4000, 'negativePrompt': longest * 4000}
    request = server.request(**texts, outputFormat=output_format, embedParameters=True)
    await server.invoke(request)

    image = Image.open(io.BytesIO(server.uploaded(request)[0] or b''))
    assert texts.items() <= read_facts(image).items()


@pytest.mark.parametrize('version', [{}, {'version': 3}])
async def test_a_file_tells_the_version_of_the_identity_where_the_service_does(
    server: Running, version: dict[str, int]
) -> None:
    request = server.request(identity={**identity(), **version}, embedParameters=True)
    await server.invoke(request)

    facts = read_facts(Image.open(io.BytesIO(server.uploaded(request)[0] or b'')))
    assert (facts['identity'], facts.get('identityVersion')) == (identity()['id'], version.get('version'))


def read_facts(image: Image.Image) -> dict[str, Any]:
    """What an image's XMP says of its making."""
    packet = image.info['XML:com.adobe.xmp' if image.format == 'PNG' else 'xmp']
    (comment,) = ElementTree.fromstring(packet).iter('{http://ns.adobe.com/exif/1.0/}UserComment')
    facts: dict[str, Any] = json.loads(''.join(comment.itertext()))
    return facts


async def test_hands_the_engine_all_of_the_request(server: Running) -> None:
    changes: dict[str, Any] = {
        'prompt': 'p', 'negativePrompt': 'n', 'seed': 5, 'numInferenceSteps': 21, 'guidanceScale': 3,
        'width': 640, 'height': 704, 'referenceMode': 'exact_product', 'preserveBranding': True,
        'identity': identity(settings={'look': {'grain': 1}}),
    }  # fmt: skip
    events = await server.invoke(server.request(tenant='a', **changes))

    # Who does not wait is not queued.
    assert events[0] == {'event': 'started'}
    ((spec, seed),) = server.engine.painted
    assert seed == 5
    assert vars(spec) == {
        'prompt': 'p', 'negative_prompt': 'n', 'steps': 21, 'guidance_scale': 3, 'width': 640, 'height': 704,
        'references': (), 'reference_mode': 'exact_product', 'preserve_branding': True,
        'settings': {'look': {'grain': 1}},
    }  # fmt: skip
    assert server.engine.used == [None]
    assert len(server.engine.threads) == 1
    assert server.engine.picture_threads
    assert not server.engine.picture_threads & server.engine.threads


@pytest.mark.skipif(shutil.which('exiftool') is None, reason='exiftool is not here')
@each_format
async def test_exiftool_reads_it(server: Running, tmp_path: Path, output_format: str) -> None:
    prompt = 'été 🌊 <b>&amp; "quoted"'
    request = server.request(prompt=prompt, outputFormat=output_format, embedParameters=True)
    await server.invoke(request)
    path = tmp_path / f'image.{output_format}'
    path.write_bytes(server.uploaded(request)[0] or b'')

    read = [
        'exiftool', '-json', '-n', '-XMP-iptcExt:DigitalSourceType', '-XMP-xmp:CreatorTool', '-UserComment',
        '-Warning', '-Error', str(path),
    ]  # fmt: skip
    (found,) = json.loads(await asyncio.to_thread(subprocess.check_output, read))
    facts = json.loads(found.pop('UserComment'))
    assert (facts['seed'], facts['prompt']) == (request['seed'], prompt)
    assert found == {
        'SourceFile': str(path),
        'DigitalSourceType': 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia',
        'CreatorTool': 'fake-1',
    }


async def test_progress_never_shrinks_and_is_repeated_while_nothing_moves(tmp_path: Path) -> None:
    async with running(tmp_path, heartbeat_seconds=0.02) as server:
        server.engine.block(6)
        seen: list[int] = []

        def look(event: dict[str, Any]) -> None:
            seen.append(event.get('step', -1))
            # Two outputs of twenty steps each: five steps are two and a half of the request's.
            if seen.count(2) == 3:
                server.engine.release()

        events = await server.invoke(server.request(outputs=2), look)

        assert steps(events).count(2) >= 3
        assert steps(events) == sorted(steps(events))
        assert set(steps(events)) >= set(range(1, 21))
        assert events[-1]['event'] == 'completed'


@pytest.mark.parametrize(
    ('prompt', 'message'),
    [
        ('fail: a secret', 'The model could not make this image.'),
        ('refuse: Choose another subject.', 'Choose another subject.'),
        ('small', 'The model could not make this image.'),
        ('prepare fail: a secret', 'The model could not make this image.'),
        ('prepare refuse: Choose another subject.', 'Choose another subject.'),
    ],
)
async def test_whose_generation_fails_says_so_and_the_next_one_is_served(
    server: Running, prompt: str, message: str
) -> None:
    failing = server.request(prompt=prompt, outputs=2)

    assert failure(await server.invoke(failing)) == ('model_error', message)
    assert server.uploaded(failing) == [None, None]
    assert 'secret' not in server.log.getvalue()
    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'


async def test_an_output_that_fails_ends_the_request_and_leaves_the_images_before_it(server: Running) -> None:
    request = server.request(outputs=3)
    server.store.answers['image-1'] = [403]
    # The first image is put while the second is generated, and the second while the third is.
    server.engine.block(21)
    invocation = asyncio.create_task(server.invoke(request))
    await until(lambda: server.uploaded(request)[0] is not None)
    server.engine.block(21)
    assert failure(await invocation)[0] == 'upload_failed'
    server.engine.release()

    assert [file is None for file in server.uploaded(request)] == [False, True, True]
    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
    assert [seed for _, seed in server.engine.painted] == [11, 12, 11]


async def test_an_upload_that_is_never_answered_is_given_up(tmp_path: Path) -> None:
    async with running(tmp_path, link_timeout_seconds=0.1) as server:
        server.store.answers['image-0'] = ['stall']

        assert failure(await server.invoke(server.request()))[0] == 'upload_failed'
        assert server.store.count('image-0') == 3


async def test_an_upload_takes_its_link_exactly_as_it_was_signed(server: Running) -> None:
    query = "X-Amz-Credential=AK%2F2026%2Bx&b=%e2%9c%93&a=~%7E%20+,;:@!$()*'&X-Amz-Signature=aB%3D%3D&empty="
    link = server.store.link('a%2Fb/c%20d', query)

    await server.invoke(server.request() | {'outputs': [{'putUrl': link}]})
    assert [seen.target for seen in server.store.seen] == [link.removeprefix(server.store.url)]


async def test_an_upload_is_not_held_up_by_what_the_store_says_afterwards(server: Running) -> None:
    server.store.answers['image-0'] = ['drip']

    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'


@pytest.mark.parametrize('trace', ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', None])
async def test_each_line_in_the_log_has_the_trace_of_its_request(server: Running, trace: str | None) -> None:
    failing = server.request(prompt='fail: it', traceparent=trace)
    assert failure(await server.invoke(failing))[0] == 'model_error'
    server.store.answers['preview'] = [403]
    preview = {'putUrl': server.store.link('image'), 'previewPutUrl': server.store.link('preview')}
    await server.invoke(server.request(traceparent=trace) | {'outputs': [preview]})

    lines = [line for line in server.lines() if 'message' in line]
    expected = ['the engine failed', 'request', 'a preview was not put', 'request']
    assert [line['message'] for line in lines] == expected
    assert {line.get('traceparent', '') for line in lines} == {trace or ''}


def decoded(image: Image.Image) -> Image.Image:
    """The image's preview, as it is read."""
    found = Image.open(io.BytesIO(encode_preview(image, b'<xmp/>') or b''))
    assert found.format == 'WEBP'
    return found.convert('RGB')


@pytest.mark.parametrize(
    ('size', 'expected'),
    [
        ((1024, 1024), (512, 512)),
        ((2048, 512), (512, 128)),
        ((576, 2048), (144, 512)),
        ((640, 512), (512, 410)),
        ((512, 384), (512, 384)),
    ],
)
def test_has_the_images_shape_and_is_never_larger(size: tuple[int, int], expected: tuple[int, int]) -> None:
    assert decoded(Image.new('RGB', size, '#c81e1e')).size == expected


def test_of_an_image_that_is_hard_to_pack_has_fewer_details_or_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = encode_preview(noise((512, 512)), b'<xmp/>')
    assert file is not None
    assert len(file) <= MAX_BYTES
    monkeypatch.setattr(previews, 'MAX_BYTES', 100)
    assert encode_preview(noise((512, 512)), b'<xmp/>') is None


def test_of_a_fine_pattern_is_as_bright_as_the_pattern() -> None:
    board = (np.indices((1024, 1024)).sum(axis=0) % 2 * 255).astype(np.uint8)
    gray = np.asarray(decoded(Image.fromarray(board)))[100:400, 100:400]

    # Half of the light is code 188. Half of the codes, 128, would be a fifth of the light.
    assert math.isclose(float(gray.mean()), 188, abs_tol=2)


@pytest.mark.parametrize(('answer', 'fails'), [('stall', False), (200, True)])
async def test_that_would_take_the_image_past_its_deadline_or_can_not_be_made_is_left_out(
    server: Running, monkeypatch: pytest.MonkeyPatch, answer: int | str, fails: bool
) -> None:
    def fail(*_: object) -> bytes:
        raise ValueError('a secret')

    if fails:
        monkeypatch.setattr(previews, 'encode_preview', fail)
    server.store.answers['preview'] = [answer]
    request = server.request(deadline=in_seconds(2))
    request['outputs'][0]['previewPutUrl'] = server.store.link('preview')
    closing = (await server.invoke(request))[-1]

    assert closing['event'] == 'completed'
    assert 'previewBytes' not in closing['outputs'][0]
    assert ('a preview failed' in server.log.getvalue()) == fails
    assert 'a secret' not in server.log.getvalue()
