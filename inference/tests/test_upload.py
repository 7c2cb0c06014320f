"""Putting images to their links."""

import asyncio
from pathlib import Path

import pytest

from .support import Running, failure, running

pytestmark = pytest.mark.anyio


async def test_that_is_never_answered_is_given_up(tmp_path: Path) -> None:
    async with running(tmp_path, link_timeout_seconds=0.1) as server:
        server.store.answers['image-0'] = ['stall']

        assert failure(await server.invoke(server.request()))[0] == 'upload_failed'
        assert server.store.count('image-0') == 3


async def test_is_not_held_up_by_what_the_store_says_afterwards(tmp_path: Path) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b'\r\n\r\n')
        writer.write(b'HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nand then')
        await reader.read()
        writer.close()

    server_of_few_words = await asyncio.start_server(handle, '127.0.0.1', 0)
    port = server_of_few_words.sockets[0].getsockname()[1]
    async with running(tmp_path) as server:
        request = server.request() | {'outputs': [{'putUrl': f'http://127.0.0.1:{port}/'}]}
        assert (await server.invoke(request))[-1]['event'] == 'completed'
    server_of_few_words.close()


async def test_sends_the_link_exactly_as_it_was_signed(server: Running) -> None:
    query = "X-Amz-Credential=AK%2F2026%2Bx&b=%e2%9c%93&a=~%7E%20+,;:@!$()*'&X-Amz-Signature=aB%3D%3D&empty="
    link = server.store.link('a%2Fb/c%20d', query)

    await server.invoke(server.request() | {'outputs': [{'putUrl': link}]})
    assert [seen.target for seen in server.store.seen] == [link.removeprefix(server.store.url)]
