"""What is FLUX.2 [klein]'s own: its guidance, its references, exact products of any size, and adapters."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import diffusers
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file

from model_server.failure import Failure
from model_server.pipelines.chat_prompts import count_tokens
from model_server.pipelines.engine import Reference
from model_server.pipelines.flux2_klein import (
    LARGEST_REFERENCE,
    Flux2KleinEngine,
    fit_reference,
    reference_size,
    widen,
)
from model_server.pipelines.products.stage import build_stage

from .conftest import (
    SIDE,
    difference,
    diffusers_image,
    diffusers_pipeline,
    draw,
    file_adapter,
    in_type,
    order,
    paint,
    spec,
    use,
    with_product,
)

EXACT = with_product('exact_product')


@pytest.fixture
def distilled(engines: Callable[[str], Any]) -> Any:
    return engines('flux2-klein')


@pytest.fixture
def base(engines: Callable[[str], Any]) -> Any:
    return engines('flux2-klein-base')


def test_the_base_model_paints_what_diffusers_does(
    base: Any, dtype: str, model_dirs: dict[str, Path]
) -> None:
    pipe = diffusers_pipeline(model_dirs['flux2-klein-base'], dtype)
    fog = pipe.encode_prompt('fog')[0]
    theirs = diffusers_image(pipe, negative_prompt_embeds=fog, guidance_scale=4.0)
    assert difference(paint(base, spec(guidance_scale=7.5)), theirs) < 0.01


@in_type('float32')
def test_a_longer_prompt_than_the_authors_read_is_refused_before_it_is_cut(distilled: Any) -> None:
    empty = count_tokens(distilled._text.tokenizer, [''], 512, thinking=False)
    longest = 'x' * (512 - empty)
    paint(distilled, spec(prompt=longest, steps=1))
    with pytest.raises(Failure, match='513 tokens, and this model reads 512'):
        paint(distilled, spec(prompt=longest + 'x', steps=1))


def test_around_a_product_it_paints_what_diffusers_does(distilled: Any) -> None:
    """Up to 1 megapixel, where diffusers does not shrink the picture."""
    stage = build_stage(EXACT.references, SIDE, SIDE, False)
    inputs = {'image': stage.image, 'mask_image': stage.paint, 'strength': 1.0, 'guidance_scale': 1.0}
    theirs = Image.frombytes('RGB', (SIDE, SIDE), diffusers_image(distilled._inpaint, **inputs))
    assert difference(paint(distilled, EXACT), stage.finish(theirs).tobytes()) < 0.01


@in_type('bfloat16')
def test_around_a_product_a_picture_above_1_megapixel_has_its_size(distilled: Any) -> None:
    image = draw(distilled, replace(EXACT, width=1088, height=1024, steps=1))
    assert image.size == (1088, 1024)


@in_type('bfloat16')
def test_a_large_picture_that_is_made_before_or_prepared_meanwhile_leaves_no_tiles(
    distilled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tiles give other latents, and a product is encoded before the picture is painted, on another thread."""
    wide = replace(EXACT, width=576, height=512, steps=1)
    first = paint(distilled, wide)

    def prepare_in_tiles(_done: int = 0) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr('model_server.pipelines.memory.total_bytes', lambda _: 0)
            return distilled.prepare(wide)

    other = distilled.paint(prepare_in_tiles(), 1, lambda _: None)().tobytes()
    assert distilled._encoder.vae.use_tiling
    assert other != first
    assert draw(distilled, wide, on_step=prepare_in_tiles).tobytes() == paint(distilled, wide) == first


@pytest.mark.parametrize(
    ('size', 'fitted'),
    [
        ((300, 200), (288, 192)),
        ((4000, 3000), (1168, 880)),
        ((8192, 100), (2496, 416)),
        ((3, 5), (64, 96)),
        ((100, 8192), (416, 2496)),
        ((64, 560), (80, 560)),
    ],
)
def test_references_are_made_to_fit(size: tuple[int, int], fitted: tuple[int, int]) -> None:
    image = fit_reference(Image.new('RGBA', size, (255, 0, 0, 255)))
    assert (image.size, image.mode) == (fitted, 'RGB')
    # In the middle, whatever was put around it.
    assert image.getpixel((fitted[0] // 2, fitted[1] // 2)) == (255, 0, 0)


def test_references_of_any_shape_are_taken_by_diffusers() -> None:
    check = diffusers.pipelines.flux2.image_processor.Flux2ImageProcessor.check_image_input
    for long in range(64, 8192, 101):
        for short in {1, 63, long // 9 + 1, long // 6, long // 6 + 1, long // 2, long}:
            width, height = reference_size(*widen(long, short))
            check(Image.new('1', (width, height)))
            assert width % 16 == height % 16 == 0
            assert width * height <= LARGEST_REFERENCE


@in_type('float32')
@pytest.mark.parametrize(('mode', 'references'), [('reference', 0), ('reference', 2), ('exact_product', 2)])
def test_the_model_reads_as_many_pixels_as_the_estimate_assumes(
    distilled: Any, mode: Any, references: int
) -> None:
    seen: list[int] = []

    def count(_model: Any, _inputs: tuple[Any, ...], named: dict[str, Any], _output: Any) -> None:
        tokens = named['hidden_states'].shape[1] + named['encoder_hidden_states'].shape[1]
        seen.append(tokens * 16 * 16)

    asked = spec(
        steps=1,
        references=(Reference(Image.effect_noise((1024, 1024), 50).convert('RGB')),) * references,
        reference_mode=mode,
    )
    hook = distilled._text.transformer.register_forward_hook(count, with_kwargs=True)
    try:
        paint(distilled, asked)
    finally:
        hook.remove()
    assert seen == [distilled.pixels(order(references=references, reference_mode=mode))]


def fused_lora(folder: Path) -> dict[str, Path]:
    """The same change of all that attends to the picture, by the names that different tools give it."""
    generator = torch.Generator().manual_seed(3)
    down = torch.randn(4, 32, generator=generator)
    ups = {name: torch.randn(32, 4, generator=generator) / 8 for name in ('to_q', 'to_k', 'to_v')}
    block = 'transformer.transformer_blocks.0.attn'
    fused = torch.cat(list(ups.values()))
    files = {
        'diffusers': {f'{block}.{name}.lora_A.weight': down.clone() for name in ups}
        | {f'{block}.{name}.lora_B.weight': up for name, up in ups.items()},
        'ai-toolkit': {
            'diffusion_model.double_blocks.0.img_attn.qkv.lora_A.weight': down,
            'diffusion_model.double_blocks.0.img_attn.qkv.lora_B.weight': fused,
        },
        'kohya': {
            'lora_unet_double_blocks_0_img_attn_qkv.lora_down.weight': down,
            'lora_unet_double_blocks_0_img_attn_qkv.lora_up.weight': fused * 2,
            'lora_unet_double_blocks_0_img_attn_qkv.alpha': torch.tensor(2.0),
        },
    }
    paths = {name: folder / f'{name}.safetensors' for name in files}
    for name, weights in files.items():
        save_file(weights, paths[name])
    return paths


@in_type('float32')
def test_an_adapter_acts_the_same_in_every_format(distilled: Any, tmp_path: Path) -> None:
    images = set()
    for path in fused_lora(tmp_path).values():
        use(distilled, file_adapter(path))
        images.add(paint(distilled, spec()))
    use(distilled, None)
    assert len(images) == 1
    assert paint(distilled, spec()) not in images


@in_type('float32')
@pytest.mark.parametrize(
    'name',
    [
        'lora_unet_double_blocks_0_img_mod_lin.lora_down.weight',
        'lora_te_layers_0.lora_down.weight',
        'diffusion_model.double_blocks.0.img_attn.qkv.lora_down.weight',
        # Diffusers would count up to these numbers for hours.
        'lora_unet_double_blocks_999999999_img_mlp_0.lora_down.weight',
        'diffusion_model.single_blocks.999999999.linear1.lora_A.weight',
        'diffusion_model.single_blocks.9_9_9_9_9_9_9_9_9.linear1.lora_A.weight',
    ],
)
def test_an_adapter_of_which_diffusers_would_leave_something_out_is_refused_before_diffusers_gets_it(
    distilled: Any, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fused_lora(tmp_path)['ai-toolkit' if 'single' in name else 'kohya']
    save_file({**load_file(path), name: torch.zeros(4, 32)}, path)
    monkeypatch.setattr(
        type(distilled._text), 'lora_state_dict', lambda *_, **__: pytest.fail('It was read.')
    )
    with pytest.raises(Failure, match='keeps as they are') as caught:
        distilled.read(file_adapter(path))
    assert caught.value.reason == 'adapter_unavailable'


def test_an_adapter_may_change_all_linear_layers_but_one(model_dirs: dict[str, Path]) -> None:
    """The authors' format has the weights of `norm_out` in another order."""
    config = json.loads((model_dirs['flux2-klein'] / 'transformer' / 'config.json').read_text())
    with torch.device('meta'):
        model = diffusers.Flux2Transformer2DModel.from_config(config)
    layers = {name for name, layer in model.named_modules() if isinstance(layer, torch.nn.Linear)}
    taken = {name for name in layers if re.fullmatch(Flux2KleinEngine.adapter_layers, name)}
    assert layers - taken == {'norm_out.linear'}
