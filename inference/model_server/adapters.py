"""
Adapters on disk: downloaded once, verified, and kept while there is room.

A file is stored under its SHA-256. A request without the digest finds its file by identity and version. A
request without a version downloads it each time, since the file may have changed.
"""

import asyncio
import hashlib
import re
import uuid
from collections import Counter, OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .contract import Identity
from .failure import Failure
from .links import LinkError, Links
from .pipelines.engine import Adapter
from .safetensors import NotSafetensors, check_safetensors

LIMIT_BYTES = 2 * 1024**3

_DIGEST = re.compile('[0-9a-f]{64}')


@dataclass
class _Download:
    """A download that several requests share. It ends when the last of them is cancelled."""

    task: asyncio.Task[str]
    listeners: int = 0


class AdapterStore:
    """The adapters of one folder. One event loop uses it, and no other process the folder."""

    def __init__(self, folder: Path, limit_bytes: int, links: Links, timeout_seconds: float) -> None:
        """Makes the folder, and takes over the complete files in it. Raises OSError."""
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._links = links
        self._timeout_seconds = timeout_seconds
        # Bytes by digest, least recently used first.
        self._files: OrderedDict[str, int] = OrderedDict()
        self._holders: Counter[str] = Counter()
        self._digests: dict[str, str] = {}
        self._downloads: dict[str, _Download] = {}
        folder.mkdir(parents=True, exist_ok=True)
        for part in folder.glob('*.part'):
            part.unlink(missing_ok=True)
        self._take_over()

    def _take_over(self) -> None:
        """Counts the complete files that an earlier process left."""
        found = [path for path in self._folder.glob('*.safetensors') if _DIGEST.fullmatch(path.stem)]
        for path in sorted(found, key=lambda path: path.stat().st_mtime):
            try:
                check_safetensors(path)
                self._files[path.stem] = path.stat().st_size
            except NotSafetensors:
                path.unlink()

    async def hold(self, identity: Identity) -> Adapter | None:
        """
        The identity's adapter, which stays on disk until it is released; None when it has none.

        Raises Failure('adapter_unavailable').
        """
        if identity.adapter_url is None:
            return None
        digest = await self._hold(identity, identity.adapter_url)
        return Adapter(digest, self._path(digest), identity.adapter_scale)

    def release(self, adapter: Adapter) -> None:
        """Ends one hold. A held file is never evicted."""
        self._release(adapter.digest)

    async def _hold(self, identity: Identity, url: str) -> str:
        """Returns the digest of a file on disk, held once more."""
        known = identity.adapter_sha256.lower() if identity.adapter_sha256 else None
        key = known or _key(identity)
        digest = known or self._digests.get(key)
        if digest is not None and self._is_there(digest):
            self._files.move_to_end(digest)
            self._holders[digest] += 1
            return digest
        download = self._downloads.get(key)
        if download is None:
            download = _Download(asyncio.create_task(self._download(key, url, known)))
            self._downloads[key] = download
        return await self._follow(key, download)

    async def _follow(self, key: str, download: _Download) -> str:
        task = download.task
        download.listeners += 1
        try:
            digest = await asyncio.shield(task)
            self._holders[digest] += 1
            return digest
        finally:
            download.listeners -= 1
            if download.listeners == 0:
                if self._downloads.get(key) is download:
                    del self._downloads[key]
                if not task.done():
                    task.cancel()
                elif not task.cancelled() and task.exception() is None:
                    self._release(task.result())

    async def _download(self, key: str, url: str, known: str | None) -> str:
        """Returns the digest; the file is held once for all requests that wait for it."""
        part = self._folder / f'{uuid.uuid4().hex}.part'
        try:
            digest = await self._fetch(url, part)
            if known is not None and digest != known:
                raise _unavailable('is not the file that it should be: its SHA-256 differs')
            await asyncio.to_thread(check_safetensors, part)
            self._files[digest] = part.stat().st_size
            part.replace(self._path(digest))
        except LinkError as error:
            raise _unavailable(f'could not be fetched: {error.why}') from None
        except NotSafetensors:
            raise _unavailable('is not a whole .safetensors file') from None
        except OSError:
            raise _unavailable('could not be stored') from None
        finally:
            part.unlink(missing_ok=True)
        self._files.move_to_end(digest)
        self._digests[key] = digest
        self._holders[digest] += 1
        return digest

    async def _fetch(self, url: str, part: Path) -> str:
        hashing = hashlib.sha256()
        with part.open('wb') as file:

            def begin() -> Callable[[bytes], object]:
                nonlocal hashing
                hashing = hashlib.sha256()
                file.seek(0)
                file.truncate()
                return take

            def take(piece: bytes) -> None:
                hashing.update(piece)
                try:
                    file.write(piece)
                except OSError:
                    raise _unavailable('could not be stored') from None

            await self._links.fetch(url, LIMIT_BYTES, self._timeout_seconds, begin)
        return hashing.hexdigest()

    def _release(self, digest: str) -> None:
        self._holders[digest] -= 1
        if self._holders[digest] == 0:
            del self._holders[digest]
        self._evict()

    def _evict(self) -> None:
        total = sum(self._files.values())
        for digest, size in list(self._files.items()):
            if total <= self._limit_bytes:
                return
            if digest in self._holders:
                continue
            self._path(digest).unlink(missing_ok=True)
            del self._files[digest]
            self._digests = {key: known for key, known in self._digests.items() if known != digest}
            total -= size

    def _is_there(self, digest: str) -> bool:
        if digest in self._files and self._path(digest).is_file():
            return True
        self._files.pop(digest, None)
        return False

    def _path(self, digest: str) -> Path:
        return self._folder / f'{digest}.safetensors'


def _key(identity: Identity) -> str:
    if identity.adapter_version is None:
        return uuid.uuid4().hex
    return f'{identity.id}\n{identity.adapter_version}'


def _unavailable(what: str) -> Failure:
    return Failure('adapter_unavailable', f"The identity's adapter {what}.")
