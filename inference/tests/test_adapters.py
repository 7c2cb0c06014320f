"""Adapters: downloaded once, checked, kept while there is room."""

import asyncio
import hashlib
import struct
from pathlib import Path
from typing import Any

import pytest

from model_server.safetensors import NotSafetensors, check_safetensors

from .support import Running, closing, failure, identity, running, safetensors, until

pytestmark = pytest.mark.anyio


def digest(file: bytes) -> str:
    """SHA-256."""
    return hashlib.sha256(file).hexdigest()


def with_adapter(server: Running, name: str, file: bytes, **changes: object) -> dict[str, Any]:
    """A request with an adapter that lies in the store."""
    about = {'adapterUrl': server.store.add(name, file), 'adapterVersion': '1', **changes}
    return server.request(identity=identity(**about))


def kept(tmp_path: Path) -> set[str]:
    """The names of the files in the adapters' folder."""
    return {path.name for path in (tmp_path / 'adapters').iterdir()}


async def complete(server: Running, request: dict[str, Any]) -> None:
    assert (await server.invoke(request))[-1]['event'] == 'completed'


@pytest.mark.parametrize('known', [True, False])
async def test_is_downloaded_once_and_handed_to_the_engine(
    server: Running, tmp_path: Path, known: bool
) -> None:
    file = safetensors(b'the weights')
    sha256 = digest(file) if known else None
    request = with_adapter(server, 'a', file, adapterSha256=sha256, settings={'adapterScale': 0.5})
    await complete(server, request)
    await complete(server, request)

    assert server.store.count('a') == 1
    first, second = server.engine.used
    assert first is not None
    assert first == second
    assert (first.digest, first.scale) == (digest(file), 0.5)
    assert first.path.read_bytes() == file
    assert kept(tmp_path) == {f'{digest(file)}.safetensors'}


async def test_known_by_its_digest_is_shared_by_identities_and_outlives_the_process(
    server: Running, tmp_path: Path
) -> None:
    file = safetensors(b'the weights')
    await complete(server, with_adapter(server, 'a', file))
    await complete(server, with_adapter(server, 'a', file, id='idn_b', adapterSha256=digest(file).upper()))
    assert server.store.count('a') == 1
    for name in ['half.part', f'{"0" * 64}.safetensors', 'mine.safetensors']:
        (tmp_path / 'adapters' / name).write_bytes(b'half')

    async with running(tmp_path) as again:
        await complete(again, with_adapter(again, 'a', file, adapterSha256=digest(file)))
        assert again.store.count('a') == 0
        assert kept(tmp_path) == {f'{digest(file)}.safetensors', 'mine.safetensors'}


async def test_of_another_version_is_another_file_and_without_a_version_always_a_new_one(
    server: Running,
) -> None:
    for version, expected in [('1', 1), ('2', 2), ('2', 2), (None, 3), (None, 4)]:
        file = safetensors(f'weights {version}'.encode())
        await complete(server, with_adapter(server, 'a', file, adapterVersion=version))
        assert server.store.count('a') == expected
        used = server.engine.used[-1]
        assert used is not None
        assert used.digest == digest(file)


async def test_wanted_by_many_at_once_is_downloaded_once(server: Running) -> None:
    gate = server.store.gates['a'] = asyncio.Event()
    request = with_adapter(server, 'a', safetensors())
    async with server.opened(request) as leaving:
        await anext(leaving)
        await server.store.arrived['a'].wait()
        others = [asyncio.create_task(server.invoke(request)) for _ in range(4)]
        await until(lambda: len(server.context.jobs) == 5)
    # The one that began the download has hung up, which must not end it for the others.
    await until(lambda: len(server.context.jobs) == 4)
    gate.set()
    for other in others:
        assert (await other)[-1]['event'] == 'completed'

    assert server.store.count('a') == 1


async def test_that_nobody_waits_for_any_more_is_not_downloaded_on(server: Running, tmp_path: Path) -> None:
    server.store.gates['a'] = asyncio.Event()
    request = with_adapter(server, 'a', safetensors())
    async with server.opened(request) as events:
        await anext(events)
        await server.store.arrived['a'].wait()
    await server.store.left.wait()

    await until(lambda: kept(tmp_path) == set())
    del server.store.gates['a']
    await complete(server, request)


GOOD = safetensors(b'12345678')


@pytest.mark.parametrize(
    ('answer', 'file', 'sha256', 'why'),
    [
        ('cut', GOOD, None, 'the connection failed'),
        (200, GOOD + b'x', None, 'safetensors'),
        (200, GOOD, digest(b'another'), 'SHA-256'),
    ],
)
async def test_that_is_no_good_leaves_nothing_on_disk_and_is_not_remembered(
    server: Running, tmp_path: Path, answer: Any, file: bytes, sha256: str | None, why: str
) -> None:
    server.store.answers['a'] = [answer]
    reason, message = failure(await server.invoke(with_adapter(server, 'a', file, adapterSha256=sha256)))

    assert reason == 'adapter_unavailable'
    assert why in message
    assert 'secret' not in message
    assert kept(tmp_path) == set()
    server.store.answers.clear()
    await complete(server, with_adapter(server, 'a', GOOD))


async def test_longest_unused_goes_first_when_there_is_no_room(tmp_path: Path) -> None:
    files = {name: safetensors(name.encode() * 1000) for name in 'abc'}
    async with running(tmp_path, adapter_cache_bytes=2 * len(files['a'])) as server:
        for name in ['a', 'b', 'a', 'c', 'a', 'b']:
            await complete(server, with_adapter(server, name, files[name], adapterVersion=name))

        assert [server.store.count(name) for name in 'abc'] == [1, 2, 1]
        assert kept(tmp_path) == {f'{digest(files[name])}.safetensors' for name in 'ab'}


async def test_in_use_stays_however_little_room_there_is(tmp_path: Path) -> None:
    async with running(tmp_path, adapter_cache_bytes=0) as server:
        server.engine.block(1)
        there: list[bool] = []
        server.engine.on_use = lambda adapter: there.append(adapter is not None and adapter.path.is_file())
        first, second, third = (
            with_adapter(server, name, safetensors(name.encode()), adapterVersion=name) for name in 'abc'
        )
        async with server.opened(first) as events:
            await anext(events)
            await until(lambda: len(there) == 1)
            async with server.opened(second) as later:
                await anext(later)
                await until(lambda: len(kept(tmp_path)) == 2)
                # A third one comes and goes, and with it every file that nobody holds.
                async with server.opened(third) as leaving:
                    await anext(leaving)
                    await until(lambda: len(kept(tmp_path)) == 3)
                await until(lambda: len(kept(tmp_path)) == 2)
                server.engine.release()
                assert await closing(later) == 'completed'
            assert await closing(events) == 'completed'

        assert there == [True, True]
        assert kept(tmp_path) == set()


def header(**changes: object) -> dict[str, object]:
    return {'w': {'dtype': 'F16', 'shape': [2, 2], 'data_offsets': [0, 8], **changes}}


@pytest.mark.parametrize(
    ('content', 'good'),
    [
        (header(), True),
        (
            {
                'b': header(shape=[2], data_offsets=[4, 8])['w'],
                'a': header(shape=[2], data_offsets=[0, 4])['w'],
            },
            True,
        ),
        (header(shape=[2, 3]), False),
        (header(dtype='X9'), False),
        (header(data_offsets=[0, 9]), False),
        (header(data_offsets=[8, 0]), False),
        (header(data_offsets=[0]), False),
        (header(data_offsets=[0, 10**30]), False),
        (header(shape=[-2, -2]), False),
        (header(shape=[True, 4]), False),
        (header(shape='22'), False),
        ({'a': header()['w'], 'b': header()['w']}, False),
        ({'w': {'dtype': 'F16'}}, False),
        ({'w': []}, False),
        ({}, False),
        ([], False),
        (b'\xff\xfe', False),
        (b'[' * 50_000, False),
    ],
)
def test_the_header_must_tell_of_the_whole_file(tmp_path: Path, content: object, good: bool) -> None:
    path = tmp_path / 'file'
    path.write_bytes(safetensors(bytes(8), content))
    if good:
        check_safetensors(path)
    else:
        with pytest.raises(NotSafetensors):
            check_safetensors(path)


@pytest.mark.parametrize('length', [0, 100_000_001, 2**64 - 1])
def test_the_header_is_read_only_when_its_length_can_be_true(tmp_path: Path, length: int) -> None:
    path = tmp_path / 'file'
    path.write_bytes(struct.pack('<Q', length) + b'{}')
    with pytest.raises(NotSafetensors):
        check_safetensors(path)
