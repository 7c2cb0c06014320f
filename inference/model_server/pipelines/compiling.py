"""What is painted, and compiled, before the first request. In a request nothing is compiled."""

import os
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from itertools import product as product_of
from pathlib import Path
from typing import Any, Literal

import torch
from PIL import Image

from ..settings import SettingsError
from .engine import ImageSpec, Reference, ReferenceMode

#: What is compiled: nothing; each kind of the model's repeated blocks once; or the model as a whole, with the
#: decoder of its images. A whole one is faster on a card and takes many minutes to compile.
CompileMode = Literal['off', 'regional', 'whole']

_SETTINGS: dict[str, CompileMode] = {
    '': 'off', '0': 'off', 'off': 'off', '1': 'regional', 'regional': 'regional', 'whole': 'whole',
}  # fmt: skip


def read_mode(env: Mapping[str, str]) -> CompileMode:
    """What COMPILE says. Raises SettingsError."""
    mode = _SETTINGS.get(env.get('COMPILE', ''))
    if mode is None:
        raise SettingsError('COMPILE must be 0, regional or whole.')
    return mode


def compile_parts(pipe: Any, denoiser: str, mode: CompileMode) -> None:
    """
    Has the parts of a pipeline compiled when they are first run.

    Their sizes stay open (`dynamic`), so that another size of picture is no other code. Convolutions are
    quicker with the channels last (https://docs.pytorch.org/tutorials/intermediate/memory_format_tutorial.html);
    the blocks of a transformer have none.
    """
    model = pipe.components[denoiser]
    if mode == 'regional':
        model.compile_repeated_blocks(fullgraph=True, dynamic=True)
    if mode == 'whole':
        vae = pipe.vae
        for part in (model, vae):
            part.to(memory_format=torch.channels_last)
        # Not the encoder: it works beside the painting, on another thread.
        for part in (model, vae.decoder):
            part.compile(fullgraph=True, dynamic=True)


def shapes_to_warm(mode: CompileMode, side: int) -> list[tuple[int, int]]:
    """
    Width and height of the pictures that are painted to compile all code.

    PyTorch makes other code of a whole model where two sizes are equal or one is larger: square, wide, high.
    """
    if mode == 'whole':
        return [(side, side), (side * 3 // 2, side), (side, side * 3 // 2)]
    return [(side, side)]


def specs_to_warm(mode: CompileMode, side: int) -> Iterator[ImageSpec]:
    """A picture in each mode; where code is compiled, with each kind of size and guidance too."""
    product = Reference(Image.new('RGBA', (side // 4, side // 4), (90, 120, 150, 255)))
    modes: tuple[tuple[tuple[Reference, ...], ReferenceMode], ...] = (
        ((), 'reference'),
        ((product,), 'reference'),
        ((product,), 'exact_product'),
    )
    # Without guidance the batch is smaller, so it is other code.
    scales = (5, 1) if mode != 'off' else (5,)
    for (width, height), scale, (references, reference_mode) in product_of(
        shapes_to_warm(mode, side), scales, modes
    ):
        yield ImageSpec(
            prompt='a still life',
            negative_prompt='',
            steps=2,
            guidance_scale=scale,
            width=width,
            height=height,
            references=references,
            reference_mode=reference_mode,
            preserve_branding=False,
            settings={},
        )


@contextmanager
def compiling() -> Generator[None, None, None]:
    """
    Code is compiled in here only.

    Afterwards what would have to be compiled runs as it is, which is slower, but a request never waits for
    the compiler. Nothing is chosen by timing it, since two instances could choose differently, and paint
    other bytes.
    """
    # Options of PyTorch that its types do not know: https://docs.pytorch.org/docs/stable/torch.compiler_config.html
    # Set here, because each thread has its own, and a server compiles on another one than it starts on.
    inductor: Any = torch._inductor.config
    inductor.deterministic = True
    # Blocks of one kind share compiled code; variants are with and without guidance, a mask, and so on.
    dynamo: Any = torch._dynamo.config
    dynamo.recompile_limit = 64
    torch.compiler.set_stance('default')
    try:
        yield
    finally:
        torch.compiler.set_stance('eager_on_recompile')


@dataclass(frozen=True)
class CompileCache:
    """
    What was compiled, in a file, so that the next instance with the same card starts quickly.

    Loading one runs the code in it, so its folder belongs to the image or to the operator, never to a model.
    """

    #: None: nothing is kept.
    folder: Path | None
    #: All that the code depends on.
    version: str

    @property
    def _file(self) -> Path | None:
        digest = sha256(self.version.encode()).hexdigest()[:16]
        return None if self.folder is None else self.folder / f'{digest}.compiled'

    def load(self) -> bool:
        """Whether there was one that could be read."""
        file = self._file
        if file is None or not file.is_file():
            return False
        return torch.compiler.load_cache_artifacts(file.read_bytes()) is not None

    def save(self) -> None:
        """Writes it where there is none yet. A folder that can't be written to is left as it is."""
        file = self._file
        if file is None or file.exists():
            return
        artifacts = torch.compiler.save_cache_artifacts()
        if artifacts is None:
            return
        with suppress(OSError):
            part = file.with_suffix(f'.{os.getpid()}')
            part.write_bytes(artifacts[0])
            part.replace(file)
