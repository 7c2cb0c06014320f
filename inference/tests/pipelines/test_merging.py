"""Merging: it is what PEFT computes beside the weights, nothing stays behind, and errors leave no trace."""

import json
import random
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from itertools import product as product_of
from pathlib import Path
from typing import Any

import diffusers
import peft
import pytest
import torch
from safetensors.torch import save_file

from model_server.failure import Failure
from model_server.pipelines.adapters.file import load_file, read_weights
from model_server.pipelines.adapters.merging import Merger
from model_server.pipelines.adapters.names import LayerNames, find_layers
from model_server.pipelines.adapters.packing import AdapterWeights
from model_server.pipelines.adapters.patches import Patch
from model_server.pipelines.flux2_klein import Flux2KleinEngine
from model_server.pipelines.sdxl import SdxlEngine
from model_server.pipelines.z_image import ZImageEngine

from .conftest import file_adapter, in_type, paint, spec, use

ENGINES: dict[str, Any] = {'sdxl': SdxlEngine, 'z-image': ZImageEngine, 'flux2-klein': Flux2KleinEngine}
MODELS: dict[str, Any] = {
    'sdxl': diffusers.UNet2DConditionModel,
    'z-image': diffusers.ZImageTransformer2DModel,
    'flux2-klein': diffusers.Flux2Transformer2DModel,
}

#: Each with an alpha that is not its rank, and with values from the start on.
CONFIGS: dict[str, tuple[Any, dict[str, Any]]] = {
    'LoRA': (peft.LoraConfig, {'r': 4, 'lora_alpha': 2, 'init_lora_weights': False}),
    'rsLoRA': (peft.LoraConfig, {'r': 4, 'lora_alpha': 2, 'init_lora_weights': False, 'use_rslora': True}),
    'DoRA': (peft.LoraConfig, {'r': 4, 'lora_alpha': 2, 'init_lora_weights': False, 'use_dora': True}),
    'LoKr': (peft.LoKrConfig, {'r': 2, 'alpha': 1, 'init_weights': False}),
    'LoKr of three': (
        peft.LoKrConfig,
        {'r': 2, 'alpha': 1, 'init_weights': False, 'decompose_both': True, 'use_effective_conv2d': True},
    ),
    'LoHa': (peft.LoHaConfig, {'r': 2, 'alpha': 1, 'init_weights': False, 'use_effective_conv2d': True}),
}


@cache
def load_once(kind: str, model_dir: Path, dtype: Any) -> Any:
    part = ENGINES[kind].denoiser
    return MODELS[kind].from_pretrained(model_dir / part, dtype=dtype).requires_grad_(False)


def load_denoiser(kind: str, model_dir: Path, dtype: Any) -> Any:
    """One of its own; copying is quicker than reading files."""
    return deepcopy(load_once(kind, model_dir, dtype))


def run(kind: str, model: Any) -> Any:
    """What the model makes of inputs that are always the same."""
    draw = torch.Generator().manual_seed(1)

    def noise(*shape: int) -> Any:
        return torch.randn(*shape, generator=draw).to(model.dtype)

    if kind == 'sdxl':
        added = {'text_embeds': noise(2, 32), 'time_ids': torch.ones(2, 6)}
        return model(noise(2, 4, 16, 16), 500, noise(2, 7, 64), added_cond_kwargs=added).sample.float()
    if kind == 'flux2-klein':
        places = torch.cartesian_prod(*(torch.arange(size) for size in (1, 4, 4, 1)))
        texts = torch.cartesian_prod(*(torch.arange(size) for size in (1, 1, 1, 7)))
        step = torch.tensor([0.5], dtype=model.dtype)
        answer = model(noise(1, 16, 16), noise(1, 7, 48), step, img_ids=places, txt_ids=texts)
        return answer.sample.float()
    answer = model([noise(4, 1, 16, 16)], torch.tensor([0.5], dtype=model.dtype), [noise(32, 32)])
    return answer.sample[0].float()


def wrap(kind: str, model: Any, method: str, file: Path, every: int = 1) -> None:
    """Puts PEFT's layers around some of the model's, with random values; writes them as diffusers does."""
    torch.manual_seed(7)
    make, settings = CONFIGS[method]
    config = make(**settings, target_modules=list(find_layers(model, ENGINES[kind].adapter_layers))[::every])
    peft.inject_adapter_in_model(config, model)
    for name, values in model.named_parameters():
        if 'magnitude' in name:
            values.data *= 1 + torch.rand_like(values) / 2
        elif 'hada' in name or 'lokr' in name:
            # PEFT begins with values that hardly change a picture.
            values.data *= 2
    state = {key: value.contiguous() for key, value in peft.get_peft_model_state_dict(model).items()}
    part = ENGINES[kind].denoiser
    known = ('r', 'lora_alpha', 'alpha', 'use_rslora')
    facts = {f'{part}.{key}': value for key, value in config.to_dict().items() if key in known}
    named = {f'{part}.{key}': value for key, value in state.items()}
    save_file(named, file, {'lora_adapter_metadata': json.dumps(facts)})


def read(kind: str, model: Any, file: Path) -> tuple[Merger, AdapterWeights]:
    layers = find_layers(model, ENGINES[kind].adapter_layers)
    part = ENGINES[kind].denoiser
    shapes = {name: weight.shape for name, weight in layers.items()}
    return Merger(layers), read_weights(*load_file(file), part, LayerNames(layers, part), shapes)


@pytest.mark.parametrize(
    ('method', 'dtype', 'tolerance'),
    [*((method, torch.float32, 1e-5) for method in CONFIGS), ('DoRA', torch.bfloat16, 0.1)],
    ids=str,
)
def test_a_merged_adapter_acts_as_a_wrapped_one(
    kind: str, method: str, dtype: Any, tolerance: float, model_dirs: dict[str, Path], tmp_path: Path
) -> None:
    """
    The tolerance is the error's share of what the adapter changes, in the norm of the model's whole output.
    In bfloat16 both round, at other places.
    """
    file = tmp_path / 'adapter.safetensors'
    model = load_denoiser(kind, model_dirs[kind], dtype)
    plain = run(kind, model)
    wrap(kind, model, method, file)
    wrapped = run(kind, model)

    model = load_denoiser(kind, model_dirs[kind], dtype)
    merger, weights = read(kind, model, file)
    merger.merge(weights, 1.0)
    merged = run(kind, model)

    assert (merged - wrapped).norm() < tolerance * (wrapped - plain).norm()
    assert (wrapped - plain).norm() > 0.1 * plain.norm()
    if kind == 'sdxl':
        assert {len(merger._weights[name].shape) for name in weights.patches} == {2, 4}


def snapshot(model: Any) -> dict[str, Any]:
    return {name: values.clone() for name, values in model.state_dict().items()}


def assert_same(model: Any, expected: dict[str, Any]) -> None:
    found = model.state_dict()
    assert found.keys() == expected.keys()
    assert [name for name, values in found.items() if not torch.equal(values, expected[name])] == []


@pytest.fixture
def model(kind: str, model_dirs: dict[str, Path]) -> Any:
    return load_denoiser(kind, model_dirs[kind], torch.bfloat16)


@pytest.fixture(scope='module')
def all_adapters(
    model_dirs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Path]]:
    """By kind, a file of each method; each method changes every layer, or every other one."""
    files: dict[str, dict[str, Path]] = {kind: {} for kind in ENGINES}
    for kind, (number, method) in product_of(ENGINES, enumerate(CONFIGS)):
        file = files[kind][method] = tmp_path_factory.mktemp(kind) / f'{method}.safetensors'
        wrap(kind, load_denoiser(kind, model_dirs[kind], torch.float32), method, file, 1 + number % 2)
    return files


@pytest.fixture
def adapters(kind: str, all_adapters: dict[str, dict[str, Path]]) -> dict[str, Path]:
    """A file of each method."""
    return all_adapters[kind]


def test_weights_are_the_same_to_the_bit_after_50_random_swaps(
    kind: str, model: Any, adapters: dict[str, Path], model_dirs: dict[str, Path]
) -> None:
    pristine = snapshot(model)
    fresh = load_denoiser(kind, model_dirs[kind], torch.bfloat16)
    orders: list[tuple[str | None, float]] = [(None, 1.0)]
    orders += [(method, scale) for method in adapters for scale in (0.5, 1.0, 2.0)]
    alone: dict[Any, dict[str, Any]] = {}
    for method, scale in orders:
        # Quicker than one of its own for each.
        fresh.load_state_dict(pristine)
        if method is not None:
            merger, weights = read(kind, fresh, adapters[method])
            merger.merge(weights, scale)
        alone[method, scale] = snapshot(fresh)
    sums = {tuple(float(x.float().sum()) for x in each.values()) for each in alone.values()}
    assert len(sums) == len(orders)

    merger, _ = read(kind, model, adapters['LoRA'])
    read_all = {method: read(kind, model, file)[1] for method, file in adapters.items()}
    draw = random.Random(5)
    for _ in range(50):
        method, scale = draw.choice(orders)
        if method is None:
            merger.restore()
        else:
            merger.merge(read_all[method], scale)
        assert_same(model, alone[method, scale])
    merger.restore()
    assert_same(model, pristine)


def test_the_sum_is_computed_in_float32_and_rounded_once(
    kind: str, model: Any, adapters: dict[str, Path]
) -> None:
    merger, weights = read(kind, model, adapters['LoRA'])
    before = {name: weight.clone() for name, weight in merger._weights.items()}
    merger.merge(weights, 1.0)
    for name, patch in weights.patches.items():
        up, down = (patch.factors[part].double().flatten(1) for part in ('up', 'down'))
        exact = before[name].double() + 0.5 * (up @ down).reshape(before[name].shape)
        # Half of bfloat16's step, and float32's error beside it.
        error = (merger._weights[name].double() - exact).abs()
        assert (error <= exact.abs() * 2**-8 * 1.001 + 1e-6).all(), name


@pytest.mark.parametrize('after', ['LoHa', None])
def test_a_merge_that_fails_half_way_leaves_the_weights_as_they_were_loaded(
    kind: str, model: Any, adapters: dict[str, Path], after: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pristine = snapshot(model)
    merger, weights = read(kind, model, adapters['DoRA'])
    if after:
        merger.merge(read(kind, model, adapters[after])[1], 1.0)
    apply, done = Patch.apply, 0

    def fail_in_the_middle(patch: Patch, weight: Any, scale: float) -> Any:
        nonlocal done
        done += 1
        if done == 10:
            raise torch.OutOfMemoryError
        return apply(patch, weight, scale)

    monkeypatch.setattr(Patch, 'apply', fail_in_the_middle)
    with pytest.raises(torch.OutOfMemoryError):
        merger.merge(weights, 1.0)
    assert done == 10
    assert_same(model, pristine)


def test_with_a_scale_of_0_no_adapter_changes_anything(
    kind: str, model: Any, adapters: dict[str, Path]
) -> None:
    """Also no DoRA, which in PEFT has the lengths of its rows then."""
    before = run(kind, model)
    for file in adapters.values():
        merger, weights = read(kind, model, file)
        merger.merge(weights, 0.0)
        assert torch.equal(run(kind, model), before)
        merger.restore()


def test_copies_lie_in_the_computers_memory_where_the_card_has_no_room(
    kind: str, model: Any, adapters: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def has_room(_device: Any, needed_bytes: int) -> bool:
        asked.append(needed_bytes)
        return False

    monkeypatch.setattr('model_server.pipelines.adapters.merging.has_room', has_room)
    merger, weights = read(kind, model, adapters['LoRA'])
    merger.merge(weights, 1.0)
    sizes = [merger._weights[name].nbytes for name in weights.patches]
    assert asked == [sum(sizes)]
    merger.merge(weights, 0.5)
    assert sum(asked) == sum(sizes), 'copied once'


def test_an_adapter_of_several_types_lies_in_one_piece_of_memory(
    kind: str, model: Any, adapters: dict[str, Path], tmp_path: Path
) -> None:
    types = torch.float32, torch.float16, torch.bfloat16
    for method, file in adapters.items():
        state = load_file(file)[0]
        mixed = {name: values.to(types[at % 3]) for at, (name, values) in enumerate(state.items())}
        save_file(mixed, tmp_path / method)
        weights = read(kind, model, tmp_path / method)[1]
        moved = weights.on(torch.device('cpu'))
        kept = [tensor for patch in moved.values() for tensor in patch.tensors]
        assert {tensor.untyped_storage().data_ptr() for tensor in kept} == {weights.buffer.data_ptr()}
        assert {tensor.dtype for tensor in kept} == set(types)
        sums = sorted(values.double().sum().item() for values in mixed.values() if values.numel() > 1)
        assert sorted(tensor.double().sum().item() for tensor in kept if tensor.numel() > 1) == sums


@in_type('float32')
def test_the_models_files_stay_as_they_are(
    engines: Callable[[str], Any], kind: str, adapters: dict[str, Path], model_dirs: dict[str, Path]
) -> None:
    """They may be mapped into the memory that is written to."""
    folder = model_dirs[kind] / ENGINES[kind].denoiser
    before = [path.read_bytes() for path in sorted(folder.iterdir())]
    engine = engines(kind)
    for file in adapters.values():
        use(engine, file_adapter(file))
    assert [path.read_bytes() for path in sorted(folder.iterdir())] == before


@in_type('bfloat16')
def test_weights_that_could_not_be_put_back_are_put_back_before_the_next_picture(
    engines: Callable[[str], Any], kind: str, adapters: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_out(*_: Any) -> None:
        raise torch.OutOfMemoryError

    engine = engines(kind)
    before = paint(engine, spec())
    use(engine, file_adapter(adapters['LoRA']))
    with monkeypatch.context() as patch:
        patch.setattr(Merger, '_restore', run_out)
        with pytest.raises(Failure, match='too little memory'):
            engine.use(None)
    engine.use(None)
    assert paint(engine, spec()) == before


@in_type('bfloat16')
def test_an_adapter_whose_sums_are_no_numbers_is_refused_and_changes_nothing(
    engines: Callable[[str], Any], kind: str, adapters: dict[str, Path], tmp_path: Path
) -> None:
    engine = engines(kind)
    before = paint(engine, spec())
    use(engine, file_adapter(adapters['DoRA']))
    huge = {name: values * 1e30 for name, values in load_file(adapters['LoRA'])[0].items()}
    save_file(huge, tmp_path / 'huge.safetensors')
    with pytest.raises(Failure, match='weights that are no numbers') as caught:
        use(engine, file_adapter(tmp_path / 'huge.safetensors'))
    assert caught.value.reason == 'adapter_unavailable'
    assert paint(engine, spec()) == before
