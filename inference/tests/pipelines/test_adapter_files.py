"""Files of every trainer: their names for the layers, their alphas, and that any thread may read them."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from model_server.failure import Failure
from model_server.pipelines.adapters.file import AdapterWeights, read_weights
from model_server.pipelines.adapters.names import LayerNames
from model_server.pipelines.adapters.patches import multiply
from model_server.pipelines.adapters.sgm_names import name_in_sgm
from random_models.models import create
from random_models.weights import Draw

from .conftest import file_adapter, in_type, paint, spec

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


def test_sdxls_layers_have_the_names_that_diffusers_reads_from_kohyas_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of SDXL in its full size, without its weights."""
    monkeypatch.setattr(torch.nn.Module, 'to_empty', lambda model, device: model)
    monkeypatch.setattr(Draw, '_fill', lambda *_: None)
    pipeline = create('sdxl', 'full', Draw('cpu', torch.float32))
    layers = [
        name
        for name, layer in pipeline.unet.named_modules()
        if isinstance(layer, (torch.nn.Linear, torch.nn.Conv2d))
    ]
    state, marks = {}, {}
    for mark, layer in enumerate(layers):
        sgm = name_in_sgm(layer, 2)
        assert sgm is not None, layer
        spelled = 'lora_unet_' + sgm.replace('.', '_')
        for part in ('lora_down', 'lora_up'):
            state[f'{spelled}.{part}.weight'] = torch.full((1, 1), float(mark))
        marks[mark] = layer
    assert len(state) == 2 * len(layers)
    theirs, _ = pipeline.lora_state_dict(dict(state), unet_config=pipeline.unet.config)

    names = LayerNames(layers, 'unet', lambda layer: [name_in_sgm(layer, 2) or ''])
    read = {
        names.find(key.split('.lora.')[0].split('_lora.')[0]): marks[int(values)]
        for key, values in theirs.items()
    }
    assert {name: layer for name, layer in read.items() if name != layer} == {}
    assert len(read) == len(layers)
    assert all(names.find(key.split('.')[0]) for key in state)


@in_type('float32')
def test_every_layer_of_sdxl_may_be_changed_but_those_of_an_ip_adapter(engines: Callable[[str], Any]) -> None:
    plain, with_it = engines('sdxl'), engines('ip')
    changeable = {
        name
        for name, layer in plain._text.unet.named_modules()
        if isinstance(layer, (torch.nn.Linear, torch.nn.Conv2d))
    }
    assert plain._merger._weights.keys() == with_it._merger._weights.keys() == changeable


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
@pytest.mark.parametrize('content', [b'', b'x' * 100, b'\x02\x00\x00\x00\x00\x00\x00\x00{}'])
def test_a_file_that_is_none_is_refused(
    engines: Callable[[str], Any], tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / 'a.safetensors'
    path.write_bytes(content)
    with pytest.raises(Failure):
        engines('sdxl').read(file_adapter(path))


@in_type('float32')
def test_settings_in_a_file_that_are_no_json_are_refused(
    engines: Callable[[str], Any], tmp_path: Path
) -> None:
    path = tmp_path / 'a.safetensors'
    for text in ('{', '[' * 100_000):
        save_file({'x': torch.ones(1)}, path, {'lora_adapter_metadata': text})
        with pytest.raises(Failure):
            engines('sdxl').read(file_adapter(path))


@in_type('float32')
def test_a_file_is_read_on_any_thread_and_changes_nothing(
    engine: Any, make_adapter: Callable[..., Any]
) -> None:
    before = paint(engine, spec())
    adapters = [make_adapter(seed=seed) for seed in (1, 2)] * 8
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(engine.read, adapter) for adapter in adapters]
        assert paint(engine, spec()) == before
        read = [future.result().weights for future in futures]
    for first, later in zip(read[:2], read[-2:], strict=True):
        assert_alike(first, later)


def test_the_server_needs_no_peft(model_dirs: dict[str, Path], tmp_path: Path) -> None:
    """PEFT judges the tests; the image of the server does not have it."""
    from random_models import KINDS, build_lora

    for kind in KINDS:
        build_lora(kind, model_dirs[kind], tmp_path / f'{kind}.safetensors')
    script = """
import sys
sys.modules['peft'] = None
from pathlib import Path
from tests.pipelines.conftest import file_adapter, open_engine, paint, spec, use
for kind, model, file in (('sdxl', sys.argv[1], sys.argv[2]), ('z-image', sys.argv[3], sys.argv[4])):
    engine = open_engine(kind, Path(model))
    before = paint(engine, spec())
    use(engine, file_adapter(Path(file)))
    assert paint(engine, spec()) != before
"""
    files = [
        str(path)
        for kind, folder in (('sdxl', 'ip'), ('z-image', 'z-image'))
        for path in (model_dirs[folder], tmp_path / f'{kind}.safetensors')
    ]
    subprocess.run([sys.executable, '-c', script, *files], cwd=INFERENCE, check=True, capture_output=True)
