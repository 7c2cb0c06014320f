"""A model with random weights, and its adapters."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import cast

import torch

from model_server.pipelines.distilled import SIGN
from model_server.pipelines.engine import Adapter
from random_models import Kind, build, build_ip_adapter, build_lora

from .plans import TURBO, WITH_IP_ADAPTER, Plan

_ADAPTERS = 3
_RANK = 16


def build_model(model: str, folder: Path, plan: Plan) -> None:
    """Writes the model and its adapters. Where it is cut off, there is no such folder."""
    part = folder.with_suffix('.part')
    shutil.rmtree(part, ignore_errors=True)
    kind = cast('Kind', model.removesuffix(WITH_IP_ADAPTER).removesuffix(TURBO))
    build(kind, part, plan.size)
    if model.endswith(WITH_IP_ADAPTER):
        build_ip_adapter(part)
    if model.endswith(TURBO):
        _say_distilled(part)
    for index in range(_ADAPTERS):
        file = _adapter_file(part, index)
        build_lora(kind, part, file, _RANK, seed=index, dtype=torch.bfloat16)
    part.rename(folder)


def _say_distilled(model_dir: Path) -> None:
    path = model_dir / 'model_index.json'
    path.write_text(json.dumps({**json.loads(path.read_text('utf-8')), SIGN: True}, indent=2), 'utf-8')


def read_adapters(model_dir: Path) -> list[Adapter]:
    """As the server gives them to an engine."""
    files = [_adapter_file(model_dir, index) for index in range(_ADAPTERS)]
    return [Adapter(hashlib.sha256(file.read_bytes()).hexdigest(), file, 1.0) for file in files]


def _adapter_file(model_dir: Path, index: int) -> Path:
    return model_dir / f'adapter-{index}.safetensors'
