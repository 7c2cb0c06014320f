"""The exceptions that no code of the service stands for."""

from __future__ import annotations

import builtins

from ._api_error import ApiError, ImageGenerationError


class UnexpectedAnswer(ApiError):
    """What answered was not the service, but a proxy perhaps. Check the base URL."""


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

    def __reduce__(self) -> tuple[type[StorageError], tuple[str, int, str | None]]:
        return (type(self), (str(self), self.status, self.code))


class UploadError(StorageError):
    """The storage refused a file."""


class DownloadError(StorageError):
    """The storage did not give an image, also by a new link."""
