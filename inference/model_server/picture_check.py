"""
Refuses pictures by what they show, with a classifier of the operator's: an ONNX file on the CPU.

`check.json` beside it says which file it is, what the network's answers mean, and what is refused.
"""

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from .failure import Failure
from .onnx_session import open_session
from .pipelines.products.stage import on_white
from .settings import SettingsError

#: The categories that a picture is refused for, by the settings' thresholds and a request's own, which win.
CheckPicture = Callable[[Image.Image, Mapping[str, float]], tuple[str, ...]]

_NONE: Mapping[str, float] = MappingProxyType({})

# Callers read these names, and the service passes over what is no such name.
Category = Annotated[str, Field(pattern=r'^[a-z][a-z0-9-]{0,39}$')]


class Rules(BaseModel):
    """What `check.json` says."""

    model_config = ConfigDict(strict=True, extra='forbid', alias_generator=to_camel, allow_inf_nan=False)

    #: The network's file, in the same folder.
    model: Annotated[str, Field(pattern=r'^[A-Za-z0-9][\w.-]*\.onnx$')]
    #: Of that file, hex.
    sha256: Annotated[str, Field(pattern=r'^[0-9a-f]{64}$')]
    #: What each of the network's answers is the probability of, in their order.
    categories: Annotated[list[Category], Field(min_length=1)]
    #: The probability from which a picture is refused, of those categories that are not wanted.
    refuse_from: Annotated[dict[Category, Annotated[float, Field(gt=0, le=1)]], Field(min_length=1)]


def read_rules(folder: Path) -> Rules:
    """Raises SettingsError."""
    file = folder / 'check.json'
    try:
        rules = Rules.model_validate_json(file.read_bytes())
    except OSError:
        raise SettingsError(f'PICTURE_CHECK: {file} can not be read.') from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = '.'.join(str(part) for part in first['loc']) or 'the file'
        raise SettingsError(f'PICTURE_CHECK: {file} does not fit: {path}: {first["msg"]}.') from None
    unknown = sorted(rules.refuse_from.keys() - set(rules.categories))
    if unknown:
        raise SettingsError(
            f'PICTURE_CHECK: {file} refuses {", ".join(unknown)}, '
            f'and the categories are {", ".join(rules.categories)}.'
        )
    return rules


def load_picture_check(folder: Path) -> 'PictureCheck':
    """Raises SettingsError for whatever does not fit: a server that can't check must not start."""
    rules = read_rules(folder)
    file = folder / rules.model
    try:
        model = file.read_bytes()
    except OSError:
        raise SettingsError(f'PICTURE_CHECK: {file} can not be read.') from None
    found = hashlib.sha256(model).hexdigest()
    if found != rules.sha256:
        raise SettingsError(f'PICTURE_CHECK: the SHA-256 of {file} is {found}, not what check.json says.')
    try:
        check = PictureCheck(model, rules)
        check(Image.new('RGB', (8, 8), 'gray'))
    except Exception as error:
        raise SettingsError(f'PICTURE_CHECK: {file} can not be used: {error}') from None
    return check


class PictureCheck:
    """
    A network that takes RGB from 0 to 255, (1, 3, height, width), and answers probabilities, (1, categories).

    Pictures are stretched to its size, which the graph names.
    """

    def __init__(self, model: bytes, rules: Rules) -> None:
        """
        The bytes whose digest was compared, so that nothing else is loaded: no weights in other files either.

        Raises ValueError, and what the library raises.
        """
        self.rules = rules
        self._session: Any = open_session(model, threads=1)
        inputs = self._session.get_inputs()
        shape = inputs[0].shape
        if len(inputs) != 1 or len(shape) != 4 or not all(isinstance(side, int) for side in shape[2:]):
            raise ValueError('it does not take one image of a size that it names, (1, 3, height, width).')
        self._input = inputs[0].name
        self._size = (shape[3], shape[2])

    def __call__(self, picture: Image.Image, thresholds: Mapping[str, float] = _NONE) -> tuple[str, ...]:
        """Raises ValueError where the network gives no probabilities: no picture passes by that."""
        small = on_white(picture).resize(self._size, Image.Resampling.BILINEAR)
        batch = np.asarray(small, np.float32).transpose(2, 0, 1)[None]
        found = np.asarray(self._session.run(None, {self._input: batch})[0], np.float64)
        if found.shape != (1, len(self.rules.categories)) or not ((found >= 0) & (found <= 1)).all():
            raise ValueError('it gives no probabilities, one for each category.')
        scores = zip(self.rules.categories, found[0], strict=True)
        refuse_from = {**self.rules.refuse_from, **thresholds}
        return tuple(name for name, score in scores if score >= refuse_from.get(name, np.inf))


def refused_failure(what: str, categories: tuple[str, ...], reference: int | None = None) -> Failure:
    """`what` begins the sentence."""
    message = f'{what} was refused for {", ".join(categories)}.'
    return Failure('content_refused', message, reference, categories)
