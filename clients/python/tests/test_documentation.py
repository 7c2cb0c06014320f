"""Every example runs: those of the docstrings, and those of the README."""

from __future__ import annotations

import asyncio
import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from image_generation import AsyncClient, Client

from .fixture import Granted, Service, generate_small, repository

package = Path(__file__).parents[1]
readme = (package / 'README.md').read_text() + (repository / 'docs/api/python.md').read_text()
scripts = re.findall(r'```python\n(.*?)```', readme, re.DOTALL)
source = package / 'src'
modules = [path for path in source.rglob('*.py') if '>>> ' in path.read_text()]
names = ['.'.join(path.relative_to(source).with_suffix('').parts) for path in modules]
examples = [
    pytest.param(example, id=example.name)
    for name in names
    for example in doctest.DocTestFinder().find(importlib.import_module(name.removesuffix('.__init__')))
    if example.examples
]


@pytest.fixture(scope='module')
def generated(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with Client(service.grant().key, service.base_url) as client:
        parameters: Any = {'prompt': 'a cup', 'width': 512, 'height': 512}
        image = client.generate(identity_id=service.identities['aurora'], **parameters)
        return image.save(tmp_path_factory.mktemp('generated') / 'cup.png')


@pytest.fixture
def photo(generated: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(generated, tmp_path))


@pytest.mark.parametrize('example', examples)
def test_an_example_of_a_docstring(
    example: doctest.DocTest,
    service: Service,
    granted: Granted,
    photo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generate_small(monkeypatch.setattr)
    with Client(granted.key, service.base_url) as client:
        example.globs = {
            'identity_id': service.identities['aurora'],
            'photo_identity_id': service.identities['citrine'],
            'client': client,
            'AsyncClient': AsyncClient,
            'asyncio': asyncio,
            'api_key': granted.key,
            'base_url': service.base_url,
            'folder': tmp_path,
            'photo_path': photo,
        }
        printed: list[str] = []
        outcome = doctest.DocTestRunner().run(example, out=printed.append)
    assert outcome.failed == 0, ''.join(printed)


@pytest.mark.parametrize('script', scripts)
def test_an_example_of_the_readme(script: str, granted: Granted, photo: Path, tmp_path: Path) -> None:
    environment = {
        **granted.environment,
        'PATH': os.environ['PATH'],
        'PYTHONPATH': f'{package}:{source}',
    }
    script = f'from tests.fixture import generate_small; generate_small()\n{script}'
    command = [sys.executable, '-c', script]
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, '')
    if 'width=100' in script:
        assert ran.stdout == 'width must be a multiple of 64, at least 512.\n'
    if 'bay.png' in script:
        assert (tmp_path / 'bay.png').read_bytes().startswith(b'\x89PNG')
