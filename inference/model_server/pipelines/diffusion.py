"""What all pipelines share: an engine around a model of diffusers."""

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import torch
from PIL import Image, ImageOps

from ..observing import Observer
from ..settings import SettingsError
from .adapters.file import FileContent
from .adapters.merging import Merger
from .adapters.names import find_layers
from .adapters.reader import AdapterReader
from .compiling import CompileCache, compile_parts, specs_to_warm
from .distilled import is_distilled
from .encoding import LatentEncoder, normalize
from .engine import Adapter, Engine, ImageSpec, LoadedAdapter, MakePicture, Order, Prepared
from .graphs import Graphs, capture_on_card
from .memory import choose_tiling, reset_peak, used_bytes
from .model_version import join_version, name_model
from .products.lettering import find_lettering
from .products.segmentation import describe_segmentation, load_segmenter
from .products.stage import Stage, build_stage, on_white
from .products.text_detector import load_text_detector
from .recipes import PreparedInputs, Recipe
from .runtime import (
    Runtime,
    StepEnd,
    fetch_pixels,
    forget_frames,
    give_memory_back,
    gpu_errors,
    lacks_memory,
    prepare_libraries,
    set_environment,
)

# Change it when the same spec gives other bytes with the same model and libraries.
_RECIPE = 'recipe-4'
# Strength of image-to-image: 0 keeps the reference, 1 ignores it.
_REFERENCE_STRENGTH = 0.75

_Asked = TypeVar('_Asked', ImageSpec, Order)
_T = TypeVar('_T')


class DiffusionEngine(Engine):
    """A model in a diffusers folder."""

    #: The pipelines of diffusers that share one model: from text, from an image, and within a mask.
    text_pipeline: ClassVar[Any]
    image_pipeline: ClassVar[Any]
    inpaint_pipeline: ClassVar[Any]
    #: The denoising model among a pipeline's components, also the prefix of an adapter's keys.
    denoiser: ClassVar[str]
    #: A regular expression over the names of the linear and convolution layers that an adapter may change.
    adapter_layers: ClassVar[str]
    #: Steps that a distilled model takes, as its authors fix them; None where there is no such model.
    distilled_steps: ClassVar[int | None] = None
    #: The classes of the denoiser's modules that are compiled beside its repeated blocks.
    compiled_beside: ClassVar[tuple[str, ...]] = ()
    #: Whether a card waits for Python to start the denoiser's kernels, so that CUDA graphs make it quicker.
    graphed: ClassVar[bool] = False
    #: Whether its VAE encodes in float32 where its configuration says so.
    upcasts_encoder: ClassVar[bool] = False
    #: Whether the pipeline that starts from an image takes the picture's size.
    image_takes_size: ClassVar[bool] = True
    #: What else the pipelines are constructed with.
    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, model_dir: Path) -> None:
        """Raises SettingsError. Loads nothing."""
        self._model_dir = model_dir
        set_environment()
        self._runtime = Runtime.from_environment()
        prepare_libraries(self._runtime.attention)
        if self._distilled and self.distilled_steps is None:
            raise SettingsError(
                'The model says that it is distilled, and no such model of its kind is known here.'
            )
        name = name_model(model_dir, self.text_pipeline.__name__)
        marks = [f'steps-{self.distilled_steps}'] if self._distilled else []
        self._version = [name, *marks, _RECIPE, *self._runtime.describe(), *describe_segmentation(model_dir)]
        self.model_version = join_version(*self._version)
        self._adapter: Adapter | None = None
        self._graphs: Graphs | None = None

    @gpu_errors
    def warm(self) -> None:
        """Loads the model, prepares it for adapters, compiles it, and paints once in every mode."""
        runtime = self._runtime
        self._segment = load_segmenter(self._model_dir)
        self._find_text = load_text_detector(self._model_dir)
        self._text = self.text_pipeline.from_pretrained(
            self._model_dir,
            dtype=runtime.dtype,
            use_safetensors=True,
            local_files_only=True,
            **self.options,
        ).to(runtime.device)
        self._prepare(self._text)
        parts = self._text.components
        for part in parts.values():
            if isinstance(part, torch.nn.Module):
                # Otherwise what is computed outside of a pipeline keeps all its steps for a gradient.
                part.requires_grad_(False)
        self._image = self.image_pipeline(**parts, **self.options)
        self._inpaint = self.inpaint_pipeline(**parts, **self.options)
        for pipe in (self._text, self._image, self._inpaint):
            pipe.set_progress_bar_config(disable=True)
        vae = self._text.vae
        for pipe in (self._image, self._inpaint):
            # By the number of channels it distinguishes latents from an image.
            pipe.image_processor.register_to_config(vae_latent_channels=vae.config.latent_channels)
        self._encoder = LatentEncoder(vae, self.upcasts_encoder and vae.config.get('force_upcast', False))
        model = parts[self.denoiser]
        layers = find_layers(model, self.adapter_layers)
        limit_bytes = runtime.adapter_memory_bytes
        self._reader = AdapterReader(layers, self.denoiser, self._other_names, self._read_state, limit_bytes)
        self._merger = Merger(layers)
        self._warm_up(model)

    def _warm_up(self, model: Any) -> None:
        runtime = self._runtime
        specs = self._specs_to_warm()
        if runtime.compile:
            version = ' '.join([self.text_pipeline.__name__, *runtime.describe()])
            cache = CompileCache(runtime.compile_cache_dir, version)
            pieces = compile_parts(
                model, self.compiled_beside, cache, runtime.compile_seconds, specs, self._try
            )
            # Other code makes other bytes, and how much of it was compiled says which.
            self.model_version = join_version(*self._version, f'compiled-{pieces}')
        else:
            for spec in specs:
                self._try(spec)
        if runtime.graphs and self.graphed:
            # Not before, or code that was not compiled yet would be in a graph.
            self._graphs = Graphs(model, capture_on_card())
            self._try(specs[0])

    @gpu_errors
    def warm_preparing(self) -> None:
        """Prepares once in every mode: cuDNN plans its convolutions for each thread."""
        for spec in self._specs_to_warm():
            self.prepare(spec)

    def read(self, adapter: Adapter) -> LoadedAdapter:
        """Raises Failure('adapter_unavailable', …)."""
        return LoadedAdapter(adapter, self._reader.read(adapter))

    @gpu_errors
    @torch.no_grad()
    def prepare(self, spec: ImageSpec) -> Prepared:
        """Encodes the texts and the images that the painting starts from."""
        mode = spec.reference_mode if spec.references else None
        taken = self._as_taken(spec)
        inputs = PreparedInputs(self._plan(taken), spec.steps, taken.steps, spec.width, spec.height, mode)
        return Prepared(inputs, self._count_used(spec))

    @gpu_errors
    def use(self, adapter: LoadedAdapter | None) -> None:
        """Where it fails, no adapter is in use. Raises Failure('adapter_unavailable', …)."""
        wanted = None if adapter is None else adapter.adapter
        if wanted is not None and wanted == self._adapter:
            return
        self._adapter = None
        if adapter is None:
            self._merger.restore()
        else:
            weights, scale = adapter.weights, adapter.adapter.scale
            self._with_room(lambda: self._merger.merge(weights, scale))
            self._adapter = wanted

    @gpu_errors
    def paint(self, prepared: Prepared, seed: int, on_step: Callable[[int], None]) -> MakePicture:
        """The noise is drawn on the CPU, so that it is the same on every card."""
        return self._with_room(lambda: self._paint(prepared.inputs, seed, on_step))

    def _paint(self, inputs: PreparedInputs, seed: int, on_step: Callable[[int], None]) -> MakePicture:
        recipe = inputs.recipe
        reset_peak(self._runtime.device)
        self._set_up(inputs)
        result = recipe.pipe(
            **recipe.inputs,
            num_inference_steps=inputs.steps,
            generator=torch.Generator('cpu').manual_seed(seed),
            callback_on_step_end=StepEnd(inputs.steps_asked, on_step, self._runtime.device),
            output_type='pt',
        )
        pixels = fetch_pixels(result.images[0])
        return lambda: recipe.finish(Image.fromarray(pixels))

    def _with_room(self, work: Callable[[], _T]) -> _T:
        """Where memory runs out, once more without the memory of the graphs."""
        try:
            return work()
        except RuntimeError as error:
            if not lacks_memory(error) or self._graphs is None or not self._graphs.drop():
                raise
            forget_frames(error)
        give_memory_back()
        Observer().log('memory ran out beside CUDA graphs', 'warning')
        # With a graph it would run out again.
        self._graphs.scarce = True
        try:
            return work()
        finally:
            self._graphs.scarce = False

    def evaluations(self, order: Order) -> float:
        """
        Once in each step that is really taken, twice with guidance.

        A picture that starts from a reference leaves steps out.
        """
        starts_from_one = order.references > 0 and order.reference_mode == 'reference'
        share = _REFERENCE_STRENGTH if starts_from_one and self._starts_from_reference() else 1
        return share * super().evaluations(self._as_taken(order))

    def memory_bytes(self) -> tuple[int, int] | None:
        """GPU memory in use, and its peak since the last painting began."""
        return used_bytes(self._runtime.device)

    @abstractmethod
    def _describe(self, spec: ImageSpec) -> dict[str, Any]:
        """The inputs that every pipeline takes: encoded texts, and guidance."""

    def _prepare(self, pipe: Any) -> None:
        """Called once with the loaded pipeline, before the others share its parts."""

    @cached_property
    def _distilled(self) -> bool:
        """Raises SettingsError."""
        return is_distilled(self._model_dir)

    def _as_taken(self, asked: _Asked) -> _Asked:
        """
        What a distilled model makes of a request: its own steps, no guidance, so no negative prompt either.

        It was trained to arrive after so many steps: more make no better picture of it.
        """
        if not self._distilled or self.distilled_steps is None:
            return asked
        return replace(asked, steps=min(asked.steps, self.distilled_steps), guidance_scale=1.0)

    def _set_up(self, inputs: PreparedInputs) -> None:
        """Sets what belongs to one painting alone."""
        choose_tiling(self._text.vae, inputs.width, inputs.height)

    def _count_used(self, spec: ImageSpec) -> int:
        """All exact products; of other references as many as the model can use."""
        if spec.reference_mode == 'exact_product':
            return len(spec.references)
        return min(len(spec.references), self._most_references())

    def _most_references(self) -> int:
        """How many reference images influence one picture, where they are not exact products."""
        return 1

    def _starts_from_reference(self) -> bool:
        """Whether a reference that is no exact product is what the picture starts from."""
        return True

    def _plan(self, spec: ImageSpec) -> Recipe:
        inputs = self._describe(spec)
        size = {'width': spec.width, 'height': spec.height}
        if not spec.references:
            return Recipe(self._text, {**inputs, **size})
        if spec.reference_mode == 'reference':
            return self._plan_reference(spec, inputs)
        stage = build_stage(spec.references, spec.width, spec.height, spec.preserve_branding, self._segment)
        return self._plan_stage(stage, {**inputs, **size}, 1.0)

    def _plan_reference(self, spec: ImageSpec, inputs: dict[str, Any]) -> Recipe:
        """Starts from the first reference; keeps its lettering where branding is to be preserved."""
        size = (spec.width, spec.height)
        image = ImageOps.fit(on_white(spec.references[0].image), size, Image.Resampling.LANCZOS)
        if spec.preserve_branding:
            stage = Stage(image, find_lettering(image, self._find_text))
            if stage.keep.getbbox() is not None:
                sized = {**inputs, 'width': spec.width, 'height': spec.height}
                return self._plan_stage(stage, sized, _REFERENCE_STRENGTH)
        start = {'image': self._encode_image(image), 'strength': _REFERENCE_STRENGTH}
        if self.image_takes_size:
            start |= {'width': spec.width, 'height': spec.height}
        return Recipe(self._image, {**inputs, **start})

    def _plan_stage(self, stage: Stage, inputs: dict[str, Any], strength: float) -> Recipe:
        latents = self._encode_image(stage.image)
        masked = {'image': latents, 'mask_image': stage.paint, 'strength': strength}
        return Recipe(self._inpaint, {**inputs, **masked}, stage.finish)

    def _encode_image(self, image: Image.Image) -> torch.Tensor:
        """Latents as the pipelines take them for an image, which they would encode for each output."""
        latents = self._encoder(self._inpaint.image_processor.preprocess(image))
        return normalize(latents, self._text.vae.config)

    def _other_names(self, layer: str) -> Iterable[str]:
        """What files may call a layer beside the model's own name for it."""
        return ()

    def _read_state(self, path: Path) -> FileContent | None:
        """
        A file's content with the model's own names for its layers, where diffusers knows more names than
        `_other_names`; else None.
        """
        return None

    def _read_by_diffusers(self, path: Path) -> FileContent:
        """As its pipeline reads a file. It works alphas into the weights."""
        state, metadata = self._text.lora_state_dict(
            str(path.parent),
            weight_name=path.name,
            use_safetensors=True,
            local_files_only=True,
            return_lora_metadata=True,
        )
        return state, metadata or {}

    def _specs_to_warm(self) -> list[ImageSpec]:
        compiled = self._runtime.compile
        side = 1024 if self._runtime.device.type == 'cuda' else 512
        # What is compiled is other code for a smaller batch, as without guidance, and where convolutions are
        # compiled, or one image is looked at, it may be for another shape or number.
        varied = compiled and bool(self.compiled_beside)
        scales = (5.0, 1.0) if compiled and not self._distilled else (5.0,)
        return specs_to_warm(side, scales, varied, self._most_references() if varied else 1)

    def _try(self, spec: ImageSpec) -> None:
        self.paint(self.prepare(spec), 0, lambda _: None)
