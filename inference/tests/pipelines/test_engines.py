"""The engines generate with diffusers' real code, each order always the same."""

import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model_server.failure import Failure
from model_server.pipelines.clip_prompts import encode_prompts
from model_server.pipelines.engine import Reference
from model_server.pipelines.runtime import Runtime
from model_server.settings import SettingsError

from .conftest import (
    KINDS,
    SIDE,
    VARIANTS,
    draw,
    in_type,
    open_engine,
    order,
    paint,
    product,
    spec,
    use,
    with_product,
)

each_mode = pytest.mark.parametrize('mode', [None, 'reference', 'exact_product'])


def test_the_same_order_is_the_same_image_whatever_was_painted_before(
    engine: Any, kind: str, dtype: str, model_dirs: dict[str, Path], make_adapter: Callable[..., Any]
) -> None:
    first = paint(engine, spec())
    use(engine, make_adapter())
    paint(engine, spec(), seed=9)
    engine.use(None)
    paint(engine, with_product('exact_product'))
    image = draw(engine, spec(prompt='word ' * 90, width=160))
    assert (image.size, image.mode) == ((160, SIDE), 'RGB')
    assert paint(engine, spec()) == first
    # A new engine, as in another process.
    assert paint(open_engine(model_dirs[kind], dtype), spec()) == first


@in_type('bfloat16')
@pytest.mark.parametrize(
    'changes',
    [
        {'prompt': 'a calm day'},
        {'negative_prompt': ''},
        {'negative_prompt': 'rain'},
        {'guidance_scale': 1.0},
        {'guidance_scale': 8.0},
        {'steps': 4},
    ],
    ids=str,
)
def test_whatever_an_order_says_changes_its_image(guided_engine: Any, changes: dict[str, Any]) -> None:
    assert paint(guided_engine, spec(**changes)) != paint(guided_engine, spec())


@in_type('float32')
def test_another_seed_is_another_image_and_without_guidance_the_negative_prompt_says_nothing(
    guided_engine: Any,
) -> None:
    plain = spec(guidance_scale=1.0)
    before = paint(guided_engine, plain)
    assert paint(guided_engine, plain, seed=2) != before
    assert paint(guided_engine, replace(plain, negative_prompt='rain')) == before


@in_type('float32')
@each_mode
def test_steps_only_grow_and_end_with_the_last_also_where_references_save_some(
    guided_engine: Any, mode: str | None
) -> None:
    steps: list[int] = []
    draw(guided_engine, with_product(mode, steps=8), on_step=steps.append)
    assert steps == sorted(set(steps))
    assert steps[-1] == 8
    if mode is None:
        assert len(steps) == 8


@in_type('bfloat16')
def test_what_a_step_raises_ends_the_painting_and_nothing_else(engine: Any) -> None:
    class Stop(Exception):
        pass

    def stop(done: int) -> None:
        if done == 2:
            raise Stop

    before = paint(engine, spec())
    with pytest.raises(Stop):
        draw(engine, spec(), on_step=stop)
    assert paint(engine, spec()) == before


@in_type('float32')
def test_a_text_longer_than_the_encoders_read_at_once_is_read_to_its_end(engine: Any) -> None:
    long = 'a calm night over the sea, ' * 12
    assert paint(engine, spec(prompt=long + 'red')) != paint(engine, spec(prompt=long + 'blue'))


@in_type('float32')
@pytest.mark.parametrize('kind', ['z-image', 'flux2-klein'], indirect=True)
def test_a_prompt_that_the_model_cant_read_is_refused(engine: Any) -> None:
    with pytest.raises(Failure, match='tokens') as caught:
        paint(engine, spec(prompt='x' * 4000))
    assert caught.value.reason == 'invalid_request'


@in_type('bfloat16')
@each_mode
def test_what_was_prepared_is_painted_as_often_as_wanted_whatever_else_is_prepared_meanwhile(
    engine: Any, mode: Any
) -> None:
    asked = with_product(mode)
    alone = [paint(engine, asked, seed) for seed in (1, 2)]
    prepared = engine.prepare(asked)
    others = [spec(prompt='another ' * 60), with_product()]
    with ThreadPoolExecutor(1) as beside:
        preparing = [beside.submit(engine.prepare, other) for other in others * 3]
        assert [engine.paint(prepared, seed, lambda _: None)().tobytes() for seed in (1, 2)] == alone
    assert all(each.result() for each in preparing)


@in_type('float32')
def test_nothing_is_encoded_and_no_reference_is_held_once_an_image_is_prepared(engine: Any) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError('A text was encoded.')

    photo = product((300, 400))
    seen = weakref.ref(photo)
    prepared = engine.prepare(spec(references=(Reference(photo),), reference_mode='exact_product'))
    del photo
    gc.collect()
    assert seen() is None
    hook = engine._text.text_encoder.register_forward_pre_hook(refuse)
    try:
        engine.paint(prepared, 1, lambda _: None)
        with pytest.raises(AssertionError):
            engine.prepare(spec())
    finally:
        hook.remove()


@pytest.mark.parametrize('negative', ['', 'fog'])
def test_short_prompts_are_read_as_diffusers_reads_them_in_one_batch(
    engines: Callable[[str], Any], negative: str, dtype: str
) -> None:
    pipe, batches = engines('sdxl')._text, []
    hooks = [
        encoder.register_forward_pre_hook(lambda _, inputs: batches.append(len(inputs[0])))
        for encoder in (pipe.text_encoder, pipe.text_encoder_2)
    ]
    ours = encode_prompts(pipe, 'a calm night', negative)
    encode_prompts(pipe, 'a calm night', negative * 90)
    for hook in hooks:
        hook.remove()
    assert batches == ([1] * 4 if negative == '' else [2, 2, 8, 8])

    guided: dict[str, Any] = {'do_classifier_free_guidance': True, 'negative_prompt': negative or None}
    theirs = pipe.encode_prompt('a calm night', **guided)
    names = (
        'prompt_embeds',
        'negative_prompt_embeds',
        'pooled_prompt_embeds',
        'negative_pooled_prompt_embeds',
    )
    # A batch may be added up in another order.
    far = {'float32': 1e-5, 'bfloat16': 0.05}[dtype]
    for name, other in zip(names, theirs, strict=True):
        torch.testing.assert_close(ours[name], other, atol=far, rtol=0)


@in_type('bfloat16')
@pytest.mark.parametrize('kind', ['sdxl', 'z-image', 'ip', 'flux2-klein-base'])
@each_mode
def test_no_input_of_a_pipeline_asks_for_a_gradient(
    engines: Callable[[str], Any], kind: str, mode: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What asks for one keeps every step of its computation in memory."""
    engine, asking = engines(kind), []

    for pipe in (engine._text, engine._image, engine._inpaint):
        call = type(pipe).__call__

        def watched(self: Any, *args: Any, call: Any = call, **inputs: Any) -> Any:
            for values in inputs.values():
                for value in values if isinstance(values, (list, tuple)) else [values]:
                    if isinstance(value, torch.Tensor):
                        asking.append(value.requires_grad)
            return call(self, *args, **inputs)

        monkeypatch.setattr(type(pipe), '__call__', watched)
    paint(engine, with_product(mode, steps=2))
    assert asking, 'prompts are encoded before'
    assert not any(asking)
    parts = (part for part in engine._text.components.values() if isinstance(part, torch.nn.Module))
    assert not any(values.requires_grad for part in parts for values in part.parameters())


def test_a_machine_whose_other_gpus_would_be_idle_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def on(gpus: int) -> Runtime:
        monkeypatch.setattr(torch.cuda, 'is_available', lambda: gpus > 0)
        monkeypatch.setattr(torch.cuda, 'device_count', lambda: gpus)
        return Runtime.from_environment({})

    assert [on(gpus).device.type for gpus in (0, 1)] == ['cpu', 'cuda']
    with pytest.raises(SettingsError, match=r'has 4 GPUs.* 3 would be paid for.*CUDA_VISIBLE_DEVICES'):
        on(4)


@in_type('float32')
@pytest.mark.parametrize('guidance_scale', [1.0, 1.01])
@each_mode
@pytest.mark.parametrize('name', [*KINDS, *VARIANTS])
def test_the_model_is_evaluated_as_often_as_the_estimate_assumes(
    engines: Callable[[str], Any], name: str, mode: Any, guidance_scale: float
) -> None:
    engine, evaluated = engines(name), 0

    def count(_model: Any, inputs: tuple[Any, ...], named: dict[str, Any], _output: Any) -> None:
        nonlocal evaluated
        # With guidance the batch may hold both passes of a step.
        evaluated += len(inputs[0] if inputs else named['hidden_states'])

    steps = 4 if name not in ('flux2-klein', 'z-image-turbo') else 12
    asked = with_product(mode, steps=steps, guidance_scale=guidance_scale)
    hook = engine._text.components[engine.denoiser].register_forward_hook(count, with_kwargs=True)
    try:
        paint(engine, asked)
    finally:
        hook.remove()

    known = {'references': len(asked.references), 'reference_mode': asked.reference_mode}
    assert engine.evaluations(order(steps=steps, guidance_scale=guidance_scale, **known)) == evaluated
