"""Which models count as distilled, and which are refused because nobody said."""

import json
from pathlib import Path
from typing import Any

import pytest

from model_server.pipelines.distilled import is_distilled
from model_server.settings import SettingsError

from .packaging_support import PackagingWorkspace, set_up

PARTS = {
    'scheduler': ['diffusers', 'FlowMatchEulerDiscreteScheduler'],
    'text_encoder': ['transformers', 'Qwen3Model'],
    'tokenizer': ['transformers', 'Qwen2Tokenizer'],
    'transformer': ['diffusers', 'ZImageTransformer2DModel'],
    'vae': ['diffusers', 'AutoencoderKL'],
}


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
        ({'_class_name': 'ZImagePipeline', 'is_distilled': True}, 6.0, True),
        ({'_class_name': 'ZImagePipeline'}, 6.0, False),
        ({'_class_name': 'ZImagePipeline'}, None, False),
        ({'_class_name': 'Flux2KleinPipeline', 'is_distilled': True}, 3.0, True),
        ({'_class_name': 'Flux2KleinPipeline'}, 3.0, False),
        ({'_class_name': 'StableDiffusionXLPipeline'}, None, False),
    ],
)
def test_the_models_index_says_whether_it_is_distilled(
    tmp_path: Path, index: dict[str, Any], shift: float | None, distilled: bool
) -> None:
    assert is_distilled(save(tmp_path, index, shift)) is distilled


@pytest.mark.parametrize('shift', [3, 3.0])
def test_a_model_that_may_be_z_image_turbo_has_to_say_whether_it_is(tmp_path: Path, shift: float) -> None:
    folder = save(tmp_path, {'_class_name': 'ZImagePipeline'}, shift)
    with pytest.raises(SettingsError, match='"is_distilled": true'):
        is_distilled(folder)


@pytest.mark.parametrize('sign', ['false', 0, [], None])
def test_a_sign_that_is_neither_true_nor_false_is_not_guessed(tmp_path: Path, sign: Any) -> None:
    folder = save(tmp_path, {'_class_name': 'ZImagePipeline', 'is_distilled': sign}, 3.0)
    with pytest.raises(SettingsError, match='is_distilled'):
        is_distilled(folder)


@pytest.mark.parametrize('index', [[], 'text', None, 3])
def test_a_folder_that_is_no_model_is_refused(tmp_path: Path, index: Any) -> None:
    with pytest.raises(SettingsError, match='model_index'):
        is_distilled(save(tmp_path, index))
    with pytest.raises(SettingsError, match='model_index'):
        is_distilled(tmp_path / 'nowhere')


def test_packaging_asks_before_the_upload_and_takes_the_answer(tmp_path: Path) -> None:
    workspace: PackagingWorkspace = set_up(tmp_path)
    for file in workspace.model.rglob('*.*'):
        file.unlink()
    for name in PARTS:
        workspace.write(f'{name}/tokenizer_config.json', '{}')
    save(workspace.model, {'_class_name': 'ZImagePipeline', **PARTS}, 3.0)
    assert 'Z-Image-Turbo' in workspace.refusal('s3://models/turbo/one/')
    save(workspace.model, {'_class_name': 'ZImagePipeline', 'is_distilled': True, **PARTS})
    assert workspace.package().returncode == 0
