"""Whether a model is distilled: trained to arrive after a few steps, and to need no guidance."""

import json
from pathlib import Path
from typing import Any

from ..settings import SettingsError

#: The member of `model_index.json` that says it, true or false. Diffusers writes it for FLUX.2 [klein].
SIGN = 'is_distilled'
# Nothing else in a folder distinguishes Z-Image-Turbo from Z-Image, whose scheduler has a shift of 6:
# https://huggingface.co/Tongyi-MAI/Z-Image-Turbo/blob/main/scheduler/scheduler_config.json
# It is only a hint: somebody's own model may have either.
_CLASS = 'ZImagePipeline'
_TURBO_SHIFT = 3.0


def is_distilled(model_dir: Path) -> bool:
    """
    What the folder's `model_index.json` says; where it says nothing the model is not distilled.

    Raises SettingsError for a Z-Image that says nothing and may well be Z-Image-Turbo.
    """
    path = model_dir / 'model_index.json'
    index = _read(path)
    sign = index.get(SIGN)
    if isinstance(sign, bool):
        return sign
    if sign is not None:
        raise SettingsError(f'{SIGN} in {path} must be true or false.')
    if index.get('_class_name') == _CLASS and _has_turbos_shift(model_dir):
        raise SettingsError(
            f"The model has Z-Image-Turbo's scheduler, and {path} does not say whether it is distilled. Put "
            f'"{SIGN}": true there if it is Z-Image-Turbo or made of it, and false if it wants guidance and'
            ' many steps.'
        )
    return False


def _has_turbos_shift(model_dir: Path) -> bool:
    path = model_dir / 'scheduler' / 'scheduler_config.json'
    return path.is_file() and _read(path).get('shift') == _TURBO_SHIFT


def _read(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text('utf-8'))
    except (OSError, ValueError):
        value = None
    if not isinstance(value, dict):
        raise SettingsError(f"{path} is not a model's, or can't be read.")
    return value
