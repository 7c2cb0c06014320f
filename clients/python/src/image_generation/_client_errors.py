"""The base of all exceptions, that of the service's refusals, and those that no code stands for."""

from __future__ import annotations

import builtins
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any


class ImageGenerationError(Exception):
    """The base of everything that this package raises, but for wrong arguments.

    No error holds the API key.
    """

    request_id: str | None = None
    """The request that it is about, where one was accepted: it goes on or is paid for, and can be fetched."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Job queues pickle the errors of their workers, and Python's own way knows no keyword arguments.
        return (_restored, (type(self), str(self), vars(self)))


def _restored(
    kind: type[ImageGenerationError], message: str, members: dict[str, Any]
) -> ImageGenerationError:
    error = kind.__new__(kind, message)
    error.args = (message,)
    vars(error).update(members)
    return error


@contextmanager
def about(request_id: str | None) -> Generator[None, None, None]:
    """Whatever is raised within, an error of the system or Ctrl-C as well, has the request's ID."""
    try:
        yield
    except BaseException as error:
        if request_id is not None:
            vars(error)['request_id'] = request_id
        raise


class ApiError(ImageGenerationError):
    """The service refused a request, or the request failed.

    Its text is the service's sentence, which says what to change.

    Each code has a class of its own below this one, such as `CreditLimitExceeded`. A code that this version
    does not know has this class itself.

    Example:
        >>> from image_generation import ApiError, InvalidParameters
        >>> try:
        ...     image = client.generate(identity_id=identity_id, prompt='a quiet bay', width=100)
        ... except InvalidParameters as error:
        ...     print(error)
        ... except ApiError as error:
        ...     print(error.code, error.request_id)
        width must be a multiple of 64, at least 512.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str,
        retry_after_seconds: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status."""
        self.code = code
        """The service's code; UNEXPECTED_ANSWER when the answer was not the service's."""
        self.retry_after_seconds = retry_after_seconds
        """After how long to try again, if the service said so."""
        self.request_id = request_id
        """Quote it when you ask for help.

        For a generation that was accepted, it is the ID of the stored request.
        """


class UnexpectedAnswer(ApiError):
    """What answered was not the service, but a proxy perhaps. Check the base URL."""


class ConfigurationError(ImageGenerationError, ValueError):
    """What is configured can't work, and another try is no use: a key, an address, a proxy, a certificate."""


class ConnectionError(ImageGenerationError, builtins.ConnectionError):
    """No answer came, or the connection broke during the answer.

    It is Python's own ConnectionError as well.
    """

    def __init__(self, message: str, *, answer_began: bool = False) -> None:
        super().__init__(message)
        self.answer_began = answer_began
        """Whether an answer had begun. If so, the service received the request."""


class TimeoutError(ImageGenerationError, builtins.TimeoutError):
    """The answer did not come in time.

    It is Python's own TimeoutError as well; the service's 504 is `Timeout`.
    """

    def __init__(self, message: str, request_id: str | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id
        """The generation, if it was accepted. It goes on and can be fetched."""


class StorageError(ImageGenerationError):
    """The storage refused to take or to give a file."""

    def __init__(self, message: str, status: int, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        """The HTTP status."""
        self.code = code
        """The storage's code, such as EntityTooLarge."""


class UploadError(StorageError):
    """The storage refused a file."""


class DownloadError(StorageError):
    """The storage did not give an image, also by a new link."""
