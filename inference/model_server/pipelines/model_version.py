"""The name of a model, as it is in every answer and in every image."""

import hashlib
import json
import re
from pathlib import Path

from .engine import LONGEST_VERSION

# Hex digits.
_DIGEST_LENGTH = 16


def name_model(model_dir: Path, fallback: str) -> str:
    """
    `name@digest` from the folder's `model.json`, which packaging writes over all files' contents.

    Without one it is the fallback with a digest of the files' names and sizes, and of configurations: to
    read tens of gigabytes of weights would take longer than loading them.
    """
    try:
        about = json.loads((model_dir / 'model.json').read_text('utf-8'))
        name, digest = str(about['name']), str(about['digest'])
    except (OSError, ValueError, KeyError, TypeError):
        name, digest = fallback, ''
    # The beginning of a digest is enough to distinguish models; that of another text may not be.
    if not re.fullmatch(r'[0-9a-f]{64}', digest):
        digest = _digest_folder(model_dir)
    return f'{_plain(name)[:60]}@{digest[:12]}'


def join_version(*parts: str) -> str:
    """
    The parts, which have no spaces, with spaces between them. Other parts give another version.

    Where they are too long, a digest of all of them takes the place of the end. Such a version has exactly as
    many characters as it may have, and any other one fewer, so neither is ever taken for the other.
    """
    version = ' '.join(parts)
    if len(version) < LONGEST_VERSION:
        return version
    digest = hashlib.sha256(version.encode()).hexdigest()[:_DIGEST_LENGTH]
    return f'{version[: LONGEST_VERSION - _DIGEST_LENGTH - 1]}~{digest}'


def _digest_folder(model_dir: Path) -> str:
    whole = hashlib.sha256()
    for path in sorted(path for path in model_dir.rglob('*') if path.is_file()):
        whole.update(f'{path.relative_to(model_dir).as_posix()} {path.stat().st_size}\n'.encode())
        if path.suffix == '.json':
            whole.update(path.read_bytes())
    return whole.hexdigest()


def _plain(text: str) -> str:
    return re.sub(r'[^A-Za-z0-9._-]', '-', text)
