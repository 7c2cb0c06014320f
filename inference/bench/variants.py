"""What is compared: diffusers as it comes, and the server's engines."""

import gc
import hashlib
import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import torch
from diffusers import DiffusionPipeline, Flux2KleinPipeline
from PIL import Image

from model_server.pipelines.engine import Adapter, Engine, ImageSpec

from .rounds import Cost
from .turn import Turn


@dataclass(frozen=True)
class Task:
    """What all variants paint."""

    prompt: str
    negative_prompt: str
    steps: int
    guidance_scale: float


def read_adapter(file: Path) -> Adapter:
    """A LoRA file, as the server gives it to an engine."""
    return Adapter(hashlib.sha256(file.read_bytes()).hexdigest(), file, 1.0)


class Variant(ABC):
    """One of those that are compared. What it does is measured."""

    def __init__(self, name: str, turn: Turn) -> None:
        self.name = name
        self._turn = turn
        #: Images of one color, as a model paints that computes no numbers any more.
        self.blank_images = 0

    def load(self) -> Cost:
        """Loads the model."""
        return self._turn.measure(self._load)

    def paint(self, side: int, outputs: int, seed: int) -> Cost:
        """Paints images of side x side pixels."""
        images: list[Image.Image] = []
        cost = self._turn.measure(lambda: images.extend(self.images(side, outputs, seed)))
        self.blank_images += sum(_is_blank(image) for image in images)
        return cost

    def use(self, adapter: Adapter | None) -> Cost:
        """Loads the adapter, or unloads it."""
        return self._turn.measure(lambda: self._use(adapter))

    def unload(self) -> None:
        """Gives the memory back."""
        self._unload()
        gc.collect()
        torch.cuda.empty_cache()

    @property
    def held_bytes(self) -> int:
        """GPU memory that it takes while it does nothing."""
        return self._turn.held_bytes

    @abstractmethod
    def images(self, side: int, outputs: int, seed: int) -> list[Image.Image]:
        """Paints them, with the seeds from `seed` on."""

    @abstractmethod
    def _load(self) -> None: ...

    @abstractmethod
    def _use(self, adapter: Adapter | None) -> None: ...

    @abstractmethod
    def _unload(self) -> None: ...


class PlainVariant(Variant):
    """diffusers as it comes. Several images are one batch, and adapters that were loaded stay in memory."""

    def __init__(self, name: str, model_dir: Path, task: Task) -> None:
        super().__init__(name, Turn())
        self._model_dir = model_dir
        self._task = task
        self._device = 'cuda' if torch.cuda.is_available() else 'cpu'
        self._pipeline: Any = None
        self._loaded: set[str] = set()

    def _load(self) -> None:
        dtype = torch.bfloat16 if self._device == 'cuda' else torch.float32
        pipeline = DiffusionPipeline.from_pretrained(
            self._model_dir, torch_dtype=dtype, local_files_only=True
        )
        self._pipeline = pipeline.to(self._device)
        self._pipeline.set_progress_bar_config(disable=True)

    def images(self, side: int, outputs: int, seed: int) -> list[Image.Image]:
        generators = [torch.Generator(self._device).manual_seed(seed + index) for index in range(outputs)]
        made = self._pipeline(
            **self._describe(),
            width=side,
            height=side,
            num_images_per_prompt=outputs,
            generator=generators,
        )
        return list(made.images)

    def _describe(self) -> dict[str, Any]:
        """The task as the pipeline takes it. A distilled one has steps of its own, and no guidance."""
        inputs = {'prompt': self._task.prompt}
        if isinstance(self._pipeline, Flux2KleinPipeline):
            if self._pipeline.config.is_distilled:
                return {**inputs, 'num_inference_steps': min(self._task.steps, 4), 'guidance_scale': 1.0}
        else:
            inputs['negative_prompt'] = self._task.negative_prompt
        return {
            **inputs,
            'num_inference_steps': self._task.steps,
            'guidance_scale': self._task.guidance_scale,
        }

    def _use(self, adapter: Adapter | None) -> None:
        if adapter is None:
            self._pipeline.disable_lora()
            return
        if adapter.digest not in self._loaded:
            self._pipeline.load_lora_weights(
                adapter.path.parent,
                weight_name=adapter.path.name,
                adapter_name=adapter.digest,
                local_files_only=True,
            )
            self._loaded.add(adapter.digest)
        self._pipeline.enable_lora()
        self._pipeline.set_adapters(adapter.digest, adapter.scale)

    def _unload(self) -> None:
        self._pipeline = None
        self._loaded.clear()


class EngineVariant(Variant):
    """An engine of the server. Several images are painted one after the other, as the server does."""

    def __init__(self, name: str, path: str, model_dir: Path, task: Task, compiled: bool) -> None:
        """`path` is `module:Name`."""
        super().__init__(name, Turn({'COMPILE': '1' if compiled else ''}))
        module, _, attribute = path.partition(':')
        self._create = cast('Callable[[Path], Engine]', getattr(importlib.import_module(module), attribute))
        self._model_dir = model_dir
        self._task = task
        self._engine: Engine | None = None

    def _load(self) -> None:
        self._engine = self._create(self._model_dir)
        self._engine.warm()

    def images(self, side: int, outputs: int, seed: int) -> list[Image.Image]:
        prepared = self._loaded.prepare(self._order(side))
        return [self._loaded.paint(prepared, seed + index, lambda _: None) for index in range(outputs)]

    def _order(self, side: int) -> ImageSpec:
        return ImageSpec(
            prompt=self._task.prompt,
            negative_prompt=self._task.negative_prompt,
            steps=self._task.steps,
            guidance_scale=self._task.guidance_scale,
            width=side,
            height=side,
            references=(),
            reference_mode='reference',
            preserve_branding=False,
            settings={},
        )

    def _use(self, adapter: Adapter | None) -> None:
        self._loaded.use(None if adapter is None else self._loaded.read(adapter))

    def _unload(self) -> None:
        self._engine = None

    @property
    def _loaded(self) -> Engine:
        if self._engine is None:
            raise RuntimeError('It is not loaded.')
        return self._engine


def _is_blank(image: Image.Image) -> bool:
    return image.getcolors(1) is not None
