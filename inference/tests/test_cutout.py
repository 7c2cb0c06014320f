"""Products are cut out of their photos: which mask is believed, and that none loses a part of a product."""

from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter

from model_server.pipelines.products.cutout import cut_out
from model_server.pipelines.products.segmentation import Segment

from .product_photos import Photo, can, kitchen, noise, plain

SIZE = (400, 600)
ROOM = (4000, 4000)


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


def test_a_product_before_an_even_backdrop_is_cut_out_and_keeps_what_looks_like_it_inside() -> None:
    photo = can(plain(SIZE)).image
    ImageDraw.Draw(photo).ellipse((170, 200, 230, 260), fill=(240, 240, 238))
    cut = cut_out(photo, ROOM)
    assert is_can(cut)
    # The circle in the middle is part of the can.
    assert cut.getchannel('A').getpixel((100, 80)) == 255


@pytest.mark.parametrize('image', [noise((300, 200)), Image.new('RGB', (300, 200), 'white')])
def test_without_a_sure_backdrop_the_whole_image_is_the_product(image: Image.Image) -> None:
    assert is_whole(cut_out(image, ROOM), image)


def test_what_is_transparent_is_believed_and_nobody_is_asked() -> None:
    image = Image.new('RGBA', (100, 100))
    image.paste((10, 20, 30, 128), (20, 30, 60, 50))
    cut = cut_out(image, ROOM, never)
    assert cut.size == (40, 20)
    assert cut.getpixel((5, 5)) == (10, 20, 30, 128)


def test_where_the_product_stands_out_from_an_even_backdrop_the_network_is_not_asked() -> None:
    assert is_can(cut_out(can(plain(SIZE)).image, ROOM, never))


def test_without_an_even_backdrop_the_network_finds_the_product() -> None:
    photo = can(kitchen(SIZE))
    assert is_whole(cut_out(photo.image, ROOM), photo.image)
    assert is_can(cut_out(photo.image, ROOM, answering(photo.cover)))


@pytest.mark.parametrize(
    'photo',
    [can(plain(SIZE), shadow=True), can(plain(SIZE), color=(222, 222, 222))],
    ids=['a shadow', 'white before white'],
)
def test_where_the_outline_fades_into_an_even_backdrop_the_network_says_where_it_is(photo: Photo) -> None:
    asked: list[Image.Image] = []

    def segment(image: Image.Image) -> Image.Image:
        asked.append(image)
        return answering(photo.cover)(image)

    assert is_can(cut_out(photo.image, ROOM, segment))
    assert [image.size for image in asked] == [SIZE]


def upper_half(cover: Image.Image) -> Image.Image:
    """Sure of the upper half of the product, and unsure of all below."""
    mask = cover.copy()
    mask.paste(cover.point([value * 100 // 255 for value in range(256)]), (0, 300), None)
    half = cover.crop((0, 300, 400, 600)).point([value * 100 // 255 for value in range(256)])
    mask.paste(half, (0, 300))
    return mask


@pytest.mark.parametrize(
    'wrong',
    [
        lambda cover: cover.point([0] * 256),
        lambda cover: cover.point([255] * 256),
        lambda cover: cover.point([120] * 256),
        lambda cover: cover.point([150] * 256),
        upper_half,
    ],
    ids=['nothing', 'everything', 'unsure of all', 'a little surer', 'half the product unsure'],
)
def test_a_mask_that_would_lose_the_product_is_not_believed(
    wrong: Callable[[Image.Image], Image.Image],
) -> None:
    photo = can(kitchen(SIZE))
    assert is_whole(cut_out(photo.image, ROOM, lambda _: wrong(photo.cover)), photo.image)


def test_a_sure_mask_that_lacks_most_of_what_stands_out_from_the_backdrop_is_not_believed() -> None:
    photo = can(plain(SIZE), shadow=True)
    third = photo.cover.copy()
    third.paste(0, (0, 250, 400, 600))
    cut = cut_out(photo.image, ROOM, lambda _: third)
    # As without a network, which takes the shadow along.
    assert cut.tobytes() == cut_out(photo.image, ROOM).tobytes()
    assert cut.height > 290


def test_a_mask_of_everything_tells_less_than_an_even_backdrop() -> None:
    photo = can(plain(SIZE), shadow=True)
    cut = cut_out(photo.image, ROOM, lambda _: Image.new('L', (64, 64), 255))
    assert cut.tobytes() == cut_out(photo.image, ROOM).tobytes()
    assert cut.size != photo.image.size


def test_specks_far_from_the_product_are_no_part_of_it() -> None:
    photo = can(kitchen(SIZE))
    specked = photo.cover.copy()
    ImageDraw.Draw(specked).ellipse((5, 5, 15, 15), fill=255)
    assert is_can(cut_out(photo.image, ROOM, answering(specked)))
    assert is_can(cut_out(can(dusty()).image, ROOM))


def dusty() -> Image.Image:
    """An even backdrop with a speck of dust."""
    backdrop = plain(SIZE)
    ImageDraw.Draw(backdrop).ellipse((20, 20, 26, 26), fill=(90, 90, 90))
    return backdrop


def test_opaque_pixels_are_the_photos_own() -> None:
    photo = can(kitchen(SIZE))
    cut = np.asarray(cut_out(photo.image, ROOM, answering(photo.cover)))
    # The can's middle is the photo's, so the cut lies evenly around it.
    pixels = np.asarray(photo.image)
    places = [
        (y, x)
        for y in range(140, 160)
        for x in range(90, 110)
        if (
            pixels[y : y + cut.shape[0], x : x + cut.shape[1]][cut[..., 3] == 255]
            == cut[..., :3][cut[..., 3] == 255]
        ).all()
    ]
    assert len(places) == 1


def test_a_photo_of_many_pixels_is_cut_in_the_size_of_its_place() -> None:
    photo = can(kitchen((2400, 3600)))
    cut = cut_out(photo.image, (500, 500), answering(photo.cover, 1024))
    assert cut.height <= 500
    assert abs(cut.width / cut.height - 2 / 3) < 0.02
    assert (np.asarray(cut.getchannel('A')) == 255).mean() > 0.9
