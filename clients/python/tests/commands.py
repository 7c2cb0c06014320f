"""Runs the command `imagegen`."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from image_generation.command.program import main

from .world import Granted, World

Run = Callable[..., 'Ended']
small = ('--width', '512', '--height', '512', '--steps', '20')


class Ended(NamedTuple):
    """What a command printed, and its exit code."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(
    world: World,
    granted: Granted,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Runs the command in this process, since hundreds of its own would take longer to start than to run."""
    configured = {'IMAGE_API_KEY': granted.key, 'IMAGE_BASE_URL': world.base_url}

    def run(*args: str, env: Mapping[str, str] = configured, typed: str | bytes = '') -> Ended:
        with monkeypatch.context() as patch:
            for name in (*configured, 'XDG_CONFIG_HOME'):
                patch.delenv(name, raising=False)
            for name, value in {'HOME': str(tmp_path), **env}.items():
                patch.setenv(name, value)
            patch.chdir(tmp_path)
            content = typed.encode() if isinstance(typed, str) else typed
            patch.setattr(sys, 'stdin', io.TextIOWrapper(io.BytesIO(content)))
            capsys.readouterr()
            try:
                code = main(args)
            except SystemExit as end:
                code = int(end.code or 0)
            told = capsys.readouterr()
            return Ended(code, told.out, told.err)

    return run


def process(
    *args: str, redirected: str = '', env: Mapping[str, str], cwd: Path, **more: Any
) -> subprocess.Popen[str]:
    """The command as a process of its own, with what the shell redirects."""
    code = 'from image_generation.command.program import run; run()'
    command = ['sh', '-c', f'exec "$0" "$@" {redirected}', sys.executable, '-c', code, *args]
    environment = {**env, 'PYTHONPATH': str(Path(__file__).parents[1] / 'src')}
    return subprocess.Popen(command, env=environment, cwd=cwd, stderr=subprocess.PIPE, text=True, **more)
