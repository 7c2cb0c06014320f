"""Models with random weights are models: diffusers loads them, they paint, and adapters have an effect."""

import hashlib
import json
from pathlib import Path

import pytest
import torch

from random_models import KINDS, Kind, build, build_ip_adapter, build_lora
from random_models.__main__ import main
from random_models.models import create
from random_models.weights import Draw


@pytest.fixture(scope='module', params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    name: Kind = request.param
    return name


@pytest.fixture(scope='module')
def folder(kind: Kind, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp('model') / kind
    build(kind, folder)
    if kind == 'sdxl':
        build_ip_adapter(folder)
    return folder


def digests(folder: Path) -> dict[str, str]:
    files = [file for file in folder.rglob('*') if file.is_file()]
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_a_model_is_the_same_bytes_each_time(kind: Kind, tmp_path: Path) -> None:
    main([kind, str(tmp_path / 'one')])
    main([kind, str(tmp_path / 'other')])
    assert digests(tmp_path / 'one') == digests(tmp_path / 'other') != {}


@pytest.mark.parametrize('arguments', [['z-image'], ['sdxl', '--size', 'full']])
def test_other_models_have_no_ip_adapter(arguments: list[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main([*arguments, str(tmp_path / 'model'), '--ip-adapter'])
    assert not (tmp_path / 'model').exists()


def test_full_models_have_the_published_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.nn.Module, 'to_empty', lambda model, device: model)
    monkeypatch.setattr(Draw, '_fill', lambda *_: None)
    draw = Draw('cpu', torch.bfloat16)
    sizes = {
        f'{kind} {name}': count(part)
        for kind in KINDS
        for name, part in create(kind, 'full', draw).components.items()
    }
    assert sizes['sdxl unet'] == pytest.approx(2.567e9, rel=0.01)
    assert sizes['sdxl text_encoder'] + sizes['sdxl text_encoder_2'] == pytest.approx(0.817e9, rel=0.01)
    assert sizes['z-image transformer'] == pytest.approx(6.15e9, rel=0.01)
    assert sizes['z-image text_encoder'] == pytest.approx(4.02e9, rel=0.01)
    # Two bytes each, in the files of 7.75 and 8.05 GB.
    assert 2 * sizes['flux2-klein transformer'] == pytest.approx(7.75e9, rel=0.01)
    assert 2 * sizes['flux2-klein text_encoder'] == pytest.approx(8.05e9, rel=0.01)
    for kind in KINDS:
        assert sizes[f'{kind} vae'] == pytest.approx(83.8e6, rel=0.01)


def count(part: object) -> int:
    """The parameters of a part of a pipeline that has some."""
    return sum(each.numel() for each in part.parameters()) if isinstance(part, torch.nn.Module) else 0


def test_the_folder_names_the_pipeline_that_the_server_looks_for(kind: Kind, folder: Path) -> None:
    from model_server.__main__ import CLASS_NAMES

    assert CLASS_NAMES[json.loads((folder / 'model_index.json').read_text())['_class_name']] == kind


def test_a_lora_has_the_rank_the_layers_and_the_bytes_that_were_asked_for(
    kind: Kind, folder: Path, tmp_path: Path
) -> None:
    from safetensors.torch import load as read

    ends = ('to_q', 'ff.net.2', 'feed_forward.w2', 'ff.linear_out')
    for name in ('one.safetensors', 'other.safetensors'):
        build_lora(kind, folder, tmp_path / name, rank=3, seed=5, layers=ends, dtype=torch.bfloat16)
    content = (tmp_path / 'one.safetensors').read_bytes()
    weights = read(content)
    assert content == (tmp_path / 'other.safetensors').read_bytes()
    assert {weight.dtype for weight in weights.values()} == {torch.bfloat16}
    assert all(3 in weight.shape for weight in weights.values())
    layers = {name.removesuffix('.lora_A.weight').removesuffix('.lora_B.weight') for name in weights}
    assert all(layer.endswith(ends) for layer in layers)
    assert {layer.endswith('to_q') for layer in layers} == {True, False}
