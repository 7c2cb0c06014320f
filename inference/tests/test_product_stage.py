"""Products are cut out, placed, and kept to the last pixel."""

import random

import numpy as np
import pytest
from PIL import Image, ImageDraw

from model_server.failure import Failure
from model_server.pipelines.cutout import cut_out
from model_server.pipelines.engine import Reference
from model_server.pipelines.lettering import find_lettering
from model_server.pipelines.stage import Stage, build_stage, on_white


def noise(size: tuple[int, int], seed: int = 0) -> Image.Image:
    """RGB, no pixel like the next."""
    pixels = np.random.default_rng(seed).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def with_alpha(image: Image.Image, seed: int) -> Image.Image:
    """RGBA, with all opacities, none and full among the most frequent."""
    values = np.random.default_rng(seed).choice([0, 255, 255, 40, 200], (image.height, image.width))
    opaque = image.copy()
    opaque.putalpha(Image.fromarray(values.astype(np.uint8)))
    return opaque


def photo(backdrop: tuple[int, int, int] = (240, 240, 238)) -> Image.Image:
    """A red can with a white stripe, before a backdrop with a little noise."""
    image = Image.new('RGB', (400, 600), backdrop)
    speck = random.Random(1)
    for _ in range(4000):
        at = (speck.randrange(400), speck.randrange(600))
        image.putpixel(at, tuple(channel - speck.randrange(8) for channel in backdrop))
    draw = ImageDraw.Draw(image)
    draw.rounded_rectangle((100, 150, 299, 499), 30, fill=(200, 30, 40))
    draw.rectangle((100, 300, 299, 340), fill=backdrop)
    draw.ellipse((170, 200, 230, 260), fill=backdrop)
    return image


def test_a_product_before_an_even_backdrop_is_cut_out_and_keeps_what_looks_like_it_inside() -> None:
    cut = cut_out(photo())
    assert cut.mode == 'RGBA'
    assert abs(cut.width - 200) <= 6
    assert abs(cut.height - 350) <= 6
    opacity = np.asarray(cut.getchannel('A'))
    # The corners are round, and the circle in the middle is part of the can.
    assert opacity[0, 0] == 0
    assert opacity[80, 100] == 255
    assert (opacity == 255).mean() > 0.8


@pytest.mark.parametrize(
    'image', [noise((300, 200)), Image.new('RGB', (300, 200), 'white')], ids=['busy', 'blank']
)
def test_without_a_sure_backdrop_the_whole_image_is_the_product(image: Image.Image) -> None:
    cut = cut_out(image)
    assert cut.size == image.size
    assert cut.getchannel('A').getextrema() == (255, 255)
    assert cut.convert('RGB').tobytes() == image.tobytes()


def test_what_is_transparent_is_believed() -> None:
    image = Image.new('RGBA', (100, 100))
    image.paste((10, 20, 30, 128), (20, 30, 60, 50))
    cut = cut_out(image)
    assert cut.size == (40, 20)
    assert cut.getpixel((5, 5)) == (10, 20, 30, 128)


@pytest.mark.parametrize('seed', range(12))
def test_opaque_pixels_come_out_exactly_and_transparent_ones_not_at_all(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 4)
    references = [
        Reference(with_alpha(noise((rng.randint(8, 90), rng.randint(8, 200)), seed + i), seed + i))
        for i in range(count)
    ]
    width, height = 64 * rng.randint(8, 16), 64 * rng.randint(8, 16)
    stage = build_stage(references, width, height, preserve_branding=rng.random() < 0.5)
    painted = noise((width, height), seed + 100)
    finished = np.asarray(stage.finish(painted))
    keep = np.asarray(stage.keep)
    assert (finished[keep == 255] == np.asarray(stage.image)[keep == 255]).all()
    assert (finished[keep == 0] == np.asarray(painted)[keep == 0]).all()
    # All of each product is there: nothing was small enough to shrink, or too wide for its place.
    assert int((keep == 255).sum()) == sum(
        int((np.asarray(reference.image.getchannel('A')) == 255).sum()) for reference in references
    )
    assert set(np.unique(np.asarray(stage.paint))) <= {0, 255}
    assert ((np.asarray(stage.paint) == 0) == (keep >= 128)).all()


def test_a_large_product_is_shrunk_into_its_place_and_more_room_is_given_to_branding() -> None:
    heights = []
    for preserve_branding in (False, True):
        stage = build_stage([Reference(noise((900, 3000)))], 512, 768, preserve_branding)
        box = stage.keep.getbbox()
        assert box is not None
        assert box[0] > 0
        assert box[3] <= 768
        assert abs((box[2] - box[0]) / (box[3] - box[1]) - 0.3) < 0.01
        heights.append(box[3] - box[1])
    assert heights[1] > heights[0]


def test_products_do_not_cover_each_other() -> None:
    references = [Reference(noise((700, 700), seed)) for seed in range(4)]
    stage = build_stage(references, 1024, 512, preserve_branding=True)
    columns = np.asarray(stage.keep).max(axis=0) > 0
    assert columns.sum() == 4 * (int(1024 * 0.9) // 4)


def test_an_invisible_product_is_named_by_its_number() -> None:
    with pytest.raises(Failure, match='Reference image 2') as caught:
        build_stage([Reference(noise((50, 50))), Reference(Image.new('RGBA', (50, 50)))], 512, 512, False)
    assert caught.value.reason == 'reference_unreadable'


@pytest.mark.parametrize('size', [10, 20, 36])
def test_lettering_is_found_in_small_and_large_and_nothing_else_is(size: int) -> None:
    label = Image.new('RGB', (512, 512), (230, 225, 215))
    draw = ImageDraw.Draw(label)
    draw.rectangle((60, 60, 450, 450), fill=(30, 80, 60))
    at = (90, 180)
    for row in range(2):
        for column in range(6):
            left, top = at[0] + column * size, at[1] + row * size * 2
            draw.rectangle((left, top, left + size // 6, top + size), fill='white')
            for arm in range(3):
                middle = top + arm * size * 5 // 12
                draw.rectangle((left, middle, left + size * 2 // 3, middle + size // 6), fill='white')
    found = np.asarray(find_lettering(label)) > 127
    assert found[at[1] : at[1] + size, at[0] : at[0] + size * 5].mean() > 0.7
    assert not found[:60].any()
    assert not found[440:].any()


def test_smooth_pictures_have_no_lettering() -> None:
    smooth = noise((16, 16)).resize((768, 512), Image.Resampling.BICUBIC)
    assert find_lettering(smooth).getbbox() is None


def test_transparent_parts_of_a_reference_are_white() -> None:
    image = Image.new('RGBA', (2, 1), (255, 0, 0, 0))
    image.putpixel((1, 0), (255, 0, 0, 255))
    assert [on_white(image).getpixel((x, 0)) for x in range(2)] == [(255, 255, 255), (255, 0, 0)]
    assert on_white(image.convert('L')).mode == 'RGB'


def test_a_stage_without_anything_to_keep_is_what_was_painted() -> None:
    stage = Stage(noise((64, 64)), Image.new('L', (64, 64)))
    painted = noise((64, 64), 5)
    assert stage.finish(painted).tobytes() == painted.tobytes()
