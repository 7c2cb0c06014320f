"""Products are placed, kept to the last pixel, and stand on the ground by their shadow; lettering."""

import random

import numpy as np
import pytest
from PIL import Image, ImageDraw

from model_server.failure import Failure
from model_server.pipelines.engine import Reference
from model_server.pipelines.products.lettering import find_lettering
from model_server.pipelines.products.shadow import cast_shadow
from model_server.pipelines.products.stage import build_stage, on_white

from .product_photos import can, kitchen, noise


def with_alpha(image: Image.Image, seed: int) -> Image.Image:
    """RGBA, with all opacities, none and full among the most frequent."""
    values = np.random.default_rng(seed).choice([0, 255, 255, 40, 200], (image.height, image.width))
    opaque = image.copy()
    opaque.putalpha(Image.fromarray(values.astype(np.uint8)))
    return opaque


@pytest.mark.parametrize('seed', range(12))
def test_opaque_pixels_come_out_exactly_and_transparent_ones_not_at_all(seed: int) -> None:
    rng = random.Random(seed)
    references = [
        Reference(with_alpha(noise((rng.randint(8, 90), rng.randint(8, 200)), seed + i), seed + i))
        for i in range(rng.randint(1, 4))
    ]
    width, height = 64 * rng.randint(8, 16), 64 * rng.randint(8, 16)
    stage = build_stage(references, width, height, preserve_branding=rng.random() < 0.5)
    before = noise((width, height), seed + 100)
    finished, painted = np.asarray(stage.finish(before)), np.asarray(before)
    keep, dark = np.asarray(stage.keep), np.asarray(stage.shadow) > 0
    assert (finished[keep == 255] == np.asarray(stage.image)[keep == 255]).all()
    assert (finished[(keep == 0) & ~dark] == painted[(keep == 0) & ~dark]).all()
    # A shadow darkens what is painted, and never a product.
    assert (finished <= painted)[keep == 0].all()
    # All of each product is there: nothing was small enough to shrink, or too wide for its place.
    opaque = [np.asarray(reference.image.getchannel('A')) == 255 for reference in references]
    assert (keep == 255).sum() == sum(each.sum() for each in opaque)
    assert (np.asarray(stage.paint) == np.where(keep >= 128, 0, 255)).all()


def test_a_large_product_is_shrunk_into_its_place_and_more_room_is_given_to_branding() -> None:
    heights = []
    for preserve_branding in (False, True):
        stage = build_stage([Reference(noise((900, 3000)))], 512, 768, preserve_branding)
        left, top, right, bottom = stage.keep.getbbox() or (0, 0, 0, 0)
        assert left > 0
        assert bottom <= 768
        assert abs((right - left) / (bottom - top) - 0.3) < 0.01
        heights.append(bottom - top)
    assert heights[1] > heights[0]


def test_an_invisible_product_is_named_by_its_number() -> None:
    with pytest.raises(Failure, match='Reference image 2') as caught:
        build_stage([Reference(noise((50, 50))), Reference(Image.new('RGBA', (50, 50)))], 512, 512, False)
    assert (caught.value.reason, caught.value.reference) == ('reference_invalid', 1)


def test_transparent_parts_of_a_reference_are_white() -> None:
    image = Image.new('RGBA', (2, 1), (255, 0, 0, 0))
    image.putpixel((1, 0), (255, 0, 0, 255))
    assert on_white(image).tobytes() == bytes([255, 255, 255, 255, 0, 0])
    assert on_white(image.convert('L')).mode == 'RGB'


def test_the_network_finds_the_products_of_a_stage_and_nothing_of_their_backdrop_is_left() -> None:
    photos = [can(kitchen((300, 400))), can(kitchen((300, 400)))]
    truths = iter(photos)
    references = [Reference(photo.image) for photo in photos]
    stage = build_stage(references, 1024, 512, False, lambda _: next(truths).cover)
    # Two cans, 150 pixels wide each, not two photos of 300.
    assert abs((np.asarray(stage.keep).max(axis=0) > 127).sum() - 300) <= 4
    seen = np.asarray(stage.keep) > 0
    pixels = np.asarray(stage.image).astype(int)
    assert (pixels[seen][:, 0] > pixels[seen][:, 1] + 60).all()
    # The painting starts from gray there, not from the photo's backdrop.
    assert (pixels[~seen] == 200).all()


def test_a_photo_that_is_a_product_as_a_whole_gets_no_shadow() -> None:
    stage = build_stage([Reference(noise((100, 100)))], 512, 512, False)
    assert stage.shadow is not None
    assert stage.shadow.getbbox() is None


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


BODY = (60, 90, 120, 255)


def bottle(size: tuple[int, int] = (100, 200)) -> Image.Image:
    """RGBA: a body with a thin neck."""
    image = Image.new('RGBA', size)
    image.paste(BODY, (0, size[1] // 2, *size))
    image.paste(BODY, (size[0] * 2 // 5, 0, size[0] * 3 // 5, size[1] // 2))
    return image


def shadow_of(image: Image.Image) -> np.ndarray:
    """With the product's corner at (150, 100)."""
    return np.asarray(cast_shadow(image.getchannel('A'), (150, 100), (400, 400)), int)


def test_a_shadow_lies_below_the_product_where_that_stands_and_fades_away_from_it() -> None:
    shadow = shadow_of(bottle())
    below = shadow[300:, 200]
    assert below[1] > 80
    assert (np.diff(below) <= 0).all()
    assert below[-1] == 0
    # Beside the foot, and neither beside the neck nor at the picture's border.
    assert shadow[298, 147] > 20
    assert shadow[:250].max() == 0
    assert shadow[:, :100].max() == 0
    # Soft: no step that the eye takes for an edge.
    assert np.abs(np.diff(shadow[302:], axis=0)).max() < 40


def test_a_part_above_the_ground_casts_no_shadow_and_the_rising_lower_edges_of_a_box_do() -> None:
    body, arm = Image.new('RGBA', (200, 200)), Image.new('RGBA', (200, 200))
    for image in (body, arm):
        image.paste(BODY, (0, 0, 100, 200))
    # Beside the body, and ending 100 pixels above the ground.
    arm.paste(BODY, (100, 40, 200, 100))
    assert (shadow_of(arm) == shadow_of(body)).all()
    box = Image.new('RGBA', (200, 200))
    ImageDraw.Draw(box).polygon([(0, 0), (199, 0), (199, 170), (100, 199), (0, 170)], fill=BODY)
    # Under the left edge, 20 pixels above the lowest corner.
    assert shadow_of(box)[282, 180] > 40


def test_a_product_that_brings_its_own_shadow_gets_no_other() -> None:
    own = Image.new('RGBA', (100, 230))
    own.paste(bottle(), (0, 0))
    own.paste((0, 0, 0, 70), (0, 200, 100, 230))
    assert shadow_of(own).max() == 0


def test_a_shadow_darkens_the_ground_and_does_not_fall_on_the_next_product() -> None:
    stage = build_stage([Reference(bottle((120, 100)))] * 4, 512, 512, True)
    painted = noise((512, 512), 4)
    finished, before = np.asarray(stage.finish(painted), int), np.asarray(painted, int)
    product = np.asarray(stage.keep) == 255
    assert product.any(axis=0).sum() == 4 * 115
    assert (finished[product] == np.asarray(stage.image)[product]).all()
    left, _, right, bottom = stage.keep.getbbox() or (0, 0, 0, 0)
    foot = (slice(bottom + 1, bottom + 4), slice(left + 20, right - 20))
    assert finished[foot].mean() < 0.75 * before[foot].mean()
