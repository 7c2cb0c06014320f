"""What is painted once before the first request."""

from collections.abc import Iterator
from itertools import product as product_of

from PIL import Image

from .compiling import CompileMode, shapes_to_warm
from .engine import ImageSpec, Reference, ReferenceMode


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
