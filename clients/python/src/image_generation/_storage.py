"""Sends files to the storage and fetches images from it, by signed forms and links and without the key."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from ._client_errors import about
from ._io import IO
from ._requester import Requester
from ._retry import is_transient
from ._stored import get_generation_call
from .errors import DownloadError, StorageError, UploadError
from .models import StoredGeneration, Upload

File: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO

_most_bytes = 10 * 1024 * 1024
_transfer: dict[str, Any] = {'timeout': 5 * 60.0, 'silence': 60.0, 'of': 'storage'}
# A storage that is away for so long is reported, as nothing is lost: the image can be fetched later.
_retry_for_seconds = 60.0
# What the storage answers for a link that has expired, or whose signer's credentials have.
_refused_links = (400, 401, 403, 404)


async def send_file(requester: Requester, upload: Upload, content: bytes) -> None:
    """Sends a file by the form of an upload."""

    async def once() -> None:
        # The file is last: S3 ignores later fields. Its name is fixed, because its own may be private.
        more: dict[str, Any] = {'data': upload.fields, 'files': {'file': ('file', content)}}
        async with requester.exchange('POST', upload.url, **_transfer, **more) as response:
            if not response.is_success:
                raise _upload_refused(
                    response.status_code, (await requester.read(response)).decode('utf-8', 'replace')
                )

    await requester.retry(once, _is_worth_retry, _retry_for_seconds)


async def read_upload(io: IO, file: File) -> bytes:
    """The bytes of a file, which may be uploaded."""
    content = await _content_of(io, file, _most_bytes + 1)
    if len(content) > _most_bytes:
        name = Path(file) if isinstance(file, str | os.PathLike) else 'The file'
        raise UploadError(f'{name} is larger than 10 MiB.', 413, 'EntityTooLarge')
    return content


async def _content_of(io: IO, file: File, limit: int) -> bytes:
    """At most `limit` bytes of a file."""
    if isinstance(file, bytes | bytearray | memoryview):
        return bytes(file[:limit])
    if isinstance(file, str | os.PathLike):
        return await io.read_file(Path(file), limit)
    # A caller without a type checker may have opened it as text.
    content: bytes | str = file.read(limit)
    if isinstance(content, str):
        raise TypeError('The file must be opened in binary mode: open(path, "rb").')
    return content


def _upload_refused(status: int, xml: str) -> UploadError:
    return UploadError('The storage did not take the file.', status, _code_of(xml))


def _code_of(xml: str) -> str | None:
    found = re.search(r'<Code>(\w+)</Code>', xml)
    return found[1] if found else None


def _is_worth_retry(error: Exception) -> bool:
    return error.status >= 500 if isinstance(error, StorageError) else is_transient(error)


class Links:
    """The present links of a stored request. All its images share them, so that new ones are signed once."""

    def __init__(self, request_id: str, outputs: list[str]) -> None:
        self.request_id = request_id
        self.outputs = outputs


async def fetch_image(requester: Requester, links: Links, index: int) -> bytes:
    """An image. If its link has expired, a new one is signed."""
    link = links.outputs[index]
    with about(links.request_id):
        try:
            return await _download(requester, link)
        except DownloadError as error:
            if error.status not in _refused_links:
                raise
        # Another image of the same request may have had new ones signed in the meantime.
        if links.outputs[index] == link:
            stored = await requester.fetch(get_generation_call(links.request_id), StoredGeneration)
            links.outputs = stored.outputs
        return await _download(requester, links.outputs[index])


async def _download(requester: Requester, link: str) -> bytes:
    async def once() -> bytes:
        async with requester.exchange('GET', link, **_transfer) as response:
            body = await requester.read(response)
            if response.status_code != 200:
                code = _code_of(body[:10_000].decode('utf-8', 'replace'))
                raise DownloadError('The storage did not give the image.', response.status_code, code)
            return body

    return await requester.retry(once, _is_worth_retry, _retry_for_seconds)
