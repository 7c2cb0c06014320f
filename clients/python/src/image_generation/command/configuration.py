"""Where the command finds the key: in the environment, or in a file that nobody else may read.

Never in an argument, which the shell's history keeps.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from image_generation._io import write_whole

names = ('IMAGE_API_KEY', 'IMAGE_BASE_URL')


class UsageError(Exception):
    """What the user should change, in one sentence."""


@dataclass(frozen=True)
class Configuration:
    """Which service, by which key."""

    base_url: str
    api_key: str = field(repr=False)


def configuration_path() -> Path:
    """The file, as the XDG Base Directory Specification has it."""
    try:
        return Path(os.environ.get('XDG_CONFIG_HOME') or Path.home() / '.config') / 'imagegen' / 'config'
    except RuntimeError as cause:
        raise UsageError('There is no home folder: set HOME, or XDG_CONFIG_HOME.') from cause


def read_configuration(base_url: str | None) -> Configuration:
    """What is configured. The environment comes before the file, and an argument before both."""
    found = {name: os.environ.get(name, '') for name in names}
    path = configuration_path()
    if not all(found.values()) and path.exists():
        found = {name: found[name] or value for name, value in _read(path).items()}
    if not found['IMAGE_API_KEY']:
        raise UsageError('No API key is configured: run "imagegen configure", or set IMAGE_API_KEY.')
    address = base_url or found['IMAGE_BASE_URL']
    if not address:
        raise UsageError(
            'No service is configured: run "imagegen configure", set IMAGE_BASE_URL, or give --base-url.'
        )
    return Configuration(base_url=address, api_key=found['IMAGE_API_KEY'])


def write_configuration(configuration: Configuration) -> Path:
    """Writes the file, which nobody else may read at any time."""
    path = configuration_path()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lines = f'IMAGE_API_KEY={configuration.api_key}\nIMAGE_BASE_URL={configuration.base_url}\n'
    write_whole(path, lines.encode(), 0o600)
    return path


def _read(path: Path) -> dict[str, str]:
    # Editors of Windows put a byte order mark before it.
    with path.open(encoding='utf-8-sig', errors='replace') as file:
        # Of the open file, so that it is the one that is read. Windows has no such modes.
        if os.name == 'posix' and stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            raise UsageError(f'Others may read {path}, which holds a key: run "chmod 600 {path}".')
        lines = [line.strip().partition('=') for line in file if line.strip() and not line.startswith('#')]
    found = {name.strip(): value.strip() for name, _, value in lines}
    unknown = [name for name in found if name not in names]
    if unknown:
        raise UsageError(f'{path} may have lines IMAGE_API_KEY=… and IMAGE_BASE_URL=… and no others.')
    return {name: found.get(name, '') for name in names}
