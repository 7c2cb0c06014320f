"""Which models count as distilled, and which are refused because nobody said."""

import json
from pathlib import Path
from typing import Any

import pytest

from model_server.pipelines.distilled import is_distilled
from model_server.settings import SettingsError


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
