"""What the container's image is made of, against what the package asks for."""

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

INFERENCE = Path(__file__).parents[1]


def pins() -> dict[str, str]:
    """The version of each package in `requirements.txt`; a line that pins none is an error."""
    lines = (INFERENCE / 'requirements.txt').read_text('utf-8').splitlines()
    pairs = [line.partition('==') for line in lines if line and not line.startswith('#')]
    assert all(version for _, _, version in pairs)
    return {name: version for name, _, version in pairs}


def test_the_image_has_all_that_the_package_asks_for_in_versions_that_it_allows() -> None:
    project = tomllib.loads((INFERENCE / 'pyproject.toml').read_text('utf-8'))['project']
    asked = [*project['dependencies'], *project['optional-dependencies']['gpu']]
    pinned = pins()
    for requirement in map(Requirement, asked):
        assert requirement.name in pinned
        assert pinned[requirement.name] in requirement.specifier, requirement
