"""What a model's folder says before it is loaded, and the API's guidance scale in a model's own numbers."""

import json
import random
from collections.abc import Iterator
from itertools import pairwise
from math import isfinite
from pathlib import Path
from typing import Any

import pytest

from model_server.pipelines.distilled import is_distilled
from model_server.pipelines.engine import LONGEST_VERSION
from model_server.pipelines.guidance import map_guidance
from model_server.pipelines.model_version import join_version, name_model
from model_server.settings import SettingsError


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


def test_a_version_can_be_read_as_far_as_it_fits_and_the_longest_name_is_whole(tmp_path: Path) -> None:
    assert join_version('sdxl@0123', 'recipe-1', 'cpu') == 'sdxl@0123 recipe-1 cpu'
    digest = '0123456789abcdef' * 4
    (tmp_path / 'model.json').write_text(f'{{"name": "{"n" * 60}", "digest": "{digest}"}}')
    version = join_version(name_model(tmp_path, 'fallback'), 'y' * 300)
    assert version.startswith('n' * 60 + '@0123456789ab ' + 'y' * 100)


def test_without_packaging_a_folder_with_other_settings_has_another_name(tmp_path: Path) -> None:
    (tmp_path / 'config.json').write_text('{"shift": 3.0}')
    before = name_model(tmp_path, 'fallback')
    (tmp_path / 'config.json').write_text('{"shift": 6.0}')
    assert name_model(tmp_path, 'fallback') != before


@pytest.mark.parametrize('digest', ['my-own-model-version-1', 'A' * 64, ''])
def test_what_is_no_digest_does_not_stand_for_the_files(tmp_path: Path, digest: str) -> None:
    (tmp_path / 'model.json').write_text(f'{{"name": "mine", "digest": "{digest}"}}')
    before = name_model(tmp_path, 'fallback')
    (tmp_path / 'weights.safetensors').write_bytes(b'x')
    assert before.startswith('mine@')
    assert name_model(tmp_path, 'fallback') != before


def save(folder: Path, index: Any, shift: float | None = None) -> Path:
    """The two files that are looked at."""
    (folder / 'scheduler').mkdir(parents=True, exist_ok=True)
    (folder / 'model_index.json').write_text(json.dumps(index))
    if shift is not None:
        (folder / 'scheduler' / 'scheduler_config.json').write_text(json.dumps({'shift': shift}))
    return folder


@pytest.mark.parametrize(
    ('index', 'shift', 'distilled'),
    [
        ({'_class_name': 'ZImagePipeline', 'is_distilled': True}, 3.0, True),
        ({'_class_name': 'ZImagePipeline', 'is_distilled': False}, 3.0, False),
        ({'_class_name': 'ZImagePipeline'}, 6.0, False),
        ({'_class_name': 'ZImagePipeline'}, None, False),
        ({'_class_name': 'Flux2KleinPipeline'}, 3.0, False),
    ],
)
def test_the_models_index_says_whether_it_is_distilled(
    tmp_path: Path, index: dict[str, Any], shift: float | None, distilled: bool
) -> None:
    assert is_distilled(save(tmp_path, index, shift)) is distilled


@pytest.mark.parametrize(
    ('index', 'said'),
    [
        ({'_class_name': 'ZImagePipeline'}, '"is_distilled": true'),
        ({'_class_name': 'ZImagePipeline', 'is_distilled': 'false'}, 'must be true or false'),
        ({'_class_name': 'ZImagePipeline', 'is_distilled': 0}, 'must be true or false'),
        ([], 'model_index'),
        (None, 'model_index'),
    ],
)
def test_a_model_that_may_be_distilled_has_to_say_whether_it_is(
    tmp_path: Path, index: Any, said: str
) -> None:
    with pytest.raises(SettingsError, match=said):
        is_distilled(save(tmp_path, index, 3))


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match='model_index'):
        is_distilled(tmp_path)


SCALES = [1 + step / 4 for step in range(77)]
# None and recommended: a pipeline that begins at 0, as Z-Image's, and others that begin at 1.
MODELS = [(0.0, 4.0), (1.0, 4.0), (1.0, 3.5), (1.0, 7.5)]


@pytest.mark.parametrize(('none', 'recommended'), MODELS)
def test_1_is_none_the_default_is_what_the_authors_recommend_and_more_is_more(
    none: float, recommended: float
) -> None:
    assert (SCALES[0], SCALES[-1]) == (1, 20)
    # Exactly, because pipelines compare it to see whether there is guidance at all.
    assert map_guidance(1, none, recommended) == none
    assert map_guidance(7.5, none, recommended) == recommended
    numbers = [map_guidance(scale, none, recommended) for scale in SCALES]
    assert all(low < high for low, high in pairwise(numbers))
    assert all(isfinite(number) for number in numbers)


def test_a_model_with_the_api_s_own_numbers_keeps_them() -> None:
    assert [map_guidance(scale, 1, 7.5) for scale in SCALES] == pytest.approx(SCALES)
