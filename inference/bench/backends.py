"""What is measured: diffusers as it comes, and the server's engines."""

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from diffusers import AutoPipelineForImage2Image, AutoPipelineForInpainting, DiffusionPipeline
from PIL import Image

from model_server.__main__ import load_engine
from model_server.pipelines.diffusion import DiffusionEngine
from model_server.pipelines.distilled import is_distilled
from model_server.pipelines.engine import Adapter, Engine, ImageSpec
from model_server.pipelines.flux2_klein import Flux2KleinEngine
from model_server.pipelines.z_image import ZImageEngine
from model_server.settings import Settings

from .plans import Plan, Variant

# As the engines have it.
_STRENGTH = 0.75
_DISTILLED_STEPS = {
    'Flux2KleinPipeline': Flux2KleinEngine.distilled_steps,
    'ZImagePipeline': ZImageEngine.distilled_steps,
}


class DiffusersBackend:
    """diffusers as it comes. Several images are one batch, and adapters that were loaded stay in memory."""

    def __init__(self, model_dir: Path, bfloat16: bool) -> None:
        self._model_dir = model_dir
        self._device = 'cuda' if torch.cuda.is_available() else 'cpu'
        self._dtype = torch.bfloat16 if bfloat16 or self._device == 'cuda' else torch.float32
        self._loaded: set[str] = set()

    def load(self) -> None:
        """Loads the model."""
        pipe = DiffusionPipeline.from_pretrained(self._model_dir, dtype=self._dtype, local_files_only=True)
        self.pipe = _silent(pipe.to(self._device))
        # A distilled model has steps of its own, and no guidance.
        name = type(self.pipe).__name__
        self._distilled_steps = _DISTILLED_STEPS[name] if is_distilled(self._model_dir) else None

    def generate(self, spec: ImageSpec, seed: int, outputs: int = 1) -> list[Image.Image]:
        """Images with the seeds from `seed` on. Raises ValueError for references that it does not take."""
        pipe, images = self._choose(spec)
        distilled_steps = self._distilled_steps
        inputs = {
            'prompt': spec.prompt,
            'negative_prompt': spec.negative_prompt,
            'num_inference_steps': min(spec.steps, distilled_steps or spec.steps),
            'guidance_scale': spec.guidance_scale if distilled_steps is None else 0.0,
            'num_images_per_prompt': outputs,
            'width': spec.width,
            'height': spec.height,
            'generator': [
                torch.Generator(self._device).manual_seed(seed + index) for index in range(outputs)
            ],
            **images,
        }
        # Not every pipeline knows all of them.
        known = inspect.signature(pipe.__call__).parameters
        return list(pipe(**{name: value for name, value in inputs.items() if name in known}).images)

    def _choose(self, spec: ImageSpec) -> tuple[Any, dict[str, Any]]:
        if not spec.references:
            return self.pipe, {}
        image = spec.references[0].image.convert('RGB').resize((spec.width, spec.height))
        if spec.reference_mode == 'reference':
            found, inputs = AutoPipelineForImage2Image, {'image': image, 'strength': _STRENGTH}
        else:
            mask = Image.new('L', image.size, 255)
            mask.paste(0, (0, 0, spec.width // 2, spec.height // 2))
            found, inputs = (
                AutoPipelineForInpainting,
                {'image': image, 'mask_image': mask, 'strength': 1.0},
            )
        return _silent(found.from_pipe(self.pipe)), inputs

    def use(self, adapter: Adapter | None) -> None:
        """Uses this adapter from now on."""
        if adapter is None:
            self.pipe.disable_lora()
            return
        if adapter.digest not in self._loaded:
            self.pipe.load_lora_weights(
                adapter.path.parent,
                weight_name=adapter.path.name,
                adapter_name=adapter.digest,
                local_files_only=True,
            )
            self._loaded.add(adapter.digest)
        self.pipe.enable_lora()
        self.pipe.set_adapters(adapter.digest, adapter.scale)

    def merge(self) -> None:
        """Adds the adapter in use to the weights as diffusers does, for good."""
        self.pipe.fuse_lora()
        self.pipe.unload_lora_weights()


def _silent(pipe: Any) -> Any:
    pipe.set_progress_bar_config(disable=True)
    return pipe


class EngineBackend:
    """An engine of the server, as its environment says. Several images are made one after the other."""

    def __init__(self, bfloat16: bool) -> None:
        self._engine: Engine = load_engine(Settings.from_environment())
        if bfloat16 and isinstance(self._engine, DiffusionEngine):
            self._engine._runtime = replace(self._engine._runtime, dtype=torch.bfloat16)

    def load(self) -> None:
        """Loads the model, and warms it up."""
        self._engine.warm()

    @property
    def pipe(self) -> Any:
        """The pipeline of diffusers that starts from text; None for an engine without one."""
        return self._engine._text if isinstance(self._engine, DiffusionEngine) else None

    def generate(self, spec: ImageSpec, seed: int, outputs: int = 1) -> list[Image.Image]:
        """Images with the seeds from `seed` on."""
        prepared = self._engine.prepare(spec)
        return [self._engine.paint(prepared, seed + index, lambda _: None)() for index in range(outputs)]

    def use(self, adapter: Adapter | None) -> None:
        """Uses this adapter from now on."""
        self._engine.use(None if adapter is None else self._engine.read(adapter))


Backend = DiffusersBackend | EngineBackend


def open_backend(variant: Variant, model_dir: Path, plan: Plan) -> Backend:
    """Loads nothing yet."""
    if variant.compile is None:
        return DiffusersBackend(model_dir, plan.bfloat16)
    return EngineBackend(plan.bfloat16)
