"""
TrustMark's variant Q (MIT, https://github.com/adobe/trustmark, https://arxiv.org/abs/2311.18297) in ONNX.

Two networks, on the CPU: one makes a picture of 256 x 256 pixels that carries 100 bits, whose difference is
laid over the whole picture; the other reads them. They have no key: whoever has them can read a mark, and
write the same one. The bits are a name that follows from the deployment's key and does not give it away.
"""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from ..onnx_session import open_session
from ..settings import SettingsError
from . import Finding, SoftBinding

#: The published files' SHA-256; variant Q is the one that the binding's name stands for.
FILES = {
    'encoder_Q.onnx': '19b3d1b25836130ffd78775a8f61539f993375d1823ef0e59ba5b8dffb4f892d',
    'decoder_Q.onnx': 'ee3268f057c9dabef680e169302f5973d0589feea86189ed229a896cc3aa88df',
}
# The networks' own size, and how strong the published code lays the difference over a picture, and at most.
_SIDE, _STRENGTH, _GREATEST = 256, 0.95, 0.2
# Of its schemas BCH_5: 61 bits of data, 35 that correct five wrong ones, and the schema in the last four.
_SCHEMA, _BITS, _DATA_BITS = 1, 100, 61
# BCH_5's generator polynomial, of degree 35, in GF(2)[x].
_GENERATOR = 0xCA76024D7
# Of 100; 10^-17 of all numbers are as near to one as that.
_LEAST_RIGHT = 90

Numbers = NDArray[np.float32]


class TrustMark:
    """A deployment's name, written and read by the two networks."""

    def __init__(self, encoder: Any, decoder: Any, key: bytes) -> None:
        self._encoder, self._decoder = encoder, decoder
        name = hashlib.shake_256(b'trustmark 1\0' + key).digest(8)
        data = f'{int.from_bytes(name):064b}'[:_DATA_BITS]
        self._bits = encode_bits(data)
        self.binding = SoftBinding('com.adobe.trustmark.Q', f'{_SCHEMA}*{data}')

    def apply(self, image: Image.Image) -> Image.Image:
        cover = _small(image)
        marked = self._encoder.run(['image'], {'onnx::Concat_0': cover, 'onnx::Gemm_1': self._bits[None]})[0]
        change = ((marked - cover) * _STRENGTH).clip(-_GREATEST, _GREATEST)[0] * 127.5
        pixels = np.asarray(image, np.float32).copy()
        left, top, right, bottom = _square(image.size)
        for channel in range(3):
            large = Image.fromarray(change[channel]).resize(
                (right - left, bottom - top), Image.Resampling.BILINEAR
            )
            pixels[top:bottom, left:right, channel] += np.asarray(large)
        return Image.fromarray(np.rint(pixels).clip(0, 255).astype(np.uint8))

    def find(self, image: Image.Image) -> Finding | None:
        read = self._decoder.run(['output'], {'image': _small(image)})[0][0] > 0
        right = int((read == (self._bits > 0)).sum())
        return Finding(right >= _LEAST_RIGHT, right, right, _BITS)


def encode_bits(data: str) -> Numbers:
    """TrustMark's 100 bits for 61: with the remainder after the division by its code's generator."""
    # Its code pads them to whole bytes.
    rest = int(data, 2) << 3 + 35
    while rest.bit_length() > 35:
        rest ^= _GENERATOR << rest.bit_length() - 36
    return np.array([int(bit) for bit in f'{data}{rest:035b}{_SCHEMA:04b}'], np.float32)


def load_trustmark(folder: Path, key: bytes) -> TrustMark:
    """Raises SettingsError where a file is not the published one."""
    contents = []
    for name, digest in FILES.items():
        try:
            content = (folder / name).read_bytes()
        except OSError:
            raise SettingsError(f'WATERMARK_DIR must hold {name} where the server can read it.') from None
        if hashlib.sha256(content).hexdigest() != digest:
            raise SettingsError(f'{name} in WATERMARK_DIR must be the file with the SHA-256 {digest}.')
        contents.append(content)
    encoder, decoder = (open_session(content, threads=4) for content in contents)
    return TrustMark(encoder, decoder, key)


def _square(size: tuple[int, int]) -> tuple[int, int, int, int]:
    """What of a picture is marked: all, or the middle where one side is more than twice the other."""
    width, height = size
    if max(size) <= 2 * min(size):
        return 0, 0, width, height
    side = min(size)
    left, top = (width - side) // 2, (height - side) // 2
    return left, top, left + side, top + side


def _small(image: Image.Image) -> Numbers:
    """As the networks take it: (1, 3, 256, 256), -1 … 1."""
    small = image.resize((_SIDE, _SIDE), Image.Resampling.BILINEAR, box=_square(image.size))
    return (np.asarray(small, np.float32) / 127.5 - 1).transpose(2, 0, 1)[None]
