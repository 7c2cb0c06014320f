"""Adapters: the picture is the library's own, nothing stays behind, and what does not fit is refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from model_server.failure import Failure
from model_server.pipelines.adapters.file import AdapterWeights
from model_server.pipelines.adapters.patches import Patch
from model_server.pipelines.adapters.reader import AdapterCache
from model_server.pipelines.engine import Adapter

from .conftest import (
    SIDE,
    difference,
    diffusers_image,
    diffusers_pipeline,
    file_adapter,
    in_type,
    paint,
    spec,
    use,
)

Make = Callable[..., Adapter]
#: What `spec` says of guidance, as diffusers' pipelines take it.
GUIDANCE: dict[str, dict[str, Any]] = {
    'sdxl': {'negative_prompt': 'fog', 'guidance_scale': 5.0},
    'z-image': {'negative_prompt': 'fog', 'guidance_scale': 4.0 * 4 / 6.5},
    'flux2-klein': {'guidance_scale': 1.0},
}


def rewrite(adapter: Adapter, change: Callable[[dict[str, Any]], dict[str, Any]]) -> Adapter:
    """The same file with other content, under another name."""
    path = adapter.path.with_name('changed-' + adapter.path.name)
    save_file({key: value.contiguous() for key, value in change(load_file(adapter.path)).items()}, path)
    return file_adapter(path, adapter.scale)


def test_an_adapter_acts_as_it_does_in_diffusers(
    engine: Any, kind: str, dtype: str, model_dirs: dict[str, Path], make_adapter: Make
) -> None:
    adapter = make_adapter()
    use(engine, adapter)
    ours = paint(engine, spec())
    pipe = diffusers_pipeline(model_dirs[kind], dtype)
    pipe.load_lora_weights(adapter.path.parent, weight_name=adapter.path.name, local_files_only=True)
    theirs = diffusers_image(pipe, **GUIDANCE[kind], width=SIDE, height=SIDE)
    # diffusers adds the products, not the weights, so that some pixels round the other way.
    tolerance = {'float32': 0.1, 'bfloat16': 2.5}[dtype]
    assert difference(ours, theirs) < tolerance
    use(engine, None)
    assert difference(ours, paint(engine, spec())) > 3


@in_type('bfloat16')
def test_the_scale_says_how_strongly_it_acts(engine: Any, make_adapter: Make) -> None:
    adapter = make_adapter()
    images = []
    for scale in (0.0, 0.5, 1.0, 2.0):
        use(engine, replace(adapter, scale=scale))
        images.append(paint(engine, spec()))
    assert len(set(images)) == 4
    use(engine, None)
    assert images[0] == paint(engine, spec())


def poison(weights: dict[str, Any]) -> dict[str, Any]:
    first = next(iter(weights))
    return {**weights, first: torch.full_like(weights[first], float('nan'))}


def spell(weights: dict[str, Any], ending: str) -> dict[str, Any]:
    return {key.replace('.weight', ending): value.clone() for key, value in weights.items()}


def first_layer(weights: dict[str, Any]) -> str:
    return next(iter(weights)).rsplit('.', 2)[0]


def rename(weights: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {key.replace(old, new): value for key, value in weights.items()}


@in_type('float32')
@pytest.mark.parametrize(
    ('change', 'problem'),
    [
        (lambda w: {**w, 'text_encoder.x.lora_A.weight': torch.zeros(4, 4)}, 'text encoder'),
        (lambda w: rename(w, 'to_q', 'to_nothing'), 'keeps as they are'),
        (poison, 'no numbers'),
        (lambda w: {k: v for k, v in w.items() if 'lora_B' not in k}, 'lacks'),
        (lambda w: {k: v[:, :-1] if 'lora_A' in k else v for k, v in w.items()}, 'other sizes'),
        (lambda w: {k: torch.cat([v, v]) if 'lora_B' in k else v for k, v in w.items()}, 'other sizes'),
        (lambda w: {k: v[:-1] if 'lora_A' in k else v for k, v in w.items()}, 'other sizes'),
        (lambda w: {k: v[:0] if 'lora_A' in k else v[:, :0] for k, v in w.items()}, 'no numbers'),
        (lambda w: {k: v.flatten() for k, v in w.items()}, 'other sizes'),
        (lambda w: {k: v.to(torch.complex64) for k, v in w.items()}, 'of a type'),
        (lambda w: {'weight': torch.zeros(3)}, 'other weights'),
        (lambda w: {**w, 'unet.conv_in.diff': torch.zeros(3)}, 'other weights'),
        (lambda w: {**w, **spell(w, '.default.weight')}, 'twice'),
        (lambda w: {**w, f'{first_layer(w)}.dora_scale': torch.ones(3, 1)}, 'magnitudes have other sizes'),
        (lambda w: {**w, f'{first_layer(w)}.alpha': torch.ones(2)}, 'alpha'),
        (lambda w: {**w, f'{first_layer(w)}.lokr_w1': torch.ones(2, 2)}, 'one too many'),
    ],
)
def test_what_does_not_fit_is_refused_and_changes_nothing(
    engine: Any, make_adapter: Make, change: Callable[[dict[str, Any]], dict[str, Any]], problem: str
) -> None:
    good = make_adapter()
    use(engine, good)
    image = paint(engine, spec())
    with pytest.raises(Failure, match=problem) as caught:
        engine.read(rewrite(good, change))
    assert caught.value.reason == 'adapter_unavailable'
    assert paint(engine, spec()) == image


@in_type('float32')
def test_a_known_adapter_is_not_read_again(engine: Any, make_adapter: Make) -> None:
    adapter = make_adapter(seed=5)
    use(engine, adapter)
    image = paint(engine, spec())
    use(engine, None)
    adapter.path.unlink()
    use(engine, adapter)
    assert paint(engine, spec()) == image


def test_memory_holds_the_adapters_used_last() -> None:
    weights = AdapterWeights({'x': Patch({'down': torch.zeros(1, 50), 'up': torch.zeros(50, 1)}, 1.0)})
    read: list[str] = []

    def get(cache: AdapterCache, name: str) -> None:
        def note() -> AdapterWeights:
            read.append(name)
            return weights

        cache.get(name, note)

    cache = AdapterCache(2 * weights.size_bytes)
    for name in ('a', 'b', 'a', 'c', 'a', 'b'):
        get(cache, name)
    assert read == ['a', 'b', 'c', 'b']
    tiny = AdapterCache(1)
    get(tiny, 'd')
    get(tiny, 'd')
    assert read[4:] == ['d']
