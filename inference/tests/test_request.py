"""One request, from its start to its end."""

import asyncio
import hashlib
import io
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image

from .support import Running, closing, failure, identity, running, steps, until

pytestmark = pytest.mark.anyio

MADE_BY_A_MODEL = 'http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia'


async def test_starts_reports_every_step_uploads_and_completes_with_what_it_uploaded(server: Running) -> None:
    request = server.request(outputs=2, width=576)
    events = await server.invoke(request)

    assert events[0] == {'event': 'started'}
    assert [event['event'] for event in events[1:-1]] == ['progress'] * (len(events) - 2)
    assert steps(events) == list(range(1, 21))
    assert all(event['steps'] == 20 for event in events[1:-1])
    files = server.uploaded(request)
    assert events[-1] == {
        'event': 'completed',
        'outputs': [
            {'bytes': len(file), 'sha256': hashlib.sha256(file).hexdigest(), 'width': 576, 'height': 512}
            for file in files
            if file is not None
        ],
        'referenceImagesUsed': 0,
        'modelVersion': 'fake-1',
    }
    assert len(events[-1]['outputs']) == 2
    assert [seen.headers['content-type'] for seen in server.store.seen] == ['image/png'] * 2
    for file in files:
        image = Image.open(io.BytesIO(file or b''))
        assert (image.format, image.mode, image.size) == ('PNG', 'RGB', (576, 512))


@pytest.mark.parametrize('output_format', ['png', 'webp', 'jpeg'])
@pytest.mark.parametrize('longest', ['🌊', '\u0001', '&', '\uffff'])
async def test_the_longest_texts_fit_into_every_format(
    server: Running, output_format: str, longest: str
) -> None:
    texts: dict[str, Any] = {'prompt': longest * 4000, 'negativePrompt': longest * 4000}
    request = server.request(**texts, outputFormat=output_format, embedParameters=True)
    await server.invoke(request)

    image = Image.open(io.BytesIO(server.uploaded(request)[0] or b''))
    assert texts.items() <= read_xmp(image)['facts'].items()


def read_xmp(image: Image.Image) -> dict[str, Any]:
    """What an image says of itself. It has no metadata but XMP."""
    packet = image.info['XML:com.adobe.xmp' if image.format == 'PNG' else 'xmp']
    assert not image.info.keys() & {'exif', 'icc_profile', 'comment', 'parameters', 'Software'}
    root = ElementTree.fromstring(packet)
    texts = {
        name.rpartition('}')[2]: ''.join(found.itertext()) for found in root.iter() if (name := found.tag)
    }
    return {
        'digitalSourceType': texts['DigitalSourceType'],
        'software': texts['CreatorTool'],
        'facts': json.loads(texts['UserComment']),
    }


async def test_hands_the_engine_all_of_the_request(server: Running) -> None:
    changes: dict[str, Any] = {
        'prompt': 'p', 'negativePrompt': 'n', 'seed': 5, 'numInferenceSteps': 21, 'guidanceScale': 3,
        'width': 640, 'height': 704, 'referenceMode': 'exact_product', 'preserveBranding': True,
        'identity': identity(settings={'look': {'grain': 1}}),
    }  # fmt: skip
    await server.invoke(server.request(**changes))

    ((spec, seed),) = server.engine.painted
    assert (spec.prompt, spec.negative_prompt, seed, spec.steps) == ('p', 'n', 5, 21)
    assert (spec.guidance_scale, spec.width, spec.height) == (3, 640, 704)
    assert (spec.reference_mode, spec.preserve_branding, spec.references) == ('exact_product', True, ())
    assert spec.settings == {'look': {'grain': 1}}
    assert server.engine.used == [None]
    assert len(server.engine.threads) == 1


@pytest.mark.skipif(shutil.which('exiftool') is None, reason='exiftool is not here')
@pytest.mark.parametrize('output_format', ['png', 'webp', 'jpeg'])
@pytest.mark.parametrize('embed', [False, True])
async def test_exiftool_reads_it(server: Running, tmp_path: Path, output_format: str, embed: bool) -> None:
    prompt = 'été 🌊 <b>&amp; "quoted"'
    request = server.request(prompt=prompt, outputFormat=output_format, embedParameters=embed)
    await server.invoke(request)
    path = tmp_path / f'image.{output_format}'
    path.write_bytes(server.uploaded(request)[0] or b'')

    read = [
        'exiftool', '-json', '-n', '-XMP-iptcExt:DigitalSourceType', '-XMP-xmp:CreatorTool', '-UserComment',
        '-Warning', '-Error', str(path),
    ]  # fmt: skip
    (found,) = json.loads(await asyncio.to_thread(subprocess.check_output, read))
    facts = json.loads(found['UserComment'])
    assert found == {
        'SourceFile': str(path),
        'DigitalSourceType': MADE_BY_A_MODEL,
        'CreatorTool': 'fake-1',
        'UserComment': found['UserComment'],
    }
    assert facts['seed'] == request['seed']
    assert facts.get('prompt') == (prompt if embed else None)


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
        assert events[-1]['event'] == 'completed'


async def test_the_next_request_runs_while_images_are_still_on_their_way(server: Running) -> None:
    gate = asyncio.Event()
    first = server.request()
    server.store.gates['image-0'] = gate
    async with server.opened(first) as events:
        await server.store.arrived['image-0'].wait()
        assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
        assert server.uploaded(first) == [None]
        gate.set()
        assert await closing(events) == 'completed'


@pytest.mark.parametrize(
    ('prompt', 'message'),
    [
        ('fail: a secret', 'The model could not make this image.'),
        ('refuse: Choose another subject.', 'Choose another subject.'),
        ('small', 'The model could not make this image.'),
    ],
)
async def test_whose_generation_fails_says_so_and_the_next_one_is_served(
    server: Running, prompt: str, message: str
) -> None:
    failing = server.request(prompt=prompt, outputs=2)

    assert failure(await server.invoke(failing)) == ('model_error', message)
    assert server.uploaded(failing) == [None, None]
    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
    assert await server.ping() == 200


async def test_an_output_that_fails_ends_the_request_and_leaves_the_images_before_it(server: Running) -> None:
    request = server.request(outputs=3)
    server.store.answers['image-1'] = [403]
    server.engine.block(21)
    invocation = asyncio.create_task(server.invoke(request))
    await until(lambda: server.uploaded(request)[0] is not None)
    server.engine.block(21)
    events = await invocation
    server.engine.release()

    assert failure(events)[0] == 'upload_failed'
    first, *rest = server.uploaded(request)
    assert first is not None
    assert rest == [None, None]
    assert (await server.invoke(server.request()))[-1]['event'] == 'completed'
    assert [seed for _, seed in server.engine.painted] == [11, 12, 11]
