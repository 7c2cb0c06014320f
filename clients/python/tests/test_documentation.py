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

from .small_images import paint_small
from .world import Granted, World, repository

package = Path(__file__).parents[1]
readme = (package / 'README.md').read_text() + (repository / 'docs/api/python.md').read_text()
modules = ['', '._client_errors', '.client', '.async_client', '.images']
examples = [
    pytest.param(example, id=example.name)
    for name in modules
    for example in doctest.DocTestFinder().find(importlib.import_module(f'image_generation{name}'))
    if example.examples
]


def identity_of(world: World) -> dict[str, Any]:
    return {'identity_id': world.identities['aurora'], 'photo_identity_id': world.identities['citrine']}


@pytest.fixture(scope='module')
def painted(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with Client(world.grant().key, world.base_url) as client:
        image = client.generate(identity_id=world.identities['aurora'], prompt='a cup', width=512, height=512)
        return image.save(tmp_path_factory.mktemp('painted') / 'cup.png')


@pytest.fixture
def photo(painted: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(painted, tmp_path))


def test_all_modules_with_examples_are_looked_at() -> None:
    source = package / 'src' / 'image_generation'
    found = sorted(
        str(path.relative_to(source)) for path in source.rglob('*.py') if '>>> ' in path.read_text()
    )
    assert found == sorted(f'{name[1:] or "__init__"}.py' for name in modules)


@pytest.mark.parametrize('example', examples)
def test_an_example_of_a_docstring(
    example: doctest.DocTest,
    world: World,
    granted: Granted,
    photo: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paint_small(monkeypatch.setattr)
    with Client(granted.key, world.base_url) as client:
        example.globs = {
            **identity_of(world),
            'client': client,
            'AsyncClient': AsyncClient,
            'asyncio': asyncio,
            'api_key': granted.key,
            'base_url': world.base_url,
            'folder': tmp_path,
            'photo_path': photo,
        }
        told: list[str] = []
        outcome = doctest.DocTestRunner().run(example, out=told.append)
    assert outcome.failed == 0, ''.join(told)


@pytest.mark.parametrize('number', range(readme.count('```python')))
def test_an_example_of_the_readme(
    number: int, world: World, granted: Granted, photo: Path, tmp_path: Path
) -> None:
    script = re.findall(r'```python\n(.*?)```', readme, re.DOTALL)[number]
    environment = {
        'IMAGE_API_KEY': granted.key,
        'IMAGE_BASE_URL': world.base_url,
        'PATH': os.environ['PATH'],
        'PYTHONPATH': f'{package}:{package / "src"}',
    }
    script = f'from tests.small_images import paint_small; paint_small()\n{script}'
    ran = subprocess.run(
        [sys.executable, '-c', script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, '')
    if 'width=100' in script:
        assert ran.stdout == 'width must be a multiple of 64, at least 512.\n'
    if 'bay.png' in script:
        assert (tmp_path / 'bay.png').read_bytes().startswith(b'\x89PNG')


def test_the_first_image_takes_five_lines() -> None:
    [first] = re.findall(r'## A first image\n.*?```python\n(.*?)```', readme, re.DOTALL)
    assert len([line for line in first.splitlines() if line]) == 5
