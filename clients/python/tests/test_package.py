"""What is installed: from one document, of one version, complete and small."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from image_generation import __version__

from .fixture import repository

package = Path(__file__).parents[1]


@pytest.fixture(scope='module')
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel and the source. The builder is the environment's, so that nothing is downloaded."""
    folder = tmp_path_factory.mktemp('dist')
    command = [sys.executable, '-m', 'build', '--no-isolation', '--outdir', str(folder), str(package)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def only(folder: Path, pattern: str) -> Path:
    [path] = folder.glob(pattern)
    return path


def test_the_wheel_is_small_and_it_and_the_source_are_complete_and_without_tests(built: Path) -> None:
    assert 10_000 < only(built, '*.whl').stat().st_size <= 80_000
    with zipfile.ZipFile(only(built, '*.whl')) as wheel:
        names = wheel.namelist()
        license = next(name for name in names if name.endswith('/licenses/LICENSE'))
        assert wheel.read(license).decode() == (repository / 'LICENSE').read_text()
        [entry] = [name for name in names if name.endswith('entry_points.txt')]
        assert b'imagegen = image_generation.command.program:run' in wheel.read(entry)
        [name] = [name for name in names if name.endswith('/METADATA')]
        metadata = Parser().parsestr(wheel.read(name).decode())
    with tarfile.open(only(built, '*.tar.gz')) as source:
        sources = [name.split('/', 1)[1] for name in source.getnames()]
    assert 'image_generation/py.typed' in names
    assert {'src/image_generation/py.typed', 'LICENSE', 'README.md', 'pyproject.toml'} <= set(sources)
    assert [name for name in [*names, *sources] if 'test' in name or 'generate_models' in name] == []
    manifest = json.loads((repository / 'clients/typescript/package.json').read_text())
    # Both clients have one version and one name. PyPI has no scopes.
    name = manifest['name'].replace('@', '').replace('/', '-')
    assert (metadata['Name'], metadata['Version']) == (name, __version__)
    assert manifest['version'] == __version__
    required = [one for one in metadata.get_all('Requires-Dist', []) if 'extra ==' not in one]
    # Rich comes with the extra of the command alone.
    expected = ['anyio', 'httpx2', 'pydantic', 'typing-extensions']
    assert sorted(re.split('[<>]', one)[0] for one in required) == expected


def fields_of(text: str) -> set[tuple[str, str]]:
    """The fields of METADATA or WHEEL, without order and without the builder's own marks."""
    fields = Parser().parsestr(text).items()
    normal = {
        'Keywords': lambda value: str(sorted(value.split(','))),
        'Requires-Dist': lambda value: str(Requirement(value)),
    }
    marks = ('Metadata-Version', 'Generator')
    return {(name, normal.get(name, str)(value)) for name, value in fields if name not in marks}


def test_the_wheel_of_the_dashboard_is_that_of_the_builder(built: Path, tmp_path: Path) -> None:
    path = repository / 'dashboard/dist/packages' / only(built, '*.whl').name
    with zipfile.ZipFile(path) as ours, zipfile.ZipFile(only(built, '*.whl')) as theirs:
        assert ours.testzip() is None
        assert sorted(ours.namelist()) == sorted(theirs.namelist())
        for name in ours.namelist():
            texts = [wheel.read(name).decode() for wheel in (ours, theirs)]
            if name.endswith('/RECORD'):
                # These two files differ, as the next lines say.
                rows = [re.sub(r'.*/(METADATA|WHEEL),.*\n', '', text).splitlines() for text in texts]
                texts = ['\n'.join(sorted(of)) for of in rows]
            if name.endswith(('/METADATA', '/WHEEL')):
                assert fields_of(texts[0]) == fields_of(texts[1])
                texts = [str(Parser().parsestr(text).get_payload()) for text in texts]
            assert texts[0] == texts[1], name
    into = ['--no-deps', '--no-index', '--target', str(tmp_path / 'site')]
    files = [str(path), *map(str, built.iterdir())]
    for command in (['twine', 'check', '--strict', *files], ['pip', 'install', *into, str(path)]):
        subprocess.run([sys.executable, '-m', *command], check=True, capture_output=True)
    assert (tmp_path / 'site/bin/imagegen').exists()


def test_what_is_generated_is_what_the_document_says() -> None:
    command = [sys.executable, 'generate_models.py', '--check']
    checked = subprocess.run(command, cwd=package, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stderr


def test_the_library_works_without_rich() -> None:
    without = "import sys; sys.modules['rich'] = None; "
    code = f"{without}import image_generation.command.program as program; program.main(['--help'])"
    ran = subprocess.run(
        [sys.executable, '-c', code], cwd=package / 'src', capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, '')
