"""What the serving code asks of a model."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from PIL import Image

ReferenceMode = Literal['exact_product', 'reference']
#: Makes the picture of what was painted: RGB, of the size that was asked for.
MakePicture = Callable[[], Image.Image]

#: Characters of a model's version, as the contract has it.
LONGEST_VERSION = 200


@dataclass(frozen=True)
class Reference:
    """A reference image: RGBA where it has transparent parts, otherwise RGB; upright, sRGB, 8 bits."""

    image: Image.Image


@dataclass(frozen=True)
class ImageSpec:
    """What to paint. Engines use nothing else but the seed, so that both always give the same image."""

    prompt: str
    negative_prompt: str
    steps: int
    guidance_scale: float
    #: Pixels.
    width: int
    height: int
    references: tuple[Reference, ...]
    reference_mode: ReferenceMode
    preserve_branding: bool
    #: The identity's settings as the operator wrote them: JSON values, not validated.
    settings: Mapping[str, object]


@dataclass(frozen=True)
class Order:
    """What a request asks for, as far as it is known before its inputs are fetched."""

    outputs: int
    steps: int
    guidance_scale: float
    #: Pixels of each output.
    width: int
    height: int
    #: How many reference images there are.
    references: int
    reference_mode: ReferenceMode


@dataclass(frozen=True)
class Adapter:
    """An identity's weights. The file is complete and well-formed; the model checks whether it fits."""

    #: SHA-256 of the file, lower-case hex.
    digest: str
    #: A .safetensors file that stays where it is until the request has been painted.
    path: Path
    scale: float


@dataclass(frozen=True)
class LoadedAdapter:
    """An adapter that was read and fits the model."""

    adapter: Adapter
    #: What the engine made of the file.
    weights: Any


@dataclass(frozen=True)
class Prepared:
    """An image with all done that needs no turn on the GPU."""

    #: What the engine still needs to paint it; no reference image, since they take much memory.
    inputs: Any
    #: How many reference images have a part in it.
    references_used: int


class EngineLost(Exception):
    """
    The engine can't paint any more, whatever it is asked, as after an error that breaks the GPU's context.

    The queue ends, and `/ping` answers 503 from then on, so that the container is replaced.
    """


class Engine(ABC):
    """
    A model on a GPU.

    `warm`, `use` and `paint` are called on one thread, the GPU's. `read`, `prepare` and `warm_preparing` are
    called on another, once `warm` has ended and also while the GPU paints; they change nothing that `use` and
    `paint` need. On each thread there is one call at a time. The rest may be called on any thread.

    They raise `Failure` for what the customer should read, and `EngineLost` when all is over. Anything else
    that they raise fails the request with a general message. What warming raises ends the process.
    """

    #: 1 to LONGEST_VERSION characters; names everything that decides an image's bytes. `warm` may change it.
    model_version: str
    #: What attention between all pixels adds at one megapixel to the rest of an evaluation, which counts 1.
    #: The rest grows as the pixels do, and this with their square.
    attention_per_megapixel: float = 0.12

    @abstractmethod
    def warm(self) -> None:
        """Loads, compiles and paints once; afterwards requests are fast."""

    def warm_preparing(self) -> None:  # noqa: B027
        """Called before the first `prepare`, for libraries that keep something for each thread."""

    @abstractmethod
    def read(self, adapter: Adapter) -> LoadedAdapter:
        """Reads an adapter and checks it. Raises Failure('adapter_unavailable', …) if it can't be used."""

    @abstractmethod
    def prepare(self, spec: ImageSpec) -> Prepared:
        """Does once for all outputs what needs no turn: encodes prompt and references, cuts products out."""

    @abstractmethod
    def use(self, adapter: LoadedAdapter | None) -> None:
        """Paints with this adapter from now on."""

    @abstractmethod
    def paint(self, prepared: Prepared, seed: int, on_step: Callable[[int], None]) -> MakePicture:
        """
        Paints one image. What needs the GPU no more is left to what it returns, which is called once, on
        another thread, while the GPU does its next work.

        `on_step(done)` is called after each step, 1 … steps; what it raises must end the painting.
        """

    def memory_bytes(self) -> tuple[int, int] | None:
        """GPU memory in use, and its peak; None on a CPU."""
        return None

    def evaluations(self, order: Order) -> float:
        """How often the model is evaluated for one output: once in each step, and twice with guidance."""
        return order.steps * (2 if order.guidance_scale > 1 else 1)

    def pixels(self, order: Order) -> float:
        """On how many pixels an evaluation works: the picture's, and what the model reads beside it."""
        return order.width * order.height
