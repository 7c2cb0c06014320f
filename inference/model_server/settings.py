"""Every setting of the server, from its environment."""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

_N = TypeVar('_N', int, float)


class SettingsError(Exception):
    """An environment variable that can't be used; the message names it and says what it must be."""


@dataclass(frozen=True)
class Settings:
    """
    All settings, with their defaults; README.md says what each one means.

    Those without an environment variable are changed by tests only.
    """

    host: str = '0.0.0.0'
    port: int = 8080
    model_dir: Path = Path('/opt/ml/model')
    engine: str | None = None
    max_waiting: int = 64
    grace_seconds: float = 20
    adapter_dir: Path = Path(tempfile.gettempdir()) / 'adapters'
    adapter_cache_bytes: int = 20 * 1024**3
    adapter_timeout_seconds: float = 300
    link_timeout_seconds: float = 30
    reference_requests: int = 4
    c2pa_certificate: Path | None = None
    c2pa_private_key: Path | None = field(default=None, repr=False)
    #: The folder of what pictures are checked with; None: they are not.
    picture_check: Path | None = None
    watermark: str = 'off'
    watermark_key: str | None = field(default=None, repr=False)
    watermark_dir: Path | None = None
    stuck_seconds: float = 600
    probe_seconds: float = 60
    #: Progress is repeated after this time without a step, and so is the position in the queue.
    heartbeat_seconds: float = 3
    #: So often it is looked whether a request was cancelled, and a look takes no longer than this.
    cancel_check_seconds: float = 1
    #: Waits between attempts to reach a link.
    retry_seconds: tuple[float, ...] = (0.2, 0.8)

    @staticmethod
    def from_environment(env: Mapping[str, str] = os.environ) -> 'Settings':
        """An empty variable counts as absent. Raises SettingsError."""
        default = Settings()
        whole, decimal = partial(read_number, env, int), partial(read_number, env, float)
        port = whole('SAGEMAKER_BIND_TO_PORT', default.port, 0, 65535)
        return Settings(
            host=env.get('HOST') or default.host,
            port=whole('PORT', port, 0, 65535),
            model_dir=Path(env.get('MODEL_DIR') or default.model_dir),
            engine=env.get('ENGINE') or None,
            max_waiting=whole('MAX_WAITING', default.max_waiting, 1, 10_000),
            grace_seconds=decimal('GRACE_SECONDS', default.grace_seconds, 0, 3600),
            adapter_dir=Path(env.get('ADAPTER_DIR') or default.adapter_dir),
            adapter_cache_bytes=whole('ADAPTER_CACHE_BYTES', default.adapter_cache_bytes, 0, 2**50),
            adapter_timeout_seconds=decimal(
                'ADAPTER_TIMEOUT_SECONDS', default.adapter_timeout_seconds, 1, 3600
            ),
            link_timeout_seconds=decimal('LINK_TIMEOUT_SECONDS', default.link_timeout_seconds, 1, 3600),
            reference_requests=whole('REFERENCE_REQUESTS', default.reference_requests, 1, 1000),
            c2pa_certificate=_path(env, 'C2PA_CERTIFICATE'),
            c2pa_private_key=_path(env, 'C2PA_PRIVATE_KEY'),
            picture_check=_path(env, 'PICTURE_CHECK'),
            watermark=env.get('WATERMARK') or default.watermark,
            watermark_key=env.get('WATERMARK_KEY') or None,
            watermark_dir=_path(env, 'WATERMARK_DIR'),
            stuck_seconds=decimal('STUCK_SECONDS', default.stuck_seconds, 1, 86_400),
            probe_seconds=decimal('PROBE_SECONDS', default.probe_seconds, 0, 86_400),
        )


def _path(env: Mapping[str, str], name: str) -> Path | None:
    text = env.get(name)
    return Path(text) if text else None


def read_number(
    env: Mapping[str, str], kind: Callable[[str], _N], name: str, default: _N, low: float, high: float
) -> _N:
    """A variable's number, or the default when it is absent or empty. Raises SettingsError."""
    text = env.get(name)
    if not text:
        return default
    try:
        value = kind(text)
    except ValueError:
        value = None
    # NaN fails this comparison.
    if value is None or not low <= value <= high:
        what = 'a whole number' if kind is int else 'a number'
        raise SettingsError(f'{name} must be {what} from {low} to {high}.')
    return value
