"""Everything that the client raises. Generated of docs/openapi.json by generate_models.py."""

from ._api_error import ApiError, ImageGenerationError
from ._client_errors import (
    ConnectionError,
    DownloadError,
    StorageError,
    TimeoutError,
    UnexpectedAnswer,
    UploadError,
)

__all__ = [
    'ApiError',
    'ConnectionError',
    'CreditLimitExceeded',
    'DownloadError',
    'GenerationFailed',
    'IdempotencyInProgress',
    'IdempotencyMismatch',
    'IdentityMismatch',
    'IdentityNotFound',
    'IdentityUnavailable',
    'ImageGenerationError',
    'InternalError',
    'InvalidApiKey',
    'InvalidBody',
    'InvalidParameters',
    'InvalidSession',
    'KeyLimitReached',
    'KeyNotFound',
    'LicenseInactive',
    'LicenseNotFound',
    'MissingIdentity',
    'NotFound',
    'PayloadTooLarge',
    'RateLimited',
    'RequestBlocked',
    'RequestInProgress',
    'RequestNotFound',
    'ServiceUnavailable',
    'StorageError',
    'TierLimit',
    'Timeout',
    'TimeoutError',
    'UnexpectedAnswer',
    'UploadError',
]


class CreditLimitExceeded(ApiError):
    """429 CREDIT_LIMIT_EXCEEDED: see `docs/errors.md#credit_limit_exceeded`."""


class GenerationFailed(ApiError):
    """500 GENERATION_FAILED: see `docs/errors.md#generation_failed`."""


class IdempotencyInProgress(ApiError):
    """409 IDEMPOTENCY_IN_PROGRESS: see `docs/errors.md#idempotency_in_progress`."""


class IdempotencyMismatch(ApiError):
    """422 IDEMPOTENCY_MISMATCH: see `docs/errors.md#idempotency_mismatch`."""


class IdentityMismatch(ApiError):
    """401 IDENTITY_MISMATCH: see `docs/errors.md#identity_mismatch`."""


class IdentityNotFound(ApiError):
    """404 IDENTITY_NOT_FOUND: see `docs/errors.md#identity_not_found`."""


class IdentityUnavailable(ApiError):
    """503 IDENTITY_UNAVAILABLE: see `docs/errors.md#identity_unavailable`."""


class InternalError(ApiError):
    """500 INTERNAL_ERROR: see `docs/errors.md#internal_error`."""


class InvalidApiKey(ApiError):
    """401 INVALID_API_KEY: see `docs/errors.md#invalid_api_key`."""


class InvalidBody(ApiError):
    """400 INVALID_BODY: see `docs/errors.md#invalid_body`."""


class InvalidParameters(ApiError):
    """400 INVALID_PARAMETERS: see `docs/errors.md#invalid_parameters`."""


class InvalidSession(ApiError):
    """401 INVALID_SESSION: see `docs/errors.md#invalid_session`."""


class KeyLimitReached(ApiError):
    """409 KEY_LIMIT_REACHED: see `docs/errors.md#key_limit_reached`."""


class KeyNotFound(ApiError):
    """404 KEY_NOT_FOUND: see `docs/errors.md#key_not_found`."""


class LicenseInactive(ApiError):
    """403 LICENSE_INACTIVE: see `docs/errors.md#license_inactive`."""


class LicenseNotFound(ApiError):
    """404 LICENSE_NOT_FOUND: see `docs/errors.md#license_not_found`."""


class MissingIdentity(ApiError):
    """400 MISSING_IDENTITY: see `docs/errors.md#missing_identity`."""


class NotFound(ApiError):
    """404 NOT_FOUND: see `docs/errors.md#not_found`."""


class PayloadTooLarge(ApiError):
    """413 PAYLOAD_TOO_LARGE: see `docs/errors.md#payload_too_large`."""


class RateLimited(ApiError):
    """429 RATE_LIMITED: see `docs/errors.md#rate_limited`."""


class RequestBlocked(ApiError):
    """403 REQUEST_BLOCKED: see `docs/errors.md#request_blocked`."""


class RequestInProgress(ApiError):
    """409 REQUEST_IN_PROGRESS: see `docs/errors.md#request_in_progress`."""


class RequestNotFound(ApiError):
    """404 REQUEST_NOT_FOUND: see `docs/errors.md#request_not_found`."""


class ServiceUnavailable(ApiError):
    """503 SERVICE_UNAVAILABLE: see `docs/errors.md#service_unavailable`."""


class TierLimit(ApiError):
    """400 TIER_LIMIT: see `docs/errors.md#tier_limit`."""


class Timeout(ApiError):
    """504 TIMEOUT: see `docs/errors.md#timeout`."""


classes: dict[str, type[ApiError]] = {
    'CREDIT_LIMIT_EXCEEDED': CreditLimitExceeded,
    'GENERATION_FAILED': GenerationFailed,
    'IDEMPOTENCY_IN_PROGRESS': IdempotencyInProgress,
    'IDEMPOTENCY_MISMATCH': IdempotencyMismatch,
    'IDENTITY_MISMATCH': IdentityMismatch,
    'IDENTITY_NOT_FOUND': IdentityNotFound,
    'IDENTITY_UNAVAILABLE': IdentityUnavailable,
    'INTERNAL_ERROR': InternalError,
    'INVALID_API_KEY': InvalidApiKey,
    'INVALID_BODY': InvalidBody,
    'INVALID_PARAMETERS': InvalidParameters,
    'INVALID_SESSION': InvalidSession,
    'KEY_LIMIT_REACHED': KeyLimitReached,
    'KEY_NOT_FOUND': KeyNotFound,
    'LICENSE_INACTIVE': LicenseInactive,
    'LICENSE_NOT_FOUND': LicenseNotFound,
    'MISSING_IDENTITY': MissingIdentity,
    'NOT_FOUND': NotFound,
    'PAYLOAD_TOO_LARGE': PayloadTooLarge,
    'RATE_LIMITED': RateLimited,
    'REQUEST_BLOCKED': RequestBlocked,
    'REQUEST_IN_PROGRESS': RequestInProgress,
    'REQUEST_NOT_FOUND': RequestNotFound,
    'SERVICE_UNAVAILABLE': ServiceUnavailable,
    'TIER_LIMIT': TierLimit,
    'TIMEOUT': Timeout,
}
