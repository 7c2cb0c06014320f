"""The base of all exceptions, and that of the service's refusals."""

from __future__ import annotations

from typing import Any


class ImageGenerationError(Exception):
    """The base of everything that this package raises, but for wrong arguments.

    No error holds the API key.
    """


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

    def __reduce__(self) -> tuple[Any, ...]:
        # Job queues pickle the errors of their workers, and Python's own way knows no keyword arguments.
        return (type(self)._restored, (str(self), self.__dict__))

    @classmethod
    def _restored(cls, message: str, members: dict[str, Any]) -> ApiError:
        names = ('status', 'code', 'retry_after_seconds', 'request_id')
        return cls(message, **{name: members[name] for name in names})
