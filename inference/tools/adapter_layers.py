"""
Writes what the operator's CLI knows of adapters: the layers of each base model as files spell them.

    python tools/adapter_layers.py

All of it comes from the server's own code and from the models' configurations, so that the CLI recognises
what the server can read, and nothing else. No weights are needed.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

# Started as a file, Python looks beside it for modules, not beside the package.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from model_server.pipelines.adapters import file, names
from model_server.pipelines.adapters.sgm_names import name_in_sgm
from model_server.pipelines.flux2_klein import Flux2KleinEngine
from model_server.pipelines.sdxl import SdxlEngine
from model_server.pipelines.z_image import ZImageEngine
from random_models.models import make_denoiser
from random_models.sizes import KINDS, Kind

TABLE = Path(__file__).parents[2] / 'bin' / 'admin' / 'adapter' / 'layers.json'
#: A layer's weight, (out, in) or (out, in, height, width), by the layer's name.
Shapes = dict[str, tuple[int, ...]]

#: The blocks' names of FLUX.2's authors: https://github.com/black-forest-labs/flux2/blob/main/src/flux2/model.py.
_IN_FLUX2 = {
    'attn.to_out.0': 'img_attn.proj', 'attn.to_add_out': 'txt_attn.proj',
    'ff.linear_in': 'img_mlp.0', 'ff.linear_out': 'img_mlp.2',
    'ff_context.linear_in': 'txt_mlp.0', 'ff_context.linear_out': 'txt_mlp.2',
    'attn.to_q': 'img_attn.qkv', 'attn.add_q_proj': 'txt_attn.qkv',
    'attn.to_qkv_mlp_proj': 'linear1', 'attn.to_out': 'linear2',
    'x_embedder': 'img_in', 'context_embedder': 'txt_in', 'proj_out': 'final_layer.linear',
    'time_guidance_embed.timestep_embedder.linear_1': 'time_in.in_layer',
    'time_guidance_embed.timestep_embedder.linear_2': 'time_in.out_layer',
}  # fmt: skip
#: And of Z-Image's: https://github.com/Tongyi-MAI/Z-Image/blob/main/src/zimage/transformer.py.
_IN_Z_IMAGE = {'attention.to_q': 'attention.qkv', 'attention.to_out.0': 'attention.out'}


def authors_layers(layers: Shapes, spelled: Mapping[str, str]) -> Shapes:
    """The layers that have another name in the authors' code, as they are there."""
    found: Shapes = {}
    for name, (out, *others) in layers.items():
        block = re.fullmatch(r'((?:single_)?transformer_blocks|layers|\w+_refiner)\.(\d+)\.(.+)', name)
        place, end = (f'{block[1]}.{block[2]}.', block[3]) if block else ('', name)
        place = place.replace('single_transformer_', 'single_').replace('transformer_', 'double_')
        if end in spelled:
            # The authors have one layer for query, key and value.
            rows = out * 3 if spelled[end].endswith('qkv') else out
            found[place + spelled[end]] = (rows, *others)
    return found


def converted(kind: Kind, layers: Shapes) -> list[dict[str, Any]]:
    """
    The forms that diffusers' conversion understands beside the layers' own names, LoRA only.

    A file is in one form as a whole, with the model's own names among the authors' where `own` says so.
    """
    down_up, own = ['lora_down', 'lora_up', 'alpha'], True
    if kind == 'z-image':
        spelled = compact_all(authors_layers(layers, _IN_Z_IMAGE))
        return [
            _form(['diffusion_model.'], ['lora.down', 'lora.up', 'alpha'], own, spelled),
            _form(['lora_unet_'], down_up, own, spelled),
        ]
    if kind == 'flux2-klein':
        authors = authors_layers(layers, _IN_FLUX2)
        lin = {name.removesuffix('ear'): shape for name, shape in layers.items() if 'modulation' in name}
        dotted = ['diffusion_model.', 'base_model.model.']
        return [
            _form(dotted, ['lora_A', 'lora_B'], own, compact_all({**authors, **lin})),
            _form(['lora_unet_'], down_up, not own, compact_all(authors)),
        ]
    return []


def _form(prefixes: list[str], parts: list[str], own: bool, layers: dict[str, list[int]]) -> dict[str, Any]:
    return {'prefixes': prefixes, 'parts': parts, 'own': own, 'layers': layers}


def compact_all(layers: Shapes) -> dict[str, list[int]]:
    """The same with one row for layers of one shape whose names differ in few places, as `a.{0,1}.{b,c}`."""
    return {
        row: list(shape)
        for shape in dict.fromkeys(layers.values())
        for row in compact(name for name in layers if layers[name] == shape)
    }


def compact(names: Iterable[str]) -> list[str]:
    """Joins names that differ in one part, until none do."""
    rows = [tuple(frozenset([part]) for part in name.split('.')) for name in names]
    before = 0
    while before != len(rows):
        before = len(rows)
        for at in reversed(range(max(map(len, rows)))):
            joined: dict[Any, tuple[frozenset[str], ...]] = {}
            for row in rows:
                others = (row[:at], row[at + 1 :], len(row) > at)
                known = joined.get(others)
                joined[others] = (*row[:at], known[at] | row[at], *row[at + 1 :]) if known else row
            rows = list(joined.values())
    return ['.'.join(map(_spell, row)) for row in rows]


def _spell(choices: frozenset[str]) -> str:
    ordered = sorted(choices, key=lambda choice: (choice.zfill(3), choice))
    return ordered[0] if len(ordered) == 1 else f'{{{",".join(ordered)}}}'


def make_table() -> dict[str, Any]:
    """All that the CLI has."""
    return {
        '//': 'Written by inference/tools/adapter_layers.py: do not change it by hand.',
        'part': file.PART,
        'factors': file.FACTORS,
        'prefixes': names.PREFIXES,
        'textEncoders': names.TEXT_ENCODERS,
        'models': [_model(kind) for kind in KINDS],
    }


def _model(kind: Kind) -> dict[str, Any]:
    engine, layers = load_layers(kind)
    spelled = {name: shape for layer, shape in layers.items() for name in names.spell(layer, _others(kind))}
    return {
        'kind': kind,
        'name': {'sdxl': 'SDXL', 'z-image': 'Z-Image', 'flux2-klein': 'FLUX.2 [klein] 4B'}[kind],
        'pipeline': engine.text_pipeline.__name__,
        'part': engine.denoiser,
        'layers': compact_all(spelled),
        'converted': converted(kind, layers),
    }


def _others(kind: Kind) -> Callable[[str], Iterable[str]]:
    return lambda layer: [name_in_sgm(layer, 2) or layer] if kind == 'sdxl' else []


def load_layers(kind: Kind) -> tuple[Any, Shapes]:
    """The engine's class, and the layers of the whole model that it lets adapters change."""
    engine = {'sdxl': SdxlEngine, 'z-image': ZImageEngine, 'flux2-klein': Flux2KleinEngine}[kind]
    weights = names.changeable_layers(make_denoiser(kind), engine.adapter_layers)
    return engine, {name: tuple(weight.shape) for name, weight in weights.items()}


def write(table: dict[str, Any]) -> str:
    """One row a layer, as prettier has it."""
    text = json.dumps(table, indent=2)
    return re.sub(r'\[\s+([^\[\]{}]+?)\s+\]', lambda each: f'[{" ".join(each[1].split())}]', text) + '\n'


if __name__ == '__main__':
    TABLE.write_text(write(make_table()), 'utf-8')
