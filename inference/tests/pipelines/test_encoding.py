"""What a picture starts from is encoded once for a request, beside the painting of another one."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock
from typing import Any

import diffusers
import numpy as np
import pytest
import torch
from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution
from PIL import Image

from model_server.pipelines.encoding import LatentEncoder, normalize
from model_server.pipelines.engine import Reference
from model_server.pipelines.flux2_klein import fit_reference

from .conftest import (
    KINDS,
    difference,
    diffusers_image,
    in_type,
    paint,
    product,
    spec,
    stripes,
    with_product,
)

SEEDS = (7, 8)


def photo(seed: int = 0) -> Reference:
    pixels = np.random.default_rng(seed).integers(0, 256, (96, 128, 3), dtype=np.uint8)
    return Reference(Image.fromarray(pixels).resize((640, 480)))


ASKED = {
    'reference': spec(references=(photo(),), steps=4),
    'branded': spec(references=(Reference(stripes()),), preserve_branding=True, steps=4),
    'exact_product': with_product('exact_product'),
}


def count_encodings(engine: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The widths of all that is encoded from now on, on whatever copy of the VAE."""
    seen: list[int] = []
    vae = type(engine._text.vae)
    encode = vae._encode

    def counted(self: Any, pixels: Any) -> Any:
        seen.append(int(pixels.shape[-1]))
        return encode(self, pixels)

    monkeypatch.setattr(vae, '_encode', counted)
    return seen


@in_type('bfloat16')
@pytest.mark.parametrize(
    ('kind', 'asked', 'encoded'),
    [
        *((kind, asked, 1) for kind in KINDS for asked in ASKED.values()),
        ('flux2-klein', spec(references=(photo(1), Reference(product()), photo(2))), 3),
        *((kind, spec(), 0) for kind in KINDS),
    ],
)
def test_all_outputs_of_a_request_encode_each_of_its_references_once(
    engines: Callable[[str], Any], kind: str, asked: Any, encoded: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engines(kind)
    alone = [paint(engine, asked, seed) for seed in SEEDS]
    seen = count_encodings(engine, monkeypatch)
    prepared = engine.prepare(asked)
    assert [engine.paint(prepared, seed, lambda _: None)().tobytes() for seed in SEEDS] == alone
    assert len(seen) == encoded
    assert len(set(alone)) == len(SEEDS)


# In bfloat16 diffusers rounds SDXL's latents before it scales them, and the server afterwards.
@in_type('float32')
@pytest.mark.parametrize('kind', ['sdxl', 'z-image'], indirect=True)
@pytest.mark.parametrize('name', ['reference', 'branded', 'exact_product'])
def test_from_latents_diffusers_paints_what_it_paints_from_the_image(
    engine: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for the drawing of latents, which is left out here."""
    asked, images = ASKED[name], list[Image.Image]()
    encode = engine._encode_image

    def look(image: Image.Image) -> Any:
        images.append(image)
        return encode(image)

    with monkeypatch.context() as patch:
        patch.setattr(engine, '_encode_image', look)
        recipe = engine.prepare(asked).inputs.recipe
    # Diffusers then takes the middle of what the VAE holds for possible, as the server does.
    monkeypatch.setattr(DiagonalGaussianDistribution, 'sample', lambda self, generator=None: self.mode())
    whole = {name: value for name, value in recipe.inputs.items() if name != 'masked_image_latents'}
    plain = {'_InpaintPipeline': diffusers.ZImageInpaintPipeline}.get(type(recipe.pipe).__name__)
    pipe = (plain or type(recipe.pipe))(**engine._text.components, **engine.options)
    pipe.set_progress_bar_config(disable=True)
    theirs = pipe(
        **{**whole, 'image': images[0]},
        num_inference_steps=asked.steps,
        generator=torch.Generator('cpu').manual_seed(1),
    ).images[0]
    assert difference(paint(engine, asked), recipe.finish(theirs.convert('RGB')).tobytes()) < 0.05


def test_klein_paints_with_references_what_diffusers_does(engines: Callable[[str], Any]) -> None:
    engine = engines('flux2-klein')
    references = (photo(1), Reference(product()))
    images = [fit_reference(each.image) for each in references]
    theirs = diffusers_image(engine._text, image=images, guidance_scale=1.0)
    assert difference(paint(engine, spec(references=references)), theirs) < 0.01


@pytest.mark.parametrize('force_upcast', [True, False])
@pytest.mark.parametrize('dtype', [torch.bfloat16, torch.float32], ids=str)
def test_the_encoder_has_its_own_numbers_and_leaves_those_of_the_painting(
    dtype: Any, force_upcast: bool
) -> None:
    torch.manual_seed(0)
    vae = diffusers.AutoencoderKL(block_out_channels=(4,), norm_num_groups=2, force_upcast=force_upcast)
    vae = vae.to(dtype).requires_grad_(False)
    before = {name: (tensor.dtype, tensor.data_ptr()) for name, tensor in vae.state_dict().items()}
    encoder = LatentEncoder(vae, force_upcast)
    pixels = torch.rand(1, 3, 16, 16) * 2 - 1
    latents = encoder(pixels)
    assert {name: (tensor.dtype, tensor.data_ptr()) for name, tensor in vae.state_dict().items()} == before
    assert latents.dtype == (torch.float32 if force_upcast else dtype)
    expected = vae.float() if force_upcast else vae
    found = type(vae).encode(expected, pixels.to(latents.dtype)).latent_dist.mode()
    assert torch.equal(latents, found)


def test_one_piece_of_memory_is_enough_because_both_wait_for_each_other() -> None:
    vae = diffusers.AutoencoderKL(block_out_channels=(4,), norm_num_groups=2).requires_grad_(False)
    busy = Lock()

    def alone(work: Any) -> Any:
        def watched(*args: Any) -> Any:
            assert busy.acquire(blocking=False)
            try:
                return work(*args)
            finally:
                busy.release()

        return watched

    vae._encode, vae._decode = alone(vae._encode), alone(vae._decode)
    encoder = LatentEncoder(vae, True)
    pixels, latents = torch.zeros(1, 3, 32, 32), torch.zeros(1, 4, 32, 32)
    with ThreadPoolExecutor(2) as threads:
        both = [partial(encoder, pixels), partial(vae.decode, latents)]
        work = [threads.submit(each) for each in both * 20]
        assert all(each.result() is not None for each in work)


def test_latents_are_normalized_as_the_pipelines_undo_it() -> None:
    latents = torch.linspace(-2, 2, 4).view(1, 4, 1, 1)
    plain = diffusers.AutoencoderKL(scaling_factor=0.5).config
    shifted = diffusers.AutoencoderKL(scaling_factor=0.5, shift_factor=0.25).config
    spread = diffusers.AutoencoderKL(scaling_factor=0.5, latents_mean=[1.0] * 4, latents_std=[4.0] * 4).config
    assert torch.equal(normalize(latents, plain), latents * 0.5)
    assert torch.equal(normalize(latents, shifted), (latents - 0.25) * 0.5)
    assert torch.equal(normalize(latents, spread), (latents - 1) * 0.5 / 4)


@in_type('float32')
def test_a_vae_with_more_channels_is_taken_as_it_is(engines: Callable[[str], Any]) -> None:
    """The tiny models have 4, which diffusers takes for latents anyway. Z-Image has 16."""
    engine = engines('z-image')
    processor = type(engine._image.image_processor)(vae_scale_factor=16)
    latents = torch.randn(1, 16, 65, 63)
    processor.register_to_config(vae_latent_channels=16)
    assert torch.equal(processor.preprocess(latents), latents)
    for pipe in (engine._image, engine._inpaint):
        assert pipe.image_processor.config.vae_latent_channels == engine._text.vae.config.latent_channels
