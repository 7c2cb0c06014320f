"""What the pipelines have in common: an engine around one of diffusers' models."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import torch
from PIL import Image, ImageOps
from safetensors import safe_open

from .engine import Adapter, Order, Reference
from .lettering import find_lettering
from .lora import Lora, LoraShelf, LoraSlot, StateDict, read_lora, unfit
from .model_version import join_version, name_model
from .runtime import Runtime, StepEnd, gpu_errors, prepare_libraries
from .stage import Stage, build_stage, on_white

# Changes when the same order would give other bytes with the same model and libraries.
_RECIPE = 'recipe-1'
# How far a picture may go from the reference that it starts from: 0 stays, 1 forgets it.
_REFERENCE_STRENGTH = 0.75
# Pixels.
_LARGEST_UNTILED = 1536 * 1536


def as_it_is(painted: Image.Image) -> Image.Image:
    """Nothing follows the painting."""
    return painted


@dataclass(frozen=True)
class Recipe:
    """One call of a pipeline, and what follows it."""

    pipe: Any
    inputs: dict[str, Any]
    finish: Callable[[Image.Image], Image.Image] = as_it_is


class DiffusionEngine(ABC):
    """A model in a diffusers folder; keeps the protocol in `engine.py`."""

    #: The pipelines of diffusers that share one model: from text, from an image, and within a mask.
    text_pipeline: ClassVar[Any]
    image_pipeline: ClassVar[Any]
    inpaint_pipeline: ClassVar[Any]
    #: The denoising model among a pipeline's components, also the prefix of an adapter's keys.
    denoiser: ClassVar[str]
    #: A regular expression over the names of the linear layers that an adapter may change.
    adapter_layers: ClassVar[str]
    #: What else the pipelines are constructed with.
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, model_dir: Path) -> None:
        """Raises SettingsError. Loads nothing."""
        prepare_libraries()
        self._model_dir = model_dir
        self._runtime = Runtime.from_environment()
        name = name_model(model_dir, self.text_pipeline.__name__)
        self.model_version = join_version(name, _RECIPE, self._runtime.describe())
        self._adapter: Adapter | None = None
        self._shelf = LoraShelf(self._runtime.adapter_memory_bytes)

    def warm(self) -> None:
        """Loads the model, makes place for adapters, and paints once in the ways that it will be asked to."""
        runtime = self._runtime
        with gpu_errors():
            self._text = self.text_pipeline.from_pretrained(
                self._model_dir,
                dtype=runtime.dtype,
                use_safetensors=True,
                local_files_only=True,
                **self.options,
            ).to(runtime.device)
            self._prepare(self._text)
            parts = self._text.components
            self._image = self.image_pipeline(**parts, **self.options)
            self._inpaint = self.inpaint_pipeline(**parts, **self.options)
            for pipe in (self._text, self._image, self._inpaint):
                pipe.set_progress_bar_config(disable=True)
            model = parts[self.denoiser]
            self._slot = LoraSlot(model, self.adapter_layers, runtime.lora_rank)
            if runtime.compiled:
                model.compile_repeated_blocks(fullgraph=True, dynamic=True)
            self._paint_once()

    def use(self, adapter: Adapter | None) -> None:
        """Raises Failure('adapter_unavailable', …); then nobody's adapter is in use."""
        if adapter == self._adapter:
            return
        with gpu_errors():
            self._adapter = None
            self._slot.empty()
            if adapter is not None:
                lora = self._shelf.get(adapter.digest, partial(self._read_lora, adapter.path))
                self._slot.fill(lora, adapter.scale)
                self._adapter = adapter

    def paint(self, order: Order, on_step: Callable[[int], None]) -> Image.Image:
        """RGB, width x height. The noise is drawn on the CPU, so that it is the same on every card."""
        with gpu_errors():
            self._reset_peak()
            recipe = self._plan(order)
            self._fit_memory(order)
            result = recipe.pipe(
                **recipe.inputs,
                num_inference_steps=order.steps,
                generator=torch.Generator('cpu').manual_seed(order.seed),
                callback_on_step_end=StepEnd(order.steps, on_step, self._runtime.device),
            )
            painted: Image.Image = result.images[0]
            return recipe.finish(painted.convert('RGB'))

    def references_used(self, order: Order) -> int:
        """All exact products; of other references as many as the model can look at."""
        if order.reference_mode == 'exact_product':
            return len(order.references)
        return min(len(order.references), self._most_references())

    def memory_bytes(self) -> tuple[int, int] | None:
        """In use, and the peak since the last painting began."""
        if self._runtime.device.type != 'cuda':
            return None
        return torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()

    @abstractmethod
    def _describe(self, order: Order) -> dict[str, Any]:
        """The inputs that every one of the pipelines takes for this order: its texts and its guidance."""

    def _prepare(self, pipe: Any) -> None:  # noqa: B027
        """Called once with the loaded pipeline, before the others share its parts."""

    def _most_references(self) -> int:
        """How many reference images have a part in one picture, where they are not exact products."""
        return 1

    def _plan(self, order: Order) -> Recipe:
        inputs = self._describe(order)
        size = {'width': order.width, 'height': order.height}
        if not order.references:
            return Recipe(self._text, {**inputs, **size})
        if order.reference_mode == 'reference':
            return self._plan_reference(order, inputs)
        stage = build_stage(order.references, order.width, order.height, order.preserve_branding)
        return self._plan_stage(stage, {**inputs, **size}, 1.0)

    def _plan_reference(self, order: Order, inputs: dict[str, Any]) -> Recipe:
        """Starts from the first reference; lettering in it stays where branding is to be preserved."""
        size = (order.width, order.height)
        image = ImageOps.fit(on_white(order.references[0].image), size, Image.Resampling.LANCZOS)
        if order.preserve_branding:
            stage = Stage(image, find_lettering(image))
            if stage.keep.getbbox() is not None:
                sized = {**inputs, 'width': order.width, 'height': order.height}
                return self._plan_stage(stage, sized, _REFERENCE_STRENGTH)
        return Recipe(self._image, {**inputs, 'image': image, 'strength': _REFERENCE_STRENGTH})

    def _plan_stage(self, stage: Stage, inputs: dict[str, Any], strength: float) -> Recipe:
        masked = {'image': stage.image, 'mask_image': stage.paint, 'strength': strength}
        return Recipe(self._inpaint, {**inputs, **masked}, stage.finish)

    def _read_lora(self, path: Path) -> Lora:
        with safe_open(path, framework='pt') as file:
            # Diffusers would leave these out and paint with the rest.
            if any('dora_scale' in key for key in file.keys()):  # noqa: SIM118
                raise unfit('is a DoRA, which this server does not take')
        try:
            parts = self._read_state(path)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RuntimeError):
            raise unfit('is no LoRA that this model understands') from None
        lora = read_lora(*parts, prefix=self.denoiser, dtype=self._runtime.dtype)
        self._slot.check(lora)
        return lora

    @abstractmethod
    def _read_state(
        self, path: Path
    ) -> tuple[StateDict, Mapping[str, float] | None, Mapping[str, Any] | None]:
        """An adapter's file in diffusers' names: weights, alphas, and what the file says of itself."""

    def _fit_memory(self, order: Order) -> None:
        """Decodes large pictures in tiles: in one piece they take more memory than the painting."""
        vae = self._text.vae
        if order.width * order.height > _LARGEST_UNTILED:
            vae.enable_tiling()
        else:
            vae.disable_tiling()

    def _reset_peak(self) -> None:
        if self._runtime.device.type == 'cuda':
            torch.cuda.reset_peak_memory_stats()

    def _paint_once(self) -> None:
        """With an adapter's place in use and without, from a text and around a product."""
        side = 1024 if self._runtime.device.type == 'cuda' else 512
        product = Reference(Image.new('RGBA', (side // 4, side // 4), (90, 120, 150, 255)))
        order = Order(
            prompt='a still life',
            negative_prompt='',
            seed=0,
            steps=2,
            guidance_scale=5,
            width=side,
            height=side,
            references=(),
            reference_mode='exact_product',
            preserve_branding=False,
            settings={},
        )
        # Without guidance the batch is smaller, which is compiled by itself.
        orders = [order, replace(order, guidance_scale=1)] if self._runtime.compiled else [order]
        self.paint(replace(order, references=(product,)), lambda _: None)
        for each in orders:
            self.paint(each, lambda _: None)
        self._slot.fill(Lora({}), 1)
        for each in orders:
            self.paint(each, lambda _: None)
        self._slot.empty()
