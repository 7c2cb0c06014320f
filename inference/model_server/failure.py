"""The error that a caller gets."""

from typing import Literal

Reason = Literal[
    'invalid_request',  # the request does not fit the contract
    'busy',  # the queue is too long to meet the deadline, or the server does not take work
    'unavailable',  # the model is lost, and the server is being restarted
    'deadline',  # the deadline came first
    'cancelled',  # the service said so at the request's link
    'adapter_unavailable',  # the identity's adapter could not be fetched, verified or used
    'reference_unreadable',  # a reference image could not be fetched
    'reference_invalid',  # a reference image could not be decoded, or shows nothing
    'content_refused',  # the operator's check refused an image or a reference image
    'upload_failed',  # an image could not be put to its link
    'model_error',  # anything else; the message is for the service's log
]


class Failure(Exception):
    """Ends a request with `failed`. The message is a sentence for people; it holds no link and no prompt."""

    def __init__(
        self, reason: Reason, message: str, reference: int | None = None, categories: tuple[str, ...] = ()
    ) -> None:
        """`reference` is the index of the reference image, `categories` what content was refused for."""
        super().__init__(message)
        self.reason: Reason = reason
        self.message = message
        self.reference = reference
        self.categories = categories
