"""The folder of a batch: what was sent and how it ended, so that a kill at any moment loses nothing."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from pydantic import ConfigDict
from pydantic.alias_generators import to_camel

from ._answer import Answer
from ._io import write_whole
from .errors import ApiError, ConfigurationError

if sys.platform == 'win32':
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        # Beyond all that is ever written: nobody could read a part that is locked.
        file.seek(2**30)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


# A key is kept for 24 hours from when the service got it. The rest is for clocks that are wrong.
_key_kept_seconds = 24 * 3600 - 600.0
_notes_name = '.batch.jsonl'

Contents: TypeAlias = Mapping[int, Mapping[str, Any]]


class BatchResult(Answer):
    """How a line of a batch ended: with images, or with an error."""

    model_config = ConfigDict(alias_generator=to_camel)

    line: int
    request_id: str | None = None
    files: tuple[str, ...] = ()
    """The names of its images in the folder."""
    credits: int = 0
    """What was charged."""
    seed: int | None = None
    code: str | None = None
    """None when it has images."""
    error: str | None = None
    status: int | None = None
    """Of the error. Lines with 429 and more are sent again when the batch is run again."""

    @property
    def is_open(self) -> bool:
        """Whether another try may succeed."""
        return self.status is not None and self.status >= 429


def failure(line: int, error: ApiError) -> BatchResult:
    """The result of a line that was refused or failed."""
    return BatchResult(
        line=line, request_id=error.request_id, code=error.code, error=str(error), status=error.status
    )


@dataclass
class Line:
    """A line, and what was noted of it."""

    number: int
    key: str
    """Its idempotency key."""
    body: str | None = None
    """As it was sent first: every try must send the same bytes."""
    sent_at: float = 0
    request_id: str | None = None
    result: BatchResult | None = None
    look_at: float = 0

    sender: str = ''
    """The digest of the API key that sent it, which alone knows its idempotency key."""

    def is_lost(self, sender: str) -> bool:
        """Whether it was sent, and this API key can't learn how that ended."""
        if self.body is None or self.result is not None:
            return False
        is_old = self.request_id is None and self.sent_at < time.time() - _key_kept_seconds
        return is_old or self.sender != sender


def unsent(path: Path, contents: Contents, again: bool) -> set[int]:
    """The lines that a run is going to send, as far as the notes say: those without an answer or an end."""
    notes = path / _notes_name
    batch, noted = _noted(notes.read_bytes() if notes.exists() else b'')
    return {
        line.number
        for line in _lines_of(batch or '', noted, contents)
        if line.result is None and (line.body is None or (again and line.request_id is None))
    }


class BatchFolder:
    """Notes what happens, each time before anything depends on it. One process at a time has it open."""

    def __init__(self, path: Path, sender: str) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self._sender = sender
        self._notes = (path / _notes_name).open('a+b')
        try:
            _lock(self._notes)
        except OSError as cause:
            self._notes.close()
            raise ConfigurationError(f'Another process runs a batch in {path}.') from cause
        for part in path.glob(f'.{"[0-9a-f]" * 16}.part'):
            part.unlink()

    def close(self) -> None:
        """Lets another process have it."""
        self._notes.close()

    def lines(self, contents: Contents, again: bool) -> list[Line]:
        """The lines, each with what earlier runs noted of it."""
        self._notes.seek(0)
        content = self._notes.read()
        batch, noted = _noted(content)
        # A kill may have torn the last one, upon which nothing has depended yet.
        self._notes.truncate(content.rfind(b'\n') + 1)
        if batch is None:
            batch = uuid.uuid4().hex
            _append(self._notes, {'batch': batch})
        found = _lines_of(batch, noted, contents)
        lost = [line.number for line in found if line.is_lost(self._sender)]
        if lost and not again:
            raise ConfigurationError(
                f'Lines {", ".join(map(str, lost))} were sent more than a day ago or with another key: they '
                'may be paid for. Look at the stored requests, then send them again (--again).'
            )
        ended = [line.result for line in found if line.result is not None]
        write_whole(self.path / 'results.jsonl', b''.join(map(_json_of, ended)))
        return [Line(line.number, line.key) if line.number in lost else line for line in found]

    def sent(self, line: Line, body: bytes) -> str:
        """Before it is sent."""
        line.body, line.sent_at = body.decode(), time.time()
        sent = {'key': line.key, 'body': line.body, 'sentAt': line.sent_at, 'sender': self._sender}
        _append(self._notes, {'line': line.number, **sent})
        return line.body

    def accepted(self, line: Line, request_id: str) -> None:
        """From now on it has an ID, which is kept for longer than its key."""
        line.request_id = request_id
        _append(self._notes, {'line': line.number, 'requestId': request_id})

    def ended(self, result: BatchResult) -> BatchResult:
        """Once its images are saved."""
        _append(self._notes, {'line': result.line, 'result': _plain(result)})
        with (self.path / 'results.jsonl').open('ab') as file:
            file.write(_json_of(result))
        return result


def _noted(content: bytes) -> tuple[str | None, dict[int, Line]]:
    """The batch's ID, and what was noted of each line. What follows the last line's end is no note."""
    batch, noted = None, dict[int, Line]()
    for text in content.splitlines(keepends=True):
        if not text.endswith(b'\n'):
            break
        note = json.loads(text)
        number = note.get('line')
        if number is None:
            batch = note['batch']
        elif 'key' in note:
            noted[number] = Line(number, note['key'], note['body'], note['sentAt'], sender=note['sender'])
        elif 'requestId' in note:
            noted[number].request_id = note['requestId']
        else:
            noted[number].result = BatchResult.model_validate(note['result'])
    return batch, noted


def _lines_of(batch: str, noted: Mapping[int, Line], contents: Contents) -> list[Line]:
    return [
        _line_of(Line(number, _key_of(batch, number, content)), noted.get(number))
        for number, content in contents.items()
    ]


def _line_of(line: Line, noted: Line | None) -> Line:
    """What is still to be known of a line. One that failed may be another now, or be sent again."""
    if noted is None or (noted.result is not None and noted.result.is_open):
        return line
    if noted.key == line.key:
        return noted
    if noted.result is not None and noted.result.code is not None:
        return line
    raise ConfigurationError(
        f'Line {line.number} is not what was sent before. Add lines at its end, or take another folder.'
    )


def _key_of(batch: str, number: int, content: Mapping[str, Any]) -> str:
    text = json.dumps([batch, number, content], sort_keys=True, default=_plain_content)
    return f'batch-{hashlib.sha256(text.encode()).hexdigest()}'


def _plain_content(value: Any) -> str:
    """Of a reference image, in the place of its bytes or for its path."""
    return str(value) if hasattr(value, '__fspath__') else hashlib.sha256(value).hexdigest()


def _plain(result: BatchResult) -> Any:
    return result.model_dump(mode='json', by_alias=True, exclude_none=True)


def _json_of(result: BatchResult) -> bytes:
    return json.dumps(_plain(result)).encode() + b'\n'


def _append(file: BinaryIO, note: Any) -> None:
    file.write(json.dumps(note).encode() + b'\n')
    file.flush()
    os.fsync(file.fileno())
