"""What the container's image is made of, against what the package asks for."""

import re
import tomllib
from collections.abc import Iterable
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


def with_all_they_need(names: Iterable[str]) -> set[str]:
    """The packages, and what they need with Python 3.12, and so on."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = canonicalize_name(left.pop())
        if name not in found:
            found.add(name)
            left += [
                each.name
                for each in map(Requirement, requires(name) or ())
                if each.marker is None or each.marker.evaluate({'extra': '', 'python_version': '3.12'})
            ]
    return found


def test_what_is_taken_along_to_a_card_needs_nothing_that_is_not_there() -> None:
    pytest.importorskip('torch')
    pytest.importorskip('peft')
    readme = (INFERENCE / 'README.md').read_text('utf-8')
    there = re.search(r'that has (`torch`.*?) and Python 3\.12', readme, re.DOTALL)
    taken = re.search(r"grep -E '\^\((.*)\)=='", readme)
    assert there is not None
    assert taken is not None
    along = set(taken[1].split('|'))
    assert with_all_they_need(along) <= along | with_all_they_need(re.findall('`([a-z]+)`', there[1]))
