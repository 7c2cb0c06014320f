"""Products are cut out of their photos: which mask is believed, where the edge is, and no part is lost."""

from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter

from model_server.pipelines.products.cutout import cut_out
from model_server.pipelines.products.edge import blend_edge
from model_server.pipelines.products.regions import label_regions
from model_server.pipelines.products.segmentation import Segment

from .product_photos import Photo, can, kitchen, noise, plain

SIZE = (400, 600)
ROOM = (4000, 4000)
KITCHEN = can(kitchen(SIZE))
SHADOWED = can(plain(SIZE), shadow=True)


def answering(cover: Image.Image, side: int = 256) -> Segment:
    """A network that knows the truth, in its own size, as soft as networks are."""
    mask = cover.resize((side, side), Image.Resampling.BILINEAR).filter(ImageFilter.GaussianBlur(1))
    return lambda _: mask


def never(_photo: Image.Image) -> Image.Image:
    """A network that must not be asked."""
    raise AssertionError('The network was asked.')


def is_whole(cut: Image.Image, photo: Image.Image) -> bool:
    """Whether all of the photo is the product."""
    return cut.getchannel('A').getextrema() == (255, 255) and cut.convert('RGB').tobytes() == photo.tobytes()


def is_can(cut: Image.Image) -> bool:
    """Whether the can is cut out of a photo of SIZE: 200 x 300, with round corners."""
    opacity = np.asarray(cut.getchannel('A'))
    size = abs(cut.width - 200) <= 8 and abs(cut.height - 300) <= 12
    return size and opacity[0, 0] < 20 and (opacity == 255).mean() > 0.9


def test_what_stands_out_from_an_even_backdrop_is_cut_out_whole_and_the_network_is_not_asked() -> None:
    photo = can(plain(SIZE)).image
    ImageDraw.Draw(photo).ellipse((170, 200, 230, 260), fill=(240, 240, 238))
    cut = cut_out(photo, ROOM, never)
    assert is_can(cut)
    # The circle in the middle is part of the can, though it has the backdrop's color.
    assert cut.getchannel('A').getpixel((100, 80)) == 255


@pytest.mark.parametrize('image', [noise((300, 200)), Image.new('RGB', (300, 200), 'white'), KITCHEN.image])
def test_without_a_sure_backdrop_the_whole_image_is_the_product(image: Image.Image) -> None:
    assert is_whole(cut_out(image, ROOM), image)


def test_what_is_transparent_is_believed_and_nobody_is_asked() -> None:
    image = Image.new('RGBA', (100, 100))
    image.paste((10, 20, 30, 128), (20, 30, 60, 50))
    cut = cut_out(image, ROOM, never)
    assert cut.size == (40, 20)
    assert cut.getpixel((5, 5)) == (10, 20, 30, 128)


@pytest.mark.parametrize(
    'photo',
    [KITCHEN, SHADOWED, can(plain(SIZE), color=(222, 222, 222))],
    ids=['no even backdrop', 'a shadow', 'white before white'],
)
def test_where_the_outline_fades_or_no_backdrop_is_even_the_network_says_where_the_product_is(
    photo: Photo,
) -> None:
    asked: list[Image.Image] = []

    def segment(image: Image.Image) -> Image.Image:
        asked.append(image)
        return answering(photo.cover)(image)

    assert is_can(cut_out(photo.image, ROOM, segment))
    assert [image.size for image in asked] == [SIZE]


def upper_half(cover: Image.Image) -> Image.Image:
    """Sure of the upper half of the product, and unsure of all below."""
    mask = cover.copy()
    mask.paste(cover.crop((0, 300, 400, 600)).point([value * 100 // 255 for value in range(256)]), (0, 300))
    return mask


@pytest.mark.parametrize(
    'wrong',
    [
        lambda cover: cover.point([0] * 256),
        lambda cover: cover.point([255] * 256),
        lambda cover: cover.point([150] * 256),
        upper_half,
    ],
    ids=['nothing', 'everything', 'unsure of all', 'half the product unsure'],
)
def test_a_mask_that_would_lose_the_product_is_not_believed(
    wrong: Callable[[Image.Image], Image.Image],
) -> None:
    assert is_whole(cut_out(KITCHEN.image, ROOM, lambda _: wrong(KITCHEN.cover)), KITCHEN.image)


@pytest.mark.parametrize('top', [250, None], ids=['a third', 'everything'])
def test_a_sure_mask_that_contradicts_an_even_backdrop_is_not_believed(top: int | None) -> None:
    mask = SHADOWED.cover.copy() if top else Image.new('L', SIZE, 255)
    mask.paste(0, (0, top or 600, *SIZE))
    cut = cut_out(SHADOWED.image, ROOM, lambda _: mask)
    # As without a network, which takes the shadow along.
    assert cut.tobytes() == cut_out(SHADOWED.image, ROOM).tobytes()
    assert 290 < cut.height < 600


def test_specks_far_from_the_product_are_no_part_of_it() -> None:
    specked, dusty = KITCHEN.cover.copy(), plain(SIZE)
    ImageDraw.Draw(specked).ellipse((5, 5, 15, 15), fill=255)
    ImageDraw.Draw(dusty).ellipse((20, 20, 26, 26), fill=(90, 90, 90))
    assert is_can(cut_out(KITCHEN.image, ROOM, answering(specked)))
    assert is_can(cut_out(can(dusty).image, ROOM))


def test_a_photo_of_many_pixels_is_cut_in_the_size_of_its_place() -> None:
    photo = can(kitchen((2400, 3600)))
    cut = cut_out(photo.image, (500, 500), answering(photo.cover, 1024))
    assert cut.height <= 500
    assert abs(cut.width / cut.height - 2 / 3) < 0.02
    assert (np.asarray(cut.getchannel('A')) == 255).mean() > 0.9


SMALL = (300, 400)


def grown(cover: Image.Image, pixels: int) -> Image.Image:
    """The mask of somebody who takes too much of the photo, or, below 0, too little."""
    side = 2 * abs(pixels) + 1
    return cover.filter(ImageFilter.MaxFilter(side) if pixels > 0 else ImageFilter.MinFilter(side))


@pytest.mark.parametrize('wrong', [-2, 0, 2])
@pytest.mark.parametrize('photo', [can(plain(SMALL)), can(kitchen(SMALL))], ids=['plain', 'kitchen'])
def test_a_mask_that_is_off_by_pixels_is_put_right_by_the_colors(photo: Photo, wrong: int) -> None:
    cut = blend_edge(photo.image, grown(photo.cover, wrong), 2)
    off = np.abs(np.asarray(cut.getchannel('A'), int) - np.asarray(photo.cover, int))
    outline = int((np.asarray(photo.cover) % 255 > 0).sum())
    # The outline is off by half a pixel of opacity at most, and nothing else is.
    assert (off > 128).sum() < 0.1 * outline
    assert off.sum() / 255 < outline


@pytest.mark.parametrize('backdrop', [(250, 250, 250), (10, 10, 10), (60, 200, 90)], ids=str)
def test_no_rim_of_the_old_backdrop_is_left(backdrop: tuple[int, int, int]) -> None:
    photo = can(plain(SMALL, backdrop))
    cut = np.asarray(blend_edge(photo.image, grown(photo.cover, 1), 2), int)
    alpha = cut[..., 3]
    off = np.abs(cut[..., :3] - np.asarray(photo.colors, int)).max(axis=2)
    assert (off[alpha == 255] <= 3).all()
    # In the photo these pixels are up to half of the backdrop, which is 100 to 200 steps away.
    assert ((alpha > 0) & (alpha < 255)).sum() > 500
    assert (off[(alpha > 0) & (alpha < 255)] <= 30).all()


def test_inside_nothing_changes_and_outside_nothing_is_left() -> None:
    photo = can(kitchen(SMALL))
    cut = np.asarray(blend_edge(photo.image, photo.cover, 1))
    assert (cut[np.asarray(grown(photo.cover, -4)) == 255][:, 3] == 255).all()
    assert (cut[np.asarray(grown(photo.cover, 4)) == 0][:, 3] == 0).all()
    opaque = cut[..., 3] == 255
    assert (cut[opaque][:, :3] == np.asarray(photo.image)[opaque]).all()


def square() -> Image.Image:
    """The mask of a square in the middle."""
    mask = Image.new('L', (80, 80))
    mask.paste(255, (20, 20, 60, 60))
    return mask


def test_a_hard_edge_gets_a_pixel_of_transition_outside_in_the_products_color() -> None:
    hard = Image.new('RGB', (80, 80), (30, 90, 200))
    hard.paste((220, 200, 40), (20, 20, 60, 60))
    across = np.asarray(blend_edge(hard, square(), 1))[40, 15:25]
    assert (across[5:, 3] == 255).all()
    assert 30 < across[4, 3] < 200
    assert (across[:3, 3] == 0).all()
    assert np.abs(across[4, :3].astype(int) - (220, 200, 40)).max() < 12


def test_where_the_colors_are_alike_the_mask_counts() -> None:
    soft = square().filter(ImageFilter.GaussianBlur(2))
    even = Image.new('RGB', (80, 80), (120, 120, 120))
    alpha = np.asarray(blend_edge(even, soft, 3).getchannel('A'), int)
    # The edge is where the mask has it, and the blur of its enlargement is gone.
    assert ((alpha > 127) == (np.asarray(soft) > 127)).all()
    assert ((alpha[40, :40] > 20) & (alpha[40, :40] < 235)).sum() <= 3


def test_a_product_at_the_photos_border_is_opaque_to_the_border() -> None:
    photo, box = can(kitchen(SMALL)), (0, 200, 300, 250)
    alpha = np.asarray(blend_edge(photo.image.crop(box), photo.cover.crop(box), 1).getchannel('A'))
    assert (alpha[[0, -1], 90:210] == 255).all()


def flood(mask: np.ndarray) -> int:
    """How many regions there are, counted pixel by pixel."""
    left = {(int(row), int(column)) for row, column in zip(*np.nonzero(mask), strict=True)}
    count = 0
    while left:
        count += 1
        edge = [left.pop()]
        while edge:
            row, column = edge.pop()
            for near in [(row + down, column + across) for down in (-1, 0, 1) for across in (-1, 0, 1)]:
                if near in left:
                    left.remove(near)
                    edge.append(near)
    return count


@pytest.mark.parametrize('seed', range(8))
def test_pixels_that_touch_have_one_number_and_others_have_another(seed: int) -> None:
    mask = np.random.default_rng(seed).random((40, 50)) < 0.1 + 0.05 * seed
    labels = label_regions(mask)
    assert ((labels > 0) == mask).all()
    assert labels.max() == flood(mask)
    # Neighbors, at a side or a corner, never differ.
    for down, across in ((0, 1), (1, 0), (1, 1), (1, -1)):
        moved = np.roll(labels, (-down, -across), (0, 1))[: 40 - down, 1:-1]
        here = labels[: 40 - down, 1:-1]
        assert (here == moved)[(here > 0) & (moved > 0)].all()
