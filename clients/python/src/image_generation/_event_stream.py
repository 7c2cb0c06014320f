"""Reads server-sent events as WHATWG HTML defines them ("9.2.6 Interpreting an event stream")."""

from __future__ import annotations

import codecs
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class StreamEvent:
    """One event of a `text/event-stream`."""

    event: str
    data: str


async def read_events(chunks: AsyncIterable[bytes]) -> AsyncGenerator[StreamEvent, None]:
    """UTF-8, an optional byte order mark, lines that end in CRLF, LF or CR, comments, and data of several
    lines.

    Chunks may end anywhere. An event that the stream's end cuts off is dropped. `id` and `retry` are ignored,
    because this reader does not reconnect.
    """
    lines = _line_splitter()
    event = ''
    data: list[str] = []
    # It keeps the first bytes of a character that spans two chunks.
    decoder = codecs.getincrementaldecoder('utf-8-sig')('replace')
    async for chunk in chunks:
        for line in lines(decoder.decode(chunk)):
            if line == '':
                if data:
                    yield StreamEvent(event or 'message', '\n'.join(data))
                event, data = '', []
                continue
            field, _, value = line.partition(':')
            # One space may stand before the value.
            value = value[1:] if value.startswith(' ') else value
            if field == 'event':
                event = value
            elif field == 'data':
                data.append(value)


def _line_splitter() -> Callable[[str], list[str]]:
    """A function that takes text piece by piece and returns the lines that each piece completes."""
    rest = ''
    ended_in_cr = False

    def split(text: str) -> list[str]:
        nonlocal rest, ended_in_cr
        if text == '':
            return []
        # A CR at the end of the last piece ended a line. An LF right after it is part of the same line end.
        added = text[1:] if ended_in_cr and text.startswith('\n') else text
        ended_in_cr = text.endswith('\r')
        # Not splitlines(), which also splits at characters that may stand in JSON.
        *lines, rest = (rest + added).replace('\r\n', '\n').replace('\r', '\n').split('\n')
        return lines

    return split
