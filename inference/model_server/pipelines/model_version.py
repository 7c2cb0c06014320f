"""The name of a model, as it is in every answer and in every image."""

import hashlib
import json
import re
from pathlib import Path

_LONGEST = 200


def name_model(model_dir: Path, fallback: str) -> str:
    """
    `name@digest` from the folder's `model.json`, which packaging writes over all files' contents.

    Without one it is the fallback with a digest of the files' names and sizes: to read tens of gigabytes for
    their contents would take longer than loading them.
    """
    try:
        about = json.loads((model_dir / 'model.json').read_text('utf-8'))
        name, digest = str(about['name']), str(about['digest'])
    except (OSError, ValueError, KeyError, TypeError):
        name, digest = fallback, _digest_sizes(model_dir)
    return f'{_plain(name)[:60]}@{_plain(digest)[:12]}'


def join_version(*parts: str) -> str:
    """At most 200 characters, as the contract wants."""
    return ' '.join(parts)[:_LONGEST]


def _digest_sizes(model_dir: Path) -> str:
    files = sorted(path for path in model_dir.rglob('*') if path.is_file())
    lines = [f'{path.relative_to(model_dir).as_posix()} {path.stat().st_size}' for path in files]
    return hashlib.sha256('\n'.join(lines).encode()).hexdigest()


def _plain(text: str) -> str:
    return re.sub(r'[^A-Za-z0-9._-]', '-', text)
