"""What a generation ends with, and its images: their bytes, and files of them."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import ConfigDict, PrivateAttr
from pydantic.alias_generators import to_camel

from . import models
from ._answer import Answer
from ._client_errors import about
from ._io import run
from ._requester import Requester
from ._retry import api_error
from ._storage import Links, fetch_image

OneImage = TypeVar('OneImage', bound='_Image')
Bound = TypeVar('Bound', bound='_HasImages')


_statuses = {'TIMEOUT': 504, 'SERVICE_UNAVAILABLE': 503} | dict.fromkeys(
    ('INVALID_PARAMETERS', 'CANCELLED', 'CONTENT_REFUSED'), 400
)


class Result(Answer):
    """A generation that succeeded."""

    model_config = ConfigDict(alias_generator=to_camel)

    request_id: str
    """It does not change, and `get_generation` fetches it."""
    outputs: list[str]
    """Signed links, open for an hour at most. `images` signs new ones where they are needed."""
    identity: models.IdentityName
    identity_version: int | None
    """The version of the identity that made it; None where an older service does not tell."""
    seed: int
    """The seed of the first output; each further one has the next."""
    credits_charged: int
    reference_images_used: int
    processing_time_ms: int
    """Milliseconds from acceptance to completion."""
    usage: models.CreditsUsage | None
    """None when the answer was lost and the stored request was fetched instead."""


def result_of_answer(answer: models.Generation) -> Result:
    """The result of an answer on the line."""
    return Result(
        request_id=answer.request_id,
        outputs=answer.outputs,
        identity=answer.identity,
        identity_version=answer.identity_version,
        seed=answer.seed,
        credits_charged=answer.usage.credits_charged,
        reference_images_used=answer.reference_images_used,
        processing_time_ms=answer.processing_time_ms,
        usage=answer.usage,
    )


def result_of_stored(stored: models.StoredGeneration) -> Result:
    """The result of a stored request. Raises its error if it failed."""
    if stored.status == 'COMPLETED':
        return Result(
            request_id=stored.id,
            outputs=stored.outputs,
            identity=models.IdentityName(id=stored.identity.id, name=stored.identity.name),
            identity_version=stored.identity_version,
            seed=stored.seed,
            credits_charged=stored.credits_charged,
            reference_images_used=stored.reference_images_used,
            # It is null only until the request ends.
            processing_time_ms=stored.processing_time_ms or 0,
            usage=None,
        )
    code = stored.error_code or 'GENERATION_FAILED'
    sentence = stored.error_message or 'The image could not be finished.'
    raise api_error(
        f'{sentence} Nothing was charged.',
        status=_statuses.get(code, 500),
        code=code,
        request_id=stored.id,
    )


class _Image:
    def __init__(self, requester: Requester, links: Links, index: int) -> None:
        self._requester = requester
        self._links = links
        self._index = index

    @property
    def link(self) -> str:
        """The present signed link, open for an hour at most."""
        return self._links.outputs[self._index]


class Image(_Image):
    """One image of a request. Where its link has expired, a new one is signed."""

    def bytes(self) -> builtins.bytes:
        """The file as it is stored."""
        return run(fetch_image(self._requester, self._links, self._index))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file. A file that was there is replaced once all of the image has arrived."""
        content = self.bytes()
        with about(self._links.request_id):
            run(self._requester.io.write_file(Path(path), content))
        return Path(path)


class AsyncImage(_Image):
    """One image of a request. Where its link has expired, a new one is signed."""

    async def bytes(self) -> builtins.bytes:
        """The file as it is stored."""
        return await fetch_image(self._requester, self._links, self._index)

    async def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file. A file that was there is replaced once all of the image has arrived."""
        content = await self.bytes()
        with about(self._links.request_id):
            await self._requester.io.write_file(Path(path), content)
        return Path(path)


def _only(images: Sequence[OneImage]) -> OneImage:
    if len(images) != 1:
        raise ValueError(f'It has {len(images)} images: take them from `images`.')
    return images[0]


class _HasImages(Answer):
    def bind_images(self, requester: Requester, links: Links) -> None:
        """Makes the images, once."""
        raise NotImplementedError


class _Images(_HasImages):
    """Beside what was answered: the images."""

    _bound: tuple[Image, ...] = PrivateAttr(default=())

    def bind_images(self, requester: Requester, links: Links) -> None:
        self._bound = tuple(Image(requester, links, index) for index in range(len(links.outputs)))

    @property
    def images(self) -> tuple[Image, ...]:
        """The images, in the order of `outputs`. A request that has not completed has none."""
        return self._bound

    def bytes(self) -> builtins.bytes:
        """The file of the only image; of several, take them from `images`."""
        return _only(self.images).bytes()

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file of the only image; of several, take them from `images`."""
        return _only(self.images).save(path)


class _AsyncImages(_HasImages):
    """Beside what was answered: the images."""

    _bound: tuple[AsyncImage, ...] = PrivateAttr(default=())

    def bind_images(self, requester: Requester, links: Links) -> None:
        self._bound = tuple(AsyncImage(requester, links, index) for index in range(len(links.outputs)))

    @property
    def images(self) -> tuple[AsyncImage, ...]:
        """The images, in the order of `outputs`. A request that has not completed has none."""
        return self._bound

    async def bytes(self) -> builtins.bytes:
        """The file of the only image; of several, take them from `images`."""
        return await _only(self.images).bytes()

    async def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the file of the only image; of several, take them from `images`."""
        return await _only(self.images).save(path)


class GenerationResult(Result, _Images):
    """A generation that succeeded, and its images.

    Example:
        >>> image = client.generate(identity_id=identity_id, prompt='two quiet bays', num_outputs=2)
        >>> [one.save(folder / f'bay-{number}.png').name for number, one in enumerate(image.images)]
        ['bay-0.png', 'bay-1.png']
    """


class AsyncGenerationResult(Result, _AsyncImages):
    """A generation that succeeded, and its images."""


class StoredGeneration(models.StoredGeneration, _Images):
    """A stored request with any status, and its images."""


class AsyncStoredGeneration(models.StoredGeneration, _AsyncImages):
    """A stored request with any status, and its images."""


class StoredGenerationList(Answer):
    """A page of stored requests, newest first."""

    generations: list[StoredGeneration]
    next_cursor: str | None
    """Give it as `cursor` for the next page; None on the last one."""
    searched_back_to: datetime | None
    """Everything newer was looked at; None on the last page."""


class AsyncStoredGenerationList(Answer):
    """A page of stored requests, newest first."""

    generations: list[AsyncStoredGeneration]
    next_cursor: str | None
    """Give it as `cursor` for the next page; None on the last one."""
    searched_back_to: datetime | None
    """Everything newer was looked at; None on the last page."""


def bind(kind: type[Bound], answer: Result | models.StoredGeneration, requester: Requester) -> Bound:
    """The same answer as one that can fetch its images."""
    request_id = answer.request_id if isinstance(answer, Result) else answer.id
    links = Links(request_id, list(answer.outputs))
    members: dict[str, Any] = dict(answer)
    # mypy and pyright disagree on its type.
    bound: Any = kind.model_construct(**members)
    bound.bind_images(requester, links)
    return cast(Bound, bound)
