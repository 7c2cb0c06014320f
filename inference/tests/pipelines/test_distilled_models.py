"""Distilled models, FLUX.2 [klein] and Z-Image-Turbo, take their own steps and no guidance."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model_server.pipelines.sdxl import SdxlEngine
from model_server.settings import SettingsError

from .conftest import (
    difference,
    diffusers_image,
    diffusers_pipeline,
    draw,
    in_type,
    order,
    paint,
    spec,
)

#: With the model behind it, and its progress in a request of 30 steps.
DISTILLED = {
    'flux2-klein': ('flux2-klein-base', [8, 15, 23, 30]),
    'z-image-turbo': ('z-image', [4, 8, 12, 15, 19, 23, 27, 30]),
}
each_model = pytest.mark.parametrize('name', DISTILLED)


@in_type('float32')
@each_model
def test_its_version_says_how_many_steps_it_takes(engines: Callable[[str], Any], name: str) -> None:
    base, progress = DISTILLED[name]
    assert engines(name).evaluations(order()) == len(progress)
    assert engines(base).evaluations(order()) == 60
    assert f' steps-{len(progress)} ' in engines(name).model_version
    assert 'steps' not in engines(base).model_version


@in_type('float32')
@each_model
def test_steps_guidance_and_the_negative_prompt_change_nothing(
    engines: Callable[[str], Any], name: str
) -> None:
    first = paint(engines(name), spec(steps=20))
    for changes in ({'steps': 50}, {'guidance_scale': 1.0}, {'negative_prompt': 'x' * 4000}):
        assert paint(engines(name), spec(**{'steps': 20, **changes})) == first


@in_type('float32')
@each_model
def test_its_steps_are_counted_as_those_of_the_request(engines: Callable[[str], Any], name: str) -> None:
    steps: list[int] = []
    draw(engines(name), spec(steps=30), on_step=steps.append)
    assert steps == DISTILLED[name][1]


@in_type('float32')
def test_z_image_turbo_paints_what_diffusers_does_with_the_authors_numbers(
    engines: Callable[[str], Any], model_dirs: dict[str, Path]
) -> None:
    pipe = diffusers_pipeline(model_dirs['z-image-turbo'])
    assert pipe.scheduler.config.shift == 3.0
    theirs = diffusers_image(pipe, num_inference_steps=8, guidance_scale=0.0)
    assert difference(paint(engines('z-image-turbo'), spec(steps=20)), theirs) < 0.01


def test_a_kind_of_which_none_is_known_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / 'model_index.json').write_text('{"is_distilled": true}')
    with pytest.raises(SettingsError, match='distilled'):
        SdxlEngine(tmp_path)
