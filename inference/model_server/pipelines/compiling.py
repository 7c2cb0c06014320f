"""What is compiled before the first request. In a request nothing is."""

import os
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from ..observing import Observer
from .engine import ImageSpec, Reference

#: The time for compiling, where no setting says otherwise.
USUAL_SECONDS = 120.0

# What would have to be compiled runs as it is.
_EAGER = 'eager_on_recompile'


def specs_to_warm(
    side: int, guidance_scales: Sequence[float], shapes: bool, references: int
) -> list[ImageSpec]:
    """
    A picture in each mode.

    `shapes`: of each shape too. `references`: so many images may be looked at.
    """
    product = Reference(Image.new('RGBA', (side // 4, side // 4), (90, 120, 150, 255)))
    text = ImageSpec('a still life', '', 2, 5, side, side, (), 'reference', False, {})
    modes = [
        text,
        replace(text, references=(product,)),
        replace(text, references=(product,), reference_mode='exact_product'),
    ]
    if shapes:
        modes += [replace(text, width=side * 3 // 2), replace(text, height=side * 3 // 2)]
    if references > 1:
        modes.append(replace(text, references=(product, product)))
    return [replace(mode, guidance_scale=scale) for scale in guidance_scales for mode in modes]


class Compiler:
    """
    Has parts of a model compiled when they are first run, until its time is over or one can't be compiled.

    What is left runs as it is. The parts come in the same order in each process, so that their number tells
    which ones they are.
    """

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds
        self._compile: Callable[..., Any] = torch._dynamo.lookup_backend('inductor')
        #: Pieces of code that were compiled, and whether these are all.
        self.pieces = 0
        self.complete = True

    def add(self, model: torch.nn.Module, names: Sequence[str]) -> None:
        """
        Compiles the model's modules of these classes, once for all that are alike.

        Their sizes stay open (`dynamic`), so that another size of picture is no other code.
        """
        for part in model.modules():
            if type(part).__name__ in names:
                part.compile(backend=self, fullgraph=True, dynamic=True)

    def __call__(self, graph: Any, inputs: Any) -> Any:
        """A backend of PyTorch's compiler."""
        if time.monotonic() < self._end:
            try:
                code = self._compile(graph, inputs)
                self.pieces += 1
                return code
            except torch._dynamo.exc.RestartAnalysis:
                # No failure: it is called again, with another graph.
                raise
            except Exception as error:
                Observer().fault('a part of the model could not be compiled', error)
        self.complete = False
        # Nor will any later one be.
        torch.compiler.set_stance(_EAGER)
        return graph.forward


@contextmanager
def compiling(seconds: float) -> Generator[Compiler, None, None]:
    """
    Code is compiled in here only, for so long.

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
    # Otherwise a float of a model's, as what its norms add, is made a tensor and read again in each
    # evaluation: with PyTorch 2.11 twice as many operations as all others.
    dynamo.specialize_float = True
    # Otherwise code that was compiled for a square picture is for square ones only.
    shapes: Any = torch.fx.experimental._config
    shapes.use_duck_shape = False
    torch.compiler.set_stance('default')
    try:
        yield Compiler(seconds)
    finally:
        torch.compiler.set_stance(_EAGER)


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
        """Writes what is not in it yet. A folder that can't be written to is left as it is."""
        file = self._file
        if file is None or (
            file.exists() and not torch._dynamo.utils.counters['inductor']['fxgraph_cache_miss']
        ):
            return
        artifacts = torch.compiler.save_cache_artifacts()
        if artifacts is None:
            return
        with suppress(OSError):
            part = file.with_suffix(f'.{os.getpid()}')
            part.write_bytes(artifacts[0])
            part.replace(file)


def compile_parts(
    model: Any,
    beside: Sequence[str],
    cache: CompileCache,
    seconds: float,
    specs: Sequence[ImageSpec],
    paint: Callable[[ImageSpec], None],
) -> int:
    """
    Compiles a model's repeated blocks, and the modules of the classes `beside`, while it paints.

    What gains most comes first. Answers how many pieces of code were compiled.
    """
    # Code that was kept is ready in time, also where a start from zero leaves little.
    if cache.load():
        seconds = max(seconds, USUAL_SECONDS)
    began = time.monotonic()
    with compiling(seconds) as compiler:
        if beside:
            # Convolutions are quicker so, once what is between them is compiled.
            model.to(memory_format=torch.channels_last)
        compiler.add(model, model._repeated_blocks)
        paint(specs[0])
        compiler.add(model, beside)
        for spec in specs:
            paint(spec)
    cache.save()
    took = round(time.monotonic() - began, 1)
    Observer().log('compiled', pieces=compiler.pieces, seconds=took, complete=compiler.complete)
    return compiler.pieces
