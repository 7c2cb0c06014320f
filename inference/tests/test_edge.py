"""The edge of a cut-out: soft, in the right place, without the old backdrop, and only there."""

import numpy as np
import pytest
from PIL import Image, ImageFilter

from model_server.pipelines.products.edge import blend_edge

from .product_photos import Photo, can, kitchen, plain

SIZE = (300, 400)


def grown(cover: Image.Image, pixels: int) -> Image.Image:
    """The mask of somebody who takes too much of the photo, or, below 0, too little."""
    side = 2 * abs(pixels) + 1
    return cover.filter(ImageFilter.MaxFilter(side) if pixels > 0 else ImageFilter.MinFilter(side))


@pytest.mark.parametrize('wrong', [-2, 0, 2])
@pytest.mark.parametrize('photo', [can(plain(SIZE)), can(kitchen(SIZE))], ids=['plain', 'kitchen'])
def test_a_mask_that_is_off_by_pixels_is_put_right_by_the_colors(photo: Photo, wrong: int) -> None:
    cut = blend_edge(photo.image, grown(photo.cover, wrong) if wrong else photo.cover, 2)
    off = np.abs(np.asarray(cut.getchannel('A'), int) - np.asarray(photo.cover, int))
    outline = int((np.asarray(photo.cover) % 255 > 0).sum())
    # The outline is off by half a pixel of opacity at most, and nothing else is.
    assert (off > 128).sum() < 0.1 * outline
    assert off.sum() / 255 < outline


@pytest.mark.parametrize('backdrop', [(250, 250, 250), (10, 10, 10), (60, 200, 90)], ids=str)
def test_no_rim_of_the_old_backdrop_is_left(backdrop: tuple[int, int, int]) -> None:
    photo = can(plain(SIZE, backdrop))
    cut = np.asarray(blend_edge(photo.image, grown(photo.cover, 1), 2), int)
    alpha = cut[..., 3]
    off = np.abs(cut[..., :3] - np.asarray(photo.colors, int)).max(axis=2)
    assert (off[alpha == 255] <= 3).all()
    # In the photo these pixels are up to half of the backdrop, which is 100 to 200 steps away.
    assert ((alpha > 0) & (alpha < 255)).sum() > 500
    assert (off[(alpha > 0) & (alpha < 255)] <= 30).all()


def test_inside_nothing_changes_and_outside_nothing_is_left() -> None:
    photo = can(kitchen(SIZE))
    cut = np.asarray(blend_edge(photo.image, photo.cover, 1))
    inner = np.asarray(photo.cover.filter(ImageFilter.MinFilter(9))) == 255
    outer = np.asarray(photo.cover.filter(ImageFilter.MaxFilter(9))) == 0
    assert (cut[inner][:, 3] == 255).all()
    assert (cut[outer][:, 3] == 0).all()
    opaque = cut[..., 3] == 255
    assert (cut[opaque][:, :3] == np.asarray(photo.image)[opaque]).all()


def test_a_hard_edge_gets_a_pixel_of_transition_outside_in_the_products_color() -> None:
    hard = Image.new('RGB', (80, 80), (30, 90, 200))
    hard.paste((220, 200, 40), (20, 20, 60, 60))
    mask = Image.new('L', (80, 80))
    mask.paste(255, (20, 20, 60, 60))
    cut = np.asarray(blend_edge(hard, mask, 1))
    across = cut[40, 15:25]
    assert (across[5:, 3] == 255).all()
    assert 30 < across[4, 3] < 200
    assert (across[:3, 3] == 0).all()
    assert np.abs(across[4, :3].astype(int) - (220, 200, 40)).max() < 12


def test_where_the_colors_are_alike_the_mask_counts() -> None:
    even = Image.new('RGB', (80, 80), (120, 120, 120))
    mask = Image.new('L', (80, 80))
    mask.paste(255, (20, 20, 60, 60))
    soft = mask.filter(ImageFilter.GaussianBlur(2))
    alpha = np.asarray(blend_edge(even, soft, 3).getchannel('A'), int)
    # The edge is where the mask has it, and the blur of its enlargement is gone.
    assert ((alpha > 127) == (np.asarray(soft) > 127)).all()
    assert ((alpha[40, :40] > 20) & (alpha[40, :40] < 235)).sum() <= 3


def test_a_product_at_the_photos_border_is_opaque_to_the_border() -> None:
    photo = can(kitchen(SIZE))
    half = photo.image.crop((0, 200, 300, 250))
    alpha = np.asarray(blend_edge(half, photo.cover.crop((0, 200, 300, 250)), 1).getchannel('A'))
    assert (alpha[0, 90:210] == 255).all()
    assert (alpha[-1, 90:210] == 255).all()
