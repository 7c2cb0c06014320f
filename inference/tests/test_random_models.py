"""Models with random weights: the same bytes each time, of the published sizes, with adapters that fit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from model_server.__main__ import PIPELINES
from random_models import KINDS, Kind, build_lora
from random_models.__main__ import main


def contents(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob('*') if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.mark.parametrize('kind', KINDS)
def test_a_model_is_the_same_bytes_each_time_and_so_is_a_lora_of_it(kind: Kind, tmp_path: Path) -> None:
    ends = ('to_q', 'ff.net.2', 'feed_forward.w2', 'ff.linear_out')
    for name in ('one', 'other'):
        main([kind, str(tmp_path / name)])
        file = tmp_path / name / 'lora.safetensors'
        build_lora(kind, tmp_path / name, file, rank=3, seed=5, layers=ends, dtype=torch.bfloat16)
    assert contents(tmp_path / 'one') == contents(tmp_path / 'other')
    index = json.loads((tmp_path / 'one' / 'model_index.json').read_text())
    assert kind.replace('-', '_') in PIPELINES[index['_class_name']]
    weights = load_file(tmp_path / 'one' / 'lora.safetensors')
    assert {weight.dtype for weight in weights.values()} == {torch.bfloat16}
    assert all(3 in weight.shape for weight in weights.values())
    layers = {name.rsplit('.', 2)[0] for name in weights}
    assert all(layer.endswith(ends) for layer in layers)
    assert {layer.endswith('to_q') for layer in layers} == {True, False}


def test_full_models_have_the_published_sizes(full_model: Callable[[Any], Any]) -> None:
    sizes = {
        f'{kind} {name}': sum(each.numel() for each in part.parameters())
        for kind in KINDS
        for name, part in full_model(kind).components.items()
        if isinstance(part, torch.nn.Module)
    }
    sizes['sdxl texts'] = sizes.pop('sdxl text_encoder') + sizes.pop('sdxl text_encoder_2')
    published = {
        'sdxl unet': 2.567e9,
        'sdxl texts': 0.817e9,
        'z-image transformer': 6.15e9,
        'z-image text_encoder': 4.02e9,
        # Two bytes each, in the files of 7.75 and 8.05 GB.
        'flux2-klein transformer': 7.75e9 / 2,
        'flux2-klein text_encoder': 8.05e9 / 2,
        **{f'{kind} vae': 83.8e6 for kind in KINDS},
    }
    assert sizes == {name: pytest.approx(size, rel=0.01) for name, size in published.items()}
