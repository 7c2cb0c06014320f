"""A model's version names all that changes bytes, however long that is."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_server.pipelines.engine import LONGEST_VERSION
from model_server.pipelines.model_version import join_version, name_model


def versions(seed: int) -> Iterator[tuple[str, ...]]:
    """Parts of all lengths, most of them alike but for one character or for where they are parted."""
    draw = random.Random(seed)
    for _ in range(200):
        length = draw.choice((1, 20, LONGEST_VERSION - 2, LONGEST_VERSION - 1, LONGEST_VERSION, 400))
        parts = [''.join(draw.choices('ab~', k=draw.randint(1, 60)))]
        while len(' '.join(parts)) < length:
            parts.append(''.join(draw.choices('ab~', k=draw.randint(1, 60))))
        parts = ' '.join(parts)[:length].split()
        yield tuple(parts)
        end = parts[-1][:-1] + ('b' if parts[-1][-1] == 'a' else 'a')
        yield (*parts[:-1], end)
        yield (*parts, 'a')
        yield (parts[0] + parts[1], *parts[2:]) if len(parts) > 1 else ('a', *parts)
        # What was shortened is itself a text that somebody may choose.
        yield tuple(join_version(*parts).split())


@pytest.mark.parametrize('seed', range(20))
def test_other_parts_give_another_version_which_fits_the_contract(seed: int) -> None:
    different = set(versions(seed))
    joined = {parts: join_version(*parts) for parts in different}

    assert max(map(len, joined.values())) == LONGEST_VERSION
    assert len(set(joined.values())) == len(different)
    assert all(join_version(*parts) == version for parts, version in joined.items())


def test_a_version_that_fits_has_all_its_parts_to_be_read() -> None:
    assert join_version('sdxl@0123', 'recipe-1', 'cpu') == 'sdxl@0123 recipe-1 cpu'


def test_a_version_that_is_too_long_can_still_be_read_at_its_beginning() -> None:
    version = join_version('sdxl@0123', 'x' * 300)
    assert version.startswith('sdxl@0123 ' + 'x' * 170)


def test_the_longest_name_is_whole(tmp_path: Path) -> None:
    digest = '0123456789abcdef' * 4
    (tmp_path / 'model.json').write_text(f'{{"name": "{"n" * 60}", "digest": "{digest}"}}')
    version = join_version(name_model(tmp_path, 'fallback'), 'y' * 300)
    assert version.startswith('n' * 60 + '@0123456789ab ')


def test_without_packaging_a_folder_with_other_settings_has_another_name(tmp_path: Path) -> None:
    settings = tmp_path / 'scheduler' / 'scheduler_config.json'
    settings.parent.mkdir()
    settings.write_text('{"shift": 3.0}')
    before = name_model(tmp_path, 'fallback')
    settings.write_text('{"shift": 6.0}')
    assert name_model(tmp_path, 'fallback') != before


@pytest.mark.parametrize('digest', ['my-own-model-version-1', 'A' * 64, ''])
def test_what_is_no_digest_does_not_stand_for_the_files(tmp_path: Path, digest: str) -> None:
    (tmp_path / 'model.json').write_text(f'{{"name": "mine", "digest": "{digest}"}}')
    before = name_model(tmp_path, 'fallback')
    (tmp_path / 'weights.safetensors').write_bytes(b'x')
    assert before.startswith('mine@')
    assert name_model(tmp_path, 'fallback') != before
