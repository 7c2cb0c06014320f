"""Pictures that the operator's check refuses: they are put nowhere, and nothing of their request is."""

import hashlib
import json
import re
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from model_server.onnx_session import open_session
from model_server.picture_check import CheckPicture, PictureCheck, load_picture_check
from model_server.pipelines.engine import MakePicture, Prepared
from model_server.settings import SettingsError

from .fake_engine import FakeEngine
from .support import Running, failure, running, until
from .test_process import served, started
from .test_references import encoded

pytestmark = pytest.mark.anyio

RULES: dict[str, Any] = {
    'model': 'colors.onnx',
    'categories': ['violence', 'sexual', 'harmless'],
    'refuseFrom': {'violence': 0.8, 'sexual': 0.6},
}
RED, GREEN, BLUE = (230, 0, 0), (0, 180, 0), (0, 0, 255)
GRAY = (90, 90, 90)


def color_network(scale: float = 255, side: int | str = 8) -> bytes:
    """Its answers are how red, green and blue a picture is on average, of 1."""
    constant = numpy_helper.from_array(np.array(scale, np.float32), 'scale')
    nodes = [
        helper.make_node('GlobalAveragePool', ['image'], ['mean']),
        helper.make_node('Flatten', ['mean'], ['flat']),
        helper.make_node('Div', ['flat', 'scale'], ['probabilities']),
    ]
    taken = helper.make_tensor_value_info('image', TensorProto.FLOAT, ['batch', 3, side, side])
    given = helper.make_tensor_value_info('probabilities', TensorProto.FLOAT, ['batch', 3])
    graph = helper.make_graph(nodes, 'colors', [taken], [given], [constant])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    return bytes(model.SerializeToString())


def write_check(folder: Path, network: bytes, **changes: object) -> Path:
    """The operator's folder, whole unless something is changed; answers it."""
    folder.mkdir(exist_ok=True)
    (folder / 'colors.onnx').write_bytes(network)
    rules = {**RULES, 'sha256': hashlib.sha256(network).hexdigest(), **changes}
    (folder / 'check.json').write_text(json.dumps(rules))
    return folder


class ColorEngine(FakeEngine):
    """Output i of a request has the color at i."""

    colors: Sequence[tuple[int, int, int]] = ()

    def paint(self, prepared: Prepared, seed: int, on_step: Callable[[int], None]) -> MakePicture:
        super().paint(prepared, seed, on_step)
        return lambda: Image.new('RGB', (prepared.inputs.width, prepared.inputs.height), self.colors[seed])


@pytest.fixture
def check(tmp_path: Path) -> PictureCheck:
    return load_picture_check(write_check(tmp_path / 'check', color_network()))


@asynccontextmanager
async def checking(folder: Path, check: CheckPicture | None, *colors: Any) -> AsyncIterator[Running]:
    engine = ColorEngine()
    engine.colors = colors
    async with running(folder, engine) as server:
        server.context.check_picture = check
        yield server


def batch(server: Running) -> dict[str, Any]:
    """One output for each of the engine's colors, with previews."""
    request = server.request(outputs=len(server.engine.colors), seed=0, prompt='a secret')  # type: ignore[attr-defined]
    for index, output in enumerate(request['outputs']):
        output['previewPutUrl'] = server.store.link(f'preview-{index}')
    return request


async def test_of_a_batch_with_a_refused_picture_nothing_is_ever_put_and_the_rest_is_not_painted(
    tmp_path: Path, check: PictureCheck
) -> None:
    async with checking(tmp_path, check, GRAY, RED, GRAY, GRAY) as server:
        # The first step of the third.
        server.engine.block(41)
        events = await server.invoke(batch(server))
        server.engine.release()
        assert events[-1] == {
            'event': 'failed',
            'reason': 'content_refused',
            'message': 'An image was refused for violence.',
            'categories': ['violence'],
        }
        await until(lambda: server.context.queue._current is None)
        assert len(server.engine.painted) == 2
        assert server.store.seen == []
        (line,) = (line for line in server.lines() if line.get('message') == 'request')
        assert line['outcome'] == 'content_refused'
        assert not re.search('secret|violence', server.log.getvalue())


async def test_pictures_that_pass_are_put_once_all_have_with_the_bytes_that_they_have_without_a_check(
    tmp_path: Path, check: PictureCheck
) -> None:
    put_before: list[int] = []

    def noting(picture: Image.Image, thresholds: Mapping[str, float]) -> tuple[str, ...]:
        # The last one leaves the others the time to be put, if nothing held them.
        give_up = time.monotonic() + (1 if len(put_before) == 2 else 0)
        while time.monotonic() < give_up and not server.store.seen:
            time.sleep(0.01)
        put_before.append(len(server.store.seen))
        return check(picture, thresholds)

    # More green would be refused, and a category without a threshold never is.
    assert check(Image.new('RGB', (9, 9), GREEN)) == ('sexual',)
    found = []
    for one in (None, noting):
        async with checking(tmp_path, one, GRAY, BLUE, (0, 150, 0)) as server:
            request = batch(server)
            assert (await server.invoke(request))[-1]['event'] == 'completed'
            found.append(server.uploaded(request))
    assert found[0] == found[1]
    assert None not in found[0]
    assert put_before == [0, 0, 0]


async def test_a_reference_that_is_refused_is_named_before_the_engine_sees_any(
    tmp_path: Path, check: PictureCheck
) -> None:
    async with checking(tmp_path, check, GRAY) as server:
        # What is transparent is white, as for the engine, and to this network white is red and green.
        faint = Image.new('RGBA', (64, 64), (*RED, 40))
        files = [
            encoded(Image.new('RGB', (64, 64), GRAY)),
            encoded(Image.new('RGB', (64, 64), BLUE)),
            encoded(faint),
        ]
        links = [{'url': server.store.add(f'reference-{index}', file)} for index, file in enumerate(files)]
        events = await server.invoke(server.request(references=links))
        assert events[-1] == {
            'event': 'failed',
            'reason': 'content_refused',
            'message': 'Reference image 3 was refused for violence, sexual.',
            'reference': 2,
            'categories': ['violence', 'sexual'],
        }
        assert (server.engine.prepared, server.store.stored) == ([], {})
        allowed = server.request(references=links[:2], seed=0)
        assert (await server.invoke(allowed))[-1]['referenceImagesUsed'] == 2


async def test_a_request_has_its_own_thresholds_or_is_not_checked(
    tmp_path: Path, check: PictureCheck
) -> None:
    own: list[tuple[Any, list[str] | None]] = [
        ({}, ['violence']),
        ({'violence': 0.95, 'gore': 0.1}, None),
        ({'sexual': 0.01}, ['violence']),
        ({'violence': 1, 'harmless': 0.3}, ['harmless']),
        ('exempt', None),
    ]
    async with checking(tmp_path, check, (230, 0, 100)) as server:
        reference = server.store.add('reference', encoded(Image.new('RGB', (64, 64), (230, 0, 100))))
        for rule, categories in own:
            for references in ([], [{'url': reference}]):
                request = server.request(outputs=1, seed=0, references=references, pictureCheck=rule)
                last = (await server.invoke(request))[-1]
                assert last['event'] == ('failed' if categories else 'completed')
                assert last.get('categories') == categories
        unfit = server.request(outputs=1, seed=0, pictureCheck={'violence': 0})
        assert failure(await server.invoke(unfit))[0] == 'invalid_request'


async def test_a_network_that_answers_nonsense_lets_nothing_pass(tmp_path: Path, check: PictureCheck) -> None:
    check._session = open_session(color_network(scale=0), threads=1)
    async with checking(tmp_path, check, BLUE) as server:
        assert failure(await server.invoke(batch(server)))[0] == 'model_error'
        assert server.store.seen == []


UNFIT: list[tuple[dict[str, Any], str]] = [
    ({'refuseFrom': {'violence': 0.8, 'gore': 0.5}}, 'refuses gore, and the categories are violence, sexual'),
    ({'refuseFrom': {}}, 'refuseFrom: '),
    ({'refuseFrom': {'violence': 0}}, 'refuseFrom.violence: '),
    ({'categories': ['Violence', 'sexual', 'harmless']}, 'categories.0: '),
    ({'categories': ['violence', 'sexual']}, 'can not be used: it gives no probabilities'),
    ({'sha256': '0' * 64}, 'the SHA-256 of .*colors.onnx is [0-9a-f]{64}, not what check.json says'),
    ({'model': 'other.onnx'}, 'other.onnx can not be read'),
    ({'model': '../colors.onnx'}, 'model: '),
    ({'treshold': 1}, 'treshold: '),
]


@pytest.mark.parametrize(('changes', 'sentence'), UNFIT)
def test_what_does_not_fit_is_refused_at_the_start(
    tmp_path: Path, changes: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(SettingsError, match=sentence):
        load_picture_check(write_check(tmp_path / 'check', color_network(), **changes))


def test_a_file_that_is_no_network_or_takes_no_picture_is_refused_at_the_start(tmp_path: Path) -> None:
    for network in (b'no network', color_network(side='side'), color_network(scale=1)):
        with pytest.raises(SettingsError, match=r'colors\.onnx can not be used'):
            load_picture_check(write_check(tmp_path / 'check', network))


async def test_the_process_says_what_it_checks_or_ends_with_2(tmp_path: Path) -> None:
    folder = write_check(tmp_path / 'check', color_network())
    async with served(tmp_path, PICTURE_CHECK=str(folder)) as (process, _, _):
        process.terminate()
        assert await process.end() == 0
    assert '"pictures are checked", "refuseFrom": {"violence": 0.8' in ''.join(process.output)
    (folder / 'check.json').unlink()
    async with started(tmp_path, PICTURE_CHECK=str(folder)) as unfit:
        assert await unfit.end() == 2
    assert 'check.json can not be read.' in ''.join(unfit.output)
