"""What is measured: diffusers as it comes, and the server's engine."""

import inspect
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from diffusers import DiffusionPipeline
from PIL import Image

from model_server.pipelines.diffusion import DiffusionEngine
from model_server.pipelines.distilled import is_distilled
from model_server.pipelines.engine import Adapter, ImageSpec
from model_server.pipelines.flux2_klein import Flux2KleinEngine
from model_server.pipelines.sdxl import SdxlEngine
from model_server.pipelines.z_image import ZImageEngine

from .timing import now_seconds

_ENGINES: tuple[type[DiffusionEngine], ...] = (SdxlEngine, ZImageEngine, Flux2KleinEngine)


def _find_engine(model_dir: Path) -> type[DiffusionEngine]:
    name = json.loads((model_dir / 'model_index.json').read_text('utf-8'))['_class_name']
    return next(each for each in _ENGINES if each.text_pipeline.__name__ == name)


@dataclass(frozen=True)
class Modes:
    """PyTorch's settings that differ, for the whole process; those that it comes with."""

    deterministic: bool = False
    only_warns: bool = False
    cudnn_attention: bool = True

    def apply(self) -> None:
        """They are in force from now on."""
        torch.use_deterministic_algorithms(self.deterministic, warn_only=self.only_warns)
        torch.backends.cuda.enable_cudnn_sdp(self.cudnn_attention)


class Plain:
    """diffusers as it comes. Several images are one batch."""

    name, adapted, modes = 'plain', 'wrapped', Modes()

    def __init__(self, model_dir: Path) -> None:
        self.model_dir = model_dir
        self._device = 'cuda' if torch.cuda.is_available() else 'cpu'

    def load(self) -> None:
        """Reads the weights."""
        dtype = torch.bfloat16 if self._device == 'cuda' else torch.float32
        pipe = DiffusionPipeline.from_pretrained(self.model_dir, dtype=dtype, local_files_only=True)
        self.pipe = pipe.to(self._device)
        self.pipe.set_progress_bar_config(disable=True)
        engine = _find_engine(self.model_dir)
        self.denoiser = self.pipe.components[engine.denoiser]
        self.denoiser.requires_grad_(False)
        # A distilled model has steps of its own, and no guidance.
        self._distilled_steps = engine.distilled_steps if is_distilled(self.model_dir) else None

    def generate(self, spec: ImageSpec, seed: int, outputs: int = 1) -> list[Image.Image]:
        """Images with the seeds from `seed` on. It takes no references."""
        distilled_steps = self._distilled_steps
        seeds = range(seed, seed + outputs)
        inputs = {
            'prompt': spec.prompt,
            'negative_prompt': spec.negative_prompt,
            'num_inference_steps': min(spec.steps, distilled_steps or spec.steps),
            'guidance_scale': spec.guidance_scale if distilled_steps is None else 0.0,
            'num_images_per_prompt': outputs,
            'width': spec.width,
            'height': spec.height,
            'generator': [torch.Generator(self._device).manual_seed(each) for each in seeds],
        }
        # Not every pipeline knows all of them.
        known = inspect.signature(self.pipe.__call__).parameters
        return list(self.pipe(**{name: value for name, value in inputs.items() if name in known}).images)

    def use(self, adapter: Adapter) -> None:
        """Uses this adapter from now on."""
        path, name = adapter.path, adapter.digest
        self.pipe.load_lora_weights(
            path.parent, weight_name=path.name, adapter_name=name, local_files_only=True
        )
        self.pipe.set_adapters(name, adapter.scale)

    def merge(self) -> None:
        """Adds the adapter in use to the weights as diffusers does, for good."""
        self.pipe.fuse_lora()
        self.pipe.unload_lora_weights()


class Served:
    """The server's engine, as its environment says. Several images are made one after the other."""

    name, adapted = 'engine', 'merged'

    def __init__(self, model_dir: Path) -> None:
        self.engine = _find_engine(model_dir)(model_dir)
        self.modes = Modes(
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
            torch.backends.cuda.cudnn_sdp_enabled(),
        )

    def load(self) -> float:
        """Reads the weights and warms up. Answers how long it took once they were read."""
        prepare, read = self.engine._prepare, []

        def note(pipe: Any) -> None:
            read.append(now_seconds())
            prepare(pipe)

        specs = self.engine._specs_to_warm
        # What a request without guidance runs is as much code again, and none is measured.
        guided = [each for each in specs() if each.guidance_scale > 1]
        self.engine._specs_to_warm = lambda: guided  # type: ignore[method-assign]
        self.engine._prepare = note  # type: ignore[method-assign]
        self.engine.warm()
        # The server calls it on another thread.
        self.engine.warm_preparing()
        self.pipe = self.engine._text
        self.denoiser = self.pipe.components[self.engine.denoiser]
        return now_seconds() - read[0]

    def evaluate(self, *args: Any, **named: Any) -> Any:
        """Evaluates the denoiser as Python starts it where there is no graph yet."""
        graphs = self.engine._graphs
        if graphs is not None:
            self.denoiser.forward = graphs._forward
        try:
            return self.denoiser(*args, **named)
        finally:
            if graphs is not None:
                self.denoiser.forward = graphs

    def generate(self, spec: ImageSpec, seed: int, outputs: int = 1) -> list[Image.Image]:
        """Images with the seeds from `seed` on."""
        prepared = self.engine.prepare(spec)
        return [self.engine.paint(prepared, seed + index, lambda _: None)() for index in range(outputs)]

    def use(self, adapter: Adapter | None) -> None:
        """Uses this adapter from now on."""
        self.engine.use(None if adapter is None else self.engine.read(adapter))


Subject = Plain | Served
