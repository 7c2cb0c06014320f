"""What the operator's CLI knows of adapters, and the server itself, judge the same files alike."""

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from model_server.failure import Failure
from model_server.pipelines.adapters.names import LayerNames, changeable_layers
from model_server.pipelines.adapters.reader import AdapterReader
from model_server.safetensors import NotSafetensors, check_safetensors
from random_models.models import make_denoiser
from random_models.sizes import Kind
from tools.adapter_layers import TABLE, load_layers, make_table, write

CASES = json.loads((Path(__file__).parents[1] / 'adapter_files.json').read_text('utf-8'))
MODELS = json.loads(TABLE.read_text('utf-8'))['models']
DTYPES = {
    'F32': torch.float32, 'F16': torch.float16, 'BF16': torch.bfloat16,
    'I64': torch.int64, 'I8': torch.int8, 'C64': torch.complex64,
}  # fmt: skip


def expand(row: str) -> list[str]:
    """All names that a row of the table stands for."""
    match = re.search(r'{([^}]+)}', row)
    if match is None:
        return [row]
    return [name for choice in match[1].split(',') for name in expand(row.replace(match[0], choice))]


@cache
def reader(kind: Kind) -> tuple[AdapterReader, LayerNames]:
    """The server's, for the whole model without its weights."""
    engine_class, _ = load_layers(kind)
    model = make_denoiser(kind)
    engine = object.__new__(engine_class)
    engine._text = SimpleNamespace(unet=model, lora_state_dict=engine_class.text_pipeline.lora_state_dict)
    layers = changeable_layers(model, engine.adapter_layers)
    names = LayerNames(layers, engine.denoiser, engine._other_names)
    return AdapterReader(layers, engine.denoiser, engine._other_names, engine._read_state, 1), names


def test_the_table_is_the_servers() -> None:
    """`python tools/adapter_layers.py` writes it."""
    assert TABLE.read_text('utf-8') == write(make_table())


def forms() -> Iterator[tuple[Kind, str, list[str], dict[str, list[int]]]]:
    """A model, what stands before its layers' names, the parts of a LoRA, and the layers."""
    for model in MODELS:
        for prefix in ('lora_unet_', f'{model["part"]}.'):
            yield model['kind'], prefix, ['lora_down', 'lora_up'], model['layers']
        for form in model['converted']:
            for layers in [form['layers'], *([model['layers']] if form['own'] else [])]:
                for prefix in form['prefixes']:
                    yield model['kind'], prefix, form['parts'], layers


@pytest.mark.parametrize(('kind', 'prefix', 'parts', 'rows'), list(forms()))
def test_the_server_reads_every_layer_of_the_table(
    tmp_path: Path, kind: Kind, prefix: str, parts: list[str], rows: dict[str, list[int]]
) -> None:
    adapters, names = reader(kind)
    spellings: dict[str, list[tuple[str, list[int]]]] = defaultdict(list)
    for row, shape in rows.items():
        for name in expand(row):
            spellings[names.find(name) or name].append((name, shape))
    # In a file a layer has one name.
    for spelled in itertools.zip_longest(*spellings.values()):
        state, layers = {}, 0
        for name, shape in filter(None, spelled):
            whole = prefix + (name.replace('.', '_') if prefix.endswith('_') else name)
            state[f'{whole}.{parts[0]}.weight'] = torch.ones(1, *shape[1:])
            state[f'{whole}.{parts[1]}.weight'] = torch.ones(shape[0], 1)
            layers += 3 if name.endswith('qkv') else 1
        save_file(state, tmp_path / 'a.safetensors')
        assert len(adapters._read(tmp_path / 'a.safetensors').patches) == layers


def write_case(folder: Path, case: dict[str, Any]) -> Path:
    path = folder / str(case.get('file', 'a.safetensors'))
    if 'tensors' in case:
        state = {
            name: torch.zeros(shape, dtype=DTYPES[dtype])
            for row, (dtype, *shape) in case['tensors'].items()
            for name in expand(row)
        }
        save_file(state, path, case.get('metadata'))
    elif 'header' in case:
        text = case['header'].encode()
        path.write_bytes(len(text).to_bytes(8, 'little') + text + bytes(case['data']))
    else:
        path.write_bytes(case['bytes'].encode('latin-1'))
    return path


def by_name(case: dict[str, Any]) -> str:
    return str(case['name'])


@pytest.mark.parametrize('case', CASES['good'], ids=by_name)
def test_the_server_reads_what_the_cli_takes(case: dict[str, Any], tmp_path: Path) -> None:
    path = write_case(tmp_path, case)
    check_safetensors(path)
    model = next(each for each in MODELS if case['found'].startswith(each['name'] + ','))
    assert reader(model['kind'])[0]._read(path).patches


@pytest.mark.parametrize('case', CASES['broken'], ids=by_name)
def test_the_server_refuses_what_the_cli_refuses(case: dict[str, Any], tmp_path: Path) -> None:
    path = write_case(tmp_path, case)

    def read(kind: Kind) -> None:
        check_safetensors(path)
        reader(kind)[0]._read(path)

    for model in MODELS:
        with pytest.raises((Failure, NotSafetensors)):
            read(model['kind'])
