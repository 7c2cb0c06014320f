"""Tiny models with random weights, and the real engines with them, on the CPU."""

import hashlib
import importlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from model_server.pipelines.compiling import specs_to_warm
from model_server.pipelines.engine import Adapter, Engine, ImageSpec, Order, Reference

KINDS = ('sdxl', 'z-image', 'flux2-klein')
#: Further models by their kinds: with an IP-Adapter, not distilled, distilled.
VARIANTS = {'ip': 'sdxl', 'flux2-klein-base': 'flux2-klein', 'z-image-turbo': 'z-image'}

#: Pixels. The engines' code is the same for larger pictures, which the contract suite asks for.
SIDE = 128


def spec(**changes: Any) -> ImageSpec:
    """A small picture in a few steps."""
    small = ImageSpec('a calm night', 'fog', 3, 5.0, SIDE, SIDE, (), 'reference', False, {})
    return replace(small, **changes)


def with_product(mode: str | None = 'reference', **changes: Any) -> ImageSpec:
    """The same with a product as its reference; None: without it."""
    if mode is None:
        return spec(**changes)
    return spec(references=(Reference(product()),), reference_mode=mode, **changes)


def draw(
    engine: Engine, what: ImageSpec, seed: int = 1, on_step: Callable[[int], None] = lambda _: None
) -> Image.Image:
    """The picture, as the server has it painted."""
    return engine.paint(engine.prepare(what), seed, on_step)()


def paint(engine: Engine, what: ImageSpec, seed: int = 1) -> bytes:
    """The picture's pixels."""
    return draw(engine, what, seed).tobytes()


def use(engine: Engine, adapter: Adapter | None) -> None:
    """Has the engine paint with the adapter, as the server does."""
    engine.use(None if adapter is None else engine.read(adapter))


def difference(one: bytes, other: bytes) -> float:
    """Mean distance of two pictures' pixels, in 8-bit steps."""
    first, second = (np.frombuffer(pixels, np.uint8).astype(int) for pixels in (one, other))
    return float(np.abs(first - second).mean())


def order(**changes: Any) -> Order:
    """What is known of a small picture before its inputs are fetched."""
    return replace(Order(1, 30, 7.5, SIDE, SIDE, 0, 'reference'), **changes)


def diffusers_pipeline(model_dir: Path, dtype: str = 'float32') -> Any:
    """The model as diffusers loads it."""
    import diffusers
    import torch

    pipe = diffusers.DiffusionPipeline.from_pretrained(
        model_dir, dtype=getattr(torch, dtype), local_files_only=True
    )
    pipe.set_progress_bar_config(disable=True)
    return pipe


def diffusers_image(pipe: Any, **inputs: Any) -> bytes:
    """What a pipeline of diffusers makes of `spec()`'s prompt and steps, with the seed 1."""
    import torch

    usual = {'prompt': 'a calm night', 'num_inference_steps': 3, 'width': SIDE, 'height': SIDE}
    seed = torch.Generator('cpu').manual_seed(1)
    return bytes(pipe(**{**usual, 'generator': seed, **inputs}).images[0].tobytes())


def rewrite(file: Path, **changes: Any) -> None:
    """Changes members of a JSON file."""
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))


def open_engine(model_dir: Path, dtype: str = 'float32', **settings: Any) -> Any:
    """As the server makes it, and warm."""
    import torch

    from model_server.__main__ import choose_engine
    from model_server.pipelines.runtime import Runtime
    from model_server.settings import Settings

    module, name = choose_engine(Settings(model_dir=model_dir)).split(':')
    runtime = replace(Runtime.from_environment(), dtype=getattr(torch, dtype), **settings)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Runtime, 'from_environment', lambda: runtime)
        patch.setattr('model_server.pipelines.diffusion.specs_to_warm', warm_small)
        engine = getattr(importlib.import_module(module), name)(model_dir)
        engine.warm()
    return engine


def warm_small(_side: int, *more: Any) -> list[ImageSpec]:
    """What an engine warms up with, in small."""
    return specs_to_warm(SIDE, *more)


@pytest.fixture(scope='session')
def model_dirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """By kind, or by the name of a variant."""
    from random_models import build, build_ip_adapter

    root = tmp_path_factory.mktemp('models')
    for name in (*KINDS, *VARIANTS):
        build(VARIANTS.get(name, name), root / name)  # type: ignore[arg-type]
    build_ip_adapter(root / 'ip')
    rewrite(root / 'flux2-klein-base' / 'model_index.json', is_distilled=False)
    rewrite(root / 'z-image-turbo' / 'model_index.json', is_distilled=True)
    rewrite(root / 'z-image-turbo' / 'scheduler' / 'scheduler_config.json', shift=3.0)
    return {name: root / name for name in (*KINDS, *VARIANTS)}


@pytest.fixture(scope='session', params=['float32', 'bfloat16'])
def dtype(request: pytest.FixtureRequest) -> str:
    """The type that the engines compute in: float32 is that of a CPU, bfloat16 that of a GPU."""
    return str(request.param)


@pytest.fixture(scope='session')
def made_engines() -> dict[tuple[str, str], Any]:
    """By kind and type, whatever the order of the tests."""
    return {}


@pytest.fixture(scope='session')
def engines(
    model_dirs: dict[str, Path], dtype: str, made_engines: dict[tuple[str, str], Any]
) -> Callable[[str], Any]:
    """Warm engines by kind, each made once for each type. So what they compute is tested in both."""

    def get(kind: str) -> Any:
        name = kind, dtype
        if name not in made_engines:
            made_engines[name] = open_engine(model_dirs[kind], dtype)
        made_engines[name].use(None)
        return made_engines[name]

    return get


def in_type(dtype: str) -> pytest.MarkDecorator:
    """For a test that finds nothing more in the other type: of counts, names, files, refusals, or bytes."""
    return pytest.mark.parametrize('dtype', [dtype], indirect=True, scope='session')


def file_adapter(path: Path, scale: float = 1.0) -> Adapter:
    """A file as the server gives it to an engine."""
    return Adapter(hashlib.sha256(path.read_bytes()).hexdigest(), path, scale)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def engine(kind: str, engines: Callable[[str], Any]) -> Any:
    """One of them, without an adapter."""
    return engines(kind)


@pytest.fixture
def guided_engine(kind: str, engines: Callable[[str], Any]) -> Any:
    """One that is not distilled, so that steps, guidance and negative prompts act."""
    return engines('flux2-klein-base' if kind == 'flux2-klein' else kind)


@pytest.fixture
def make_adapter(kind: str, model_dirs: dict[str, Path], tmp_path: Path) -> Callable[..., Adapter]:
    """An adapter that fits the engine's model."""
    from random_models import build_lora

    def make(rank: int = 4, seed: int = 0, scale: float = 1.0, **more: Any) -> Adapter:
        path = tmp_path / f'{rank}-{seed}-{len(list(tmp_path.iterdir()))}.safetensors'
        build_lora(kind, model_dirs[kind], path, rank=rank, seed=seed, **more)  # type: ignore[arg-type]
        return file_adapter(path, scale)

    return make


def tiny_unet() -> Any:
    """As small as it can be, with blocks and resnets."""
    import torch
    from diffusers import UNet2DConditionModel

    torch.manual_seed(0)
    return UNet2DConditionModel(
        sample_size=8,
        down_block_types=('CrossAttnDownBlock2D', 'DownBlock2D'),
        mid_block_type=None,
        up_block_types=('UpBlock2D', 'UpBlock2D'),
        block_out_channels=(4, 8),
        layers_per_block=1,
        attention_head_dim=1,
        cross_attention_dim=8,
        norm_num_groups=2,
    )


def product(size: tuple[int, int] = (120, 160), alpha: int = 255) -> Image.Image:
    """A cut-out: many colors, with transparent corners."""
    image = Image.radial_gradient('L').resize(size).convert('RGBA')
    image.putdata([(x % 256, (x * 7) % 256, (x * 3) % 256, alpha) for x in range(size[0] * size[1])])
    image.putpixel((0, 0), (0, 0, 0, 0))
    return image


def stripes() -> Image.Image:
    """Lettering, for all that the server knows of it."""
    image = Image.new('RGB', (512, 512), 'white')
    for x in range(200, 300, 8):
        image.paste('black', (x, 220, x + 4, 300))
    return image
