"""Z-Image-Turbo: the distilled model of Z-Image's own kind takes its eight steps and no guidance."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip('torch')
diffusers = pytest.importorskip('diffusers')

from model_server.pipelines.engine import Order, Reference  # noqa: E402
from model_server.pipelines.sdxl import SdxlEngine  # noqa: E402
from model_server.pipelines.z_image import ZImageEngine  # noqa: E402
from model_server.settings import SettingsError  # noqa: E402

from .conftest import SIDE, difference, draw, in_type, open_engine, paint, product, spec  # noqa: E402

ORDER = Order(
    outputs=1,
    steps=30,
    guidance_scale=7.5,
    width=512,
    height=512,
    references=0,
    reference_mode='reference',
)


def as_distilled(model_dir: Path, folder: Path, shift: float) -> Path:
    """The same weights with another sign."""
    folder.mkdir()
    for entry in model_dir.iterdir():
        os.symlink(entry, folder / entry.name)
    scheduler, index = folder / 'scheduler', folder / 'model_index.json'
    settings = {**json.loads((scheduler / 'scheduler_config.json').read_text()), 'shift': shift}
    about = {**json.loads(index.read_text()), 'is_distilled': True}
    scheduler.unlink()
    index.unlink()
    scheduler.mkdir()
    (scheduler / 'scheduler_config.json').write_text(json.dumps(settings))
    index.write_text(json.dumps(about))
    return folder


@pytest.fixture(scope='module')
def turbo_dir(model_dirs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return as_distilled(model_dirs['z-image'], tmp_path_factory.mktemp('turbo') / 'model', 3.0)


@pytest.fixture(scope='module')
def turbo(turbo_dir: Path) -> Any:
    return open_engine('z-image', turbo_dir)


@in_type('float32')
def test_its_version_says_how_many_steps_it_takes(turbo: Any, engines: Callable[[str], Any]) -> None:
    assert ' steps-8 ' in turbo.model_version
    assert 'steps' not in engines('z-image').model_version


def test_it_paints_what_diffusers_does_with_the_authors_numbers(turbo: Any, turbo_dir: Path) -> None:
    pipe = diffusers.DiffusionPipeline.from_pretrained(turbo_dir, dtype=torch.float32, local_files_only=True)
    pipe.set_progress_bar_config(disable=True)
    assert pipe.scheduler.config.shift == 3.0
    theirs = pipe(
        prompt='a calm night',
        num_inference_steps=8,
        guidance_scale=0.0,
        width=SIDE,
        height=SIDE,
        generator=torch.Generator('cpu').manual_seed(1),
    ).images[0]
    assert difference(paint(turbo, spec(steps=20)), theirs.tobytes()) < 0.01


def test_steps_guidance_and_the_negative_prompt_change_nothing(turbo: Any) -> None:
    first = paint(turbo, spec(steps=20))
    for changes in ({'steps': 50}, {'guidance_scale': 1.0}, {'negative_prompt': 'x' * 4000}):
        assert paint(turbo, spec(**{'steps': 20, **changes})) == first


def test_its_steps_are_told_as_those_of_the_request(turbo: Any) -> None:
    told: list[int] = []
    draw(turbo, spec(steps=30), on_step=told.append)
    assert told == [4, 8, 12, 15, 19, 23, 27, 30]


@pytest.mark.parametrize(
    ('mode', 'steps', 'evaluations'),
    [(None, 30, 8), ('reference', 30, 6), ('exact_product', 30, 8), ('reference', 1, 1)],
)
def test_the_estimate_counts_the_evaluations_that_there_are(
    turbo: Any, mode: Any, steps: int, evaluations: int
) -> None:
    evaluated = 0

    def count(_model: Any, inputs: tuple[Any, ...], _output: Any) -> None:
        nonlocal evaluated
        evaluated += len(inputs[0])

    references = (Reference(product()),) if mode else ()
    changes: dict[str, Any] = {'references': references, 'reference_mode': mode or 'reference'}
    hook = turbo._text.transformer.register_forward_hook(count)
    try:
        paint(turbo, spec(steps=steps, guidance_scale=7.5, **changes))
    finally:
        hook.remove()
    order = replace(ORDER, steps=steps, references=len(references), reference_mode=mode or 'reference')
    assert evaluated == evaluations
    # A single step can't be left out.
    assert turbo.evaluations(order) == (0.75 if steps == 1 else evaluations)


def test_a_model_that_may_be_it_and_does_not_say_so_is_refused_at_the_start(turbo_dir: Path) -> None:
    index = turbo_dir / 'model_index.json'
    before = index.read_text()
    try:
        about = json.loads(before)
        del about['is_distilled']
        index.write_text(json.dumps(about))
        with pytest.raises(SettingsError, match='Z-Image-Turbo'):
            ZImageEngine(turbo_dir)
    finally:
        index.write_text(before)


def test_a_distilled_model_of_another_kind_is_refused(model_dirs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match='distilled'):
        SdxlEngine(as_distilled(model_dirs['sdxl'], tmp_path / 'sdxl', 3.0))
