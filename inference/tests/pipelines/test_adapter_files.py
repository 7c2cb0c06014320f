"""Adapters: files of every trainer, what a picture becomes of them, and what does not fit is refused."""

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save, save_file
from torch import nn
from torch.nn.functional import conv2d

from model_server.failure import Failure
from model_server.pipelines.adapters.file import read_weights
from model_server.pipelines.adapters.names import LayerNames, find_layers
from model_server.pipelines.adapters.packing import AdapterWeights, pack
from model_server.pipelines.adapters.patches import Patch, multiply
from model_server.pipelines.adapters.reader import AdapterCache
from model_server.pipelines.adapters.sgm_names import name_in_sgm
from model_server.pipelines.engine import Adapter
from random_models import build_lora

from .conftest import (
    difference,
    diffusers_image,
    diffusers_pipeline,
    file_adapter,
    in_type,
    paint,
    spec,
    use,
)

INFERENCE = Path(__file__).parents[2]


def patches_of(engine: Any, folder: Path, state: dict[str, Any]) -> AdapterWeights:
    """What the engine reads from a file with these tensors."""
    path = folder / f'{len(list(folder.iterdir()))}.safetensors'
    save_file({name: values.clone().contiguous() for name, values in state.items()}, path)
    weights: AdapterWeights = engine.read(file_adapter(path)).weights
    return weights


def assert_alike(one: AdapterWeights, other: AdapterWeights) -> None:
    assert one.patches.keys() == other.patches.keys() != set()
    for name, patch in one.patches.items():
        found, expected = (
            multiply({part: values.float() for part, values in each.factors.items()}) * each.scaling
            for each in (patch, other.patches[name])
        )
        assert torch.allclose(found.reshape(expected.shape), expected, rtol=1e-5, atol=1e-6), name


@pytest.mark.parametrize(
    'prefix', ['lora_unet_', 'lycoris_', 'unet.', 'base_model.model.', 'diffusion_model.', '']
)
@pytest.mark.parametrize('pair', ['lora_A lora_B', 'lora_down lora_up', 'lora.down lora.up'])
def test_a_layer_has_the_same_name_in_every_trainers_spelling(prefix: str, pair: str) -> None:
    layer = 'down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_out.0'
    names = LayerNames([layer, 'down_blocks.1.attentions.0.proj_in'], 'unet')
    spelled = layer.replace('.', '_') if prefix.endswith('_') else layer
    down, up = (f'{prefix}{spelled}.{part}.weight' for part in pair.split())
    state = {down: torch.ones(2, 3), up: torch.ones(4, 2)}
    assert set(read_weights(state, {}, 'unet', names, {layer: torch.Size((4, 3))}).patches) == {layer}


def changeable(model: Any) -> list[str]:
    kinds = (torch.nn.Linear, torch.nn.Conv2d)
    return [name for name, layer in model.named_modules() if isinstance(layer, kinds)]


def test_sdxls_layers_have_the_names_that_diffusers_reads_from_kohyas_files(
    full_model: Callable[[Any], Any],
) -> None:
    pipeline = full_model('sdxl')
    layers = changeable(pipeline.unet)
    state = {}
    for mark, layer in enumerate(layers):
        spelled = 'lora_unet_' + str(name_in_sgm(layer, 2)).replace('.', '_')
        for part in ('lora_down', 'lora_up'):
            state[f'{spelled}.{part}.weight'] = torch.full((1, 1), float(mark))
    theirs, _ = pipeline.lora_state_dict(dict(state), unet_config=pipeline.unet.config)

    names = LayerNames(layers, 'unet', lambda layer: [name_in_sgm(layer, 2) or ''])
    keys = {int(values): key.split('.lora.')[0].split('_lora.')[0] for key, values in theirs.items()}
    assert [names.find(keys[mark]) for mark in range(len(layers))] == layers
    assert all(names.find(key.split('.')[0]) for key in state)


@in_type('float32')
def test_every_layer_of_sdxl_may_be_changed_but_those_of_an_ip_adapter(engines: Callable[[str], Any]) -> None:
    plain, with_it = engines('sdxl'), engines('ip')
    expected = set(changeable(plain._text.unet))
    assert plain._merger._weights.keys() == with_it._merger._weights.keys() == expected


@in_type('float32')
@pytest.mark.parametrize('whole', ['lokr_w1', 'lokr_w2', 'both'])
def test_the_alpha_of_a_lokr_counts_as_in_diffusers(
    engines: Callable[[str], Any], tmp_path: Path, whole: str
) -> None:
    """With two whole matrices it has no effect."""
    from diffusers.loaders.lora_conversion_utils import _convert_non_diffusers_lokr_to_diffusers

    engine = engines('z-image')
    layer = 'diffusion_model.layers.0.attention.to_q'
    state = {f'{layer}.alpha': torch.tensor(3.0)}
    for name in ('lokr_w1', 'lokr_w2'):
        if whole in (name, 'both'):
            state[f'{layer}.{name}'] = torch.randn(8, 8)
        else:
            state[f'{layer}.{name}_a'], state[f'{layer}.{name}_b'] = torch.randn(8, 2), torch.randn(2, 8)
    theirs = _convert_non_diffusers_lokr_to_diffusers(dict(state))
    assert_alike(patches_of(engine, tmp_path, state), patches_of(engine, tmp_path, theirs))


@in_type('float32')
@pytest.mark.parametrize('prefix', ['lora_unet_', 'diffusion_model.'])
def test_z_images_own_names_are_read_as_diffusers_reads_them(
    engines: Callable[[str], Any], tmp_path: Path, prefix: str
) -> None:
    """One layer there is three here: the matrix for query, key and value."""
    down, up, out = torch.randn(4, 64), torch.randn(192, 4), torch.randn(64, 4)
    pairs = {'layers.1.attention.qkv': (down, up), 'layers.1.attention.out': (down, out)}
    dotted = prefix.endswith('.')
    own: dict[str, Any] = {}
    split: dict[str, Any] = {}
    for name, (first, second) in pairs.items():
        spelled = prefix + (name if dotted else name.replace('.', '_'))
        parts = ('lora.down', 'lora.up') if dotted else ('lora_down', 'lora_up')
        own |= {
            f'{spelled}.{part}.weight': values for part, values in zip(parts, (first, second), strict=True)
        }
    for name, rows in zip(('to_q', 'to_k', 'to_v'), up.chunk(3), strict=True):
        split[f'transformer.layers.1.attention.{name}.lora_A.weight'] = down
        split[f'transformer.layers.1.attention.{name}.lora_B.weight'] = rows
    split['transformer.layers.1.attention.to_out.0.lora_A.weight'] = down
    split['transformer.layers.1.attention.to_out.0.lora_B.weight'] = out
    engine = engines('z-image')
    assert_alike(patches_of(engine, tmp_path, own), patches_of(engine, tmp_path, split))


@pytest.mark.parametrize(
    ('facts', 'scaling'),
    [
        ({}, 1.0),
        ({'lora_alpha': 8}, 2.0),
        ({'lora_alpha': 8, 'use_rslora': True}, 4.0),
        ({'lora_alpha': 8, 'alpha_pattern': {'to_q': 2}}, 0.5),
        ({'lora_alpha': 8, 'alpha_pattern': {'^a\\.b\\.to_q$': 2}}, 0.5),
        ({'lora_alpha': 8, 'alpha_pattern': {'o_q': 2}}, 2.0),
        ({'r': 8, 'lora_alpha': 8, 'rank_pattern': {'b.to_q': 4}}, 2.0),
    ],
)
def test_pefts_settings_count(facts: dict[str, Any], scaling: float) -> None:
    state = {'unet.a.b.to_q.lora_A.weight': torch.ones(4, 3), 'unet.a.b.to_q.lora_B.weight': torch.ones(3, 4)}
    given = {f'unet.{key}': value for key, value in facts.items()}
    names, shapes = LayerNames(['a.b.to_q'], 'unet'), {'a.b.to_q': torch.Size((3, 3))}
    assert read_weights(state, given, 'unet', names, shapes).patches['a.b.to_q'].scaling == scaling


@pytest.mark.parametrize(
    'facts',
    [
        {'alpha_pattern': {'(a+)+$': 2}},
        {'alpha_pattern': [1]},
        {'r': 0},
        {'r': 'x'},
        {'lora_alpha': float('nan')},
        {'lora_alpha': [2]},
        {'use_dora': True},
    ],
)
def test_settings_that_make_no_sense_are_refused(facts: dict[str, Any]) -> None:
    state = {'x.lora_A.weight': torch.ones(4, 3), 'x.lora_B.weight': torch.ones(3, 4)}
    given = {f'unet.{key}': value for key, value in facts.items()}
    with pytest.raises(Failure):
        read_weights(state, given, 'unet', LayerNames(['x'], 'unet'), {'x': torch.Size((3, 3))})


def test_a_name_that_could_be_two_layers_is_neither() -> None:
    names = LayerNames(['a.b_c', 'a_b.c'], 'unet')
    assert (names.find('a.b_c'), names.find('a_b.c'), names.find('a_b_c')) == ('a.b_c', 'a_b.c', None)


@in_type('float32')
def test_a_file_that_is_none_and_settings_that_are_no_json_are_refused(
    engines: Callable[[str], Any], tmp_path: Path
) -> None:
    path = tmp_path / 'a.safetensors'
    contents = [b'', b'x' * 100, b'\x02\x00\x00\x00\x00\x00\x00\x00{}']
    for text in ('{', '[' * 100_000):
        contents.append(save({'x': torch.ones(1)}, {'lora_adapter_metadata': text}))
    for content in contents:
        path.write_bytes(content)
        with pytest.raises(Failure):
            engines('sdxl').read(file_adapter(path))


@in_type('float32')
def test_a_file_is_read_beside_the_painting_and_changes_nothing(
    engine: Any, make_adapter: Callable[..., Any]
) -> None:
    before = paint(engine, spec())
    adapters = [make_adapter(seed=seed) for seed in (1, 2)]
    with ThreadPoolExecutor(1) as beside:
        futures = [beside.submit(engine.read, adapter) for adapter in adapters * 4]
        assert paint(engine, spec()) == before
        read = [future.result().weights for future in futures]
    for first, later in zip(read[:2], read[-2:], strict=True):
        assert_alike(first, later)


def test_the_server_needs_no_peft(model_dirs: dict[str, Path], tmp_path: Path) -> None:
    """PEFT judges the tests; the image of the server does not have it."""
    script = """
import json, sys
sys.modules['peft'] = None
from pathlib import Path
from tests.pipelines.conftest import file_adapter, open_engine, paint, spec, use
for model, file in json.loads(sys.argv[1]):
    engine = open_engine(Path(model))
    before = paint(engine, spec())
    use(engine, file_adapter(Path(file)))
    assert paint(engine, spec()) != before
"""
    tries: list[tuple[str, str]] = []
    for kind, folder in (('sdxl', 'ip'), ('z-image', 'z-image')):
        file = tmp_path / f'{kind}.safetensors'
        build_lora(kind, model_dirs[kind], file)  # type: ignore[arg-type]
        tries.append((str(model_dirs[folder]), str(file)))
    command = [sys.executable, '-c', script, json.dumps(tries)]
    subprocess.run(command, cwd=INFERENCE, check=True, capture_output=True)


class Tied(nn.Module):
    """Two layers with one weight, one layer with two names, and one that is alone."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c, self.alone = (nn.Linear(3, 3) for _ in range(4))
        self.b.weight = self.a.weight
        self.again = self.c
        self.grouped = nn.Conv2d(4, 4, 1, groups=2)


def test_a_weight_that_two_layers_share_is_kept_as_it_is() -> None:
    assert set(find_layers(Tied(), '.*')) == {'alone'}


def test_lycoris_has_the_lengths_of_rows_or_of_columns() -> None:
    weight = torch.randn(4, 4, 3, 3)
    factors = {'down': torch.randn(2, 4, 3, 3), 'up': torch.randn(4, 2, 1, 1)}
    state = {f'x.lora_{name}.weight': values for name, values in factors.items()}
    for shape, axis in (((4, 1, 1, 1), 0), ((1, 4, 1, 1), 1)):
        lengths = torch.rand(shape) + 1
        read = read_weights(
            {**state, 'x.dora_scale': lengths}, {}, 'unet', LayerNames(['x'], 'unet'), {'x': weight.shape}
        )
        merged = read.patches['x'].apply(weight.clone(), 1.0)
        others = tuple(each for each in range(4) if each != axis)
        assert torch.allclose(torch.linalg.vector_norm(merged, dim=others, keepdim=True), lengths, rtol=1e-5)
        expected = weight + (factors['up'].flatten(1) @ factors['down'].flatten(1)).reshape(weight.shape)
        direction = torch.nn.functional.cosine_similarity(
            merged.movedim(axis, 0).flatten(1), expected.movedim(axis, 0).flatten(1)
        )
        assert direction.min() > 0.99999


def test_a_convolution_with_a_core_of_its_own_is_the_three_convolutions_one_after_the_other() -> None:
    """LyCORIS calls it Tucker's form; it is what LoCon files with `lora_mid` hold."""
    down, mid, up = torch.randn(2, 5, 1, 1), torch.randn(2, 2, 3, 3), torch.randn(4, 2, 1, 1)
    names = {
        'lora_down.weight': down,
        'lora_mid.weight': mid,
        'lora_up.weight': up,
        'alpha': torch.tensor(1.0),
    }
    state = {f'lora_unet_x.{name}': values for name, values in names.items()}
    shape = torch.Size((4, 5, 3, 3))
    patch = read_weights(state, {}, 'unet', LayerNames(['x'], 'unet'), {'x': shape}).patches['x']
    image = torch.randn(1, 5, 8, 8)
    found = conv2d(image, patch.apply(torch.zeros(shape), 1.0))
    assert torch.allclose(found, conv2d(conv2d(conv2d(image, down), mid), up) / 2, atol=1e-4)


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
    theirs = diffusers_image(pipe, **GUIDANCE[kind])
    # diffusers adds the products, not the weights, so that some pixels round the other way.
    tolerance = {'float32': 0.1, 'bfloat16': 2.5}[dtype]
    assert difference(ours, theirs) < tolerance
    use(engine, None)
    plain = paint(engine, spec())
    assert difference(ours, plain) > 3
    # The engine takes the adapter's scale.
    use(engine, replace(adapter, scale=0.0))
    assert paint(engine, spec()) == plain


def first_layer(weights: dict[str, Any]) -> str:
    return next(iter(weights)).rsplit('.', 2)[0]


def rename(weights: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {key.replace(old, new): value.clone() for key, value in weights.items()}


@in_type('float32')
@pytest.mark.parametrize(
    ('change', 'problem'),
    [
        (lambda w: {**w, 'text_encoder.x.lora_A.weight': torch.zeros(4, 4)}, 'text encoder'),
        (lambda w: rename(w, 'to_q', 'to_nothing'), 'keeps as they are'),
        (lambda w: {k: v * float('nan') for k, v in w.items()}, 'no numbers'),
        (lambda w: {k: v for k, v in w.items() if 'lora_B' not in k}, 'lacks'),
        (lambda w: {k: v[:, :-1] if 'lora_A' in k else v for k, v in w.items()}, 'other sizes'),
        (lambda w: {k: torch.cat([v, v]) if 'lora_B' in k else v for k, v in w.items()}, 'other sizes'),
        (lambda w: {k: v[:-1] if 'lora_A' in k else v for k, v in w.items()}, 'other sizes'),
        (lambda w: {k: v[:0] if 'lora_A' in k else v[:, :0] for k, v in w.items()}, 'no numbers'),
        (lambda w: {k: v.flatten() for k, v in w.items()}, 'other sizes'),
        (lambda w: {k: v.to(torch.complex64) for k, v in w.items()}, 'of a type'),
        (lambda w: {**w, 'unet.conv_in.diff': torch.zeros(3)}, 'other weights'),
        (lambda w: {**w, **rename(w, '.weight', '.default.weight')}, 'twice'),
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


def test_memory_holds_the_adapters_used_last() -> None:
    def note(read: list[str], name: str) -> AdapterWeights:
        read.append(name)
        return weights

    weights = pack({'x': Patch({'down': torch.zeros(1, 50), 'up': torch.zeros(50, 1)}, 1.0)})
    for room, asked, expected in ((2 * weights.size_bytes, 'abacab', 'abcb'), (1, 'dd', 'd')):
        cache, read = AdapterCache(room), list[str]()
        for name in asked:
            cache.get(name, partial(note, read, name))
        assert ''.join(read) == expected
