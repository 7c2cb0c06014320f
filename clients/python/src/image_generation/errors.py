"""Everything that the client raises. Generated of docs/openapi.json by generate_models.py."""

from ._client_errors import ApiError as ApiError
from ._client_errors import ConfigurationError as ConfigurationError
from ._client_errors import ConnectionError as ConnectionError
from ._client_errors import DownloadError as DownloadError
from ._client_errors import ImageGenerationError as ImageGenerationError
from ._client_errors import StorageError as StorageError
from ._client_errors import TimeoutError as TimeoutError
from ._client_errors import UnexpectedAnswer as UnexpectedAnswer
from ._client_errors import UploadError as UploadError


class Cancelled(ApiError):
    """400 CANCELLED: see `docs/errors.md#cancelled`."""


class ContentRefused(ApiError):
    """400 CONTENT_REFUSED: see `docs/errors.md#content_refused`."""


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


class RequestFinal(ApiError):
    """409 REQUEST_FINAL: see `docs/errors.md#request_final`."""


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
