"""The shadow under a product: where it stands, on the ground only, and soft."""

import numpy as np
from PIL import Image, ImageDraw

from model_server.pipelines.engine import Reference
from model_server.pipelines.products.shadow import cast_shadow
from model_server.pipelines.products.stage import build_stage

from .product_photos import noise


def bottle(size: tuple[int, int] = (100, 200)) -> Image.Image:
    """RGBA: a body with a thin neck."""
    image = Image.new('RGBA', size)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, size[1] // 2, size[0] - 1, size[1] - 1), fill=(60, 90, 120, 255))
    draw.rectangle((size[0] * 2 // 5, 0, size[0] * 3 // 5, size[1] // 2), fill=(60, 90, 120, 255))
    return image


def shadow_of(image: Image.Image, size: tuple[int, int] = (400, 400)) -> np.ndarray:
    """The product with its corner at (150, 100)."""
    return np.asarray(cast_shadow(image.getchannel('A'), (150, 100), size), int)


def test_it_lies_below_the_product_where_that_stands_and_fades_away_from_it() -> None:
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


def test_a_part_above_the_ground_casts_none() -> None:
    body, arm = Image.new('RGBA', (200, 200)), Image.new('RGBA', (200, 200))
    for image in (body, arm):
        image.paste((60, 90, 120, 255), (0, 0, 100, 200))
    # Beside the body, and ending 100 pixels above the ground.
    arm.paste((60, 90, 120, 255), (100, 40, 200, 100))
    assert (shadow_of(arm) == shadow_of(body)).all()


def test_the_rising_lower_edges_of_a_box_touch_the_ground() -> None:
    box = Image.new('RGBA', (200, 200))
    ImageDraw.Draw(box).polygon([(0, 0), (199, 0), (199, 170), (100, 199), (0, 170)], fill=(9, 9, 9, 255))
    shadow = np.asarray(cast_shadow(box.getchannel('A'), (100, 100), (400, 400)), int)
    # Under the left edge, 20 pixels above the lowest corner.
    assert shadow[282, 130] > 40


def test_a_product_that_brings_its_own_shadow_gets_no_other() -> None:
    own = Image.new('RGBA', (100, 230))
    own.paste(bottle(), (0, 0))
    own.paste((0, 0, 0, 70), (0, 200, 100, 230))
    assert shadow_of(own).max() == 0


def test_it_darkens_what_is_painted_and_never_the_product() -> None:
    stage = build_stage([Reference(bottle())], 512, 512, False)
    painted = noise((512, 512), 4)
    finished, before = np.asarray(stage.finish(painted), int), np.asarray(painted, int)
    product = np.asarray(stage.keep) == 255
    assert (finished[product] == np.asarray(stage.image)[product]).all()
    assert (finished[~product] <= before[~product]).all()
    box = stage.keep.getbbox()
    assert box is not None
    foot = (slice(box[3] + 1, box[3] + 4), slice(box[0] + 20, box[2] - 20))
    assert finished[foot].mean() < 0.75 * before[foot].mean()


def test_the_shadow_of_one_product_does_not_fall_on_the_next() -> None:
    stage = build_stage([Reference(bottle((120, 100)))] * 4, 512, 512, True)
    product = np.asarray(stage.keep) == 255
    finished = np.asarray(stage.finish(noise((512, 512))))
    assert product.any(axis=0).sum() == 4 * 115
    assert (finished[product] == np.asarray(stage.image)[product]).all()
