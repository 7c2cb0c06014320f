"""
The names that SDXL's layers have in Stability AI's own code, and so in kohya's scripts.

Source: https://github.com/kohya-ss/sd-scripts, library/sdxl_model_util.py.
"""

import re

_SINGLE = {
    'conv_in': 'input_blocks.0.0',
    'conv_out': 'out.2',
    'time_embedding.linear_1': 'time_embed.0',
    'time_embedding.linear_2': 'time_embed.2',
    'add_embedding.linear_1': 'label_emb.0.0',
    'add_embedding.linear_2': 'label_emb.0.2',
}
_IN_RESNET = {
    'conv1': 'in_layers.2',
    'conv2': 'out_layers.3',
    'time_emb_proj': 'emb_layers.1',
    'conv_shortcut': 'skip_connection',
}
_IN_BLOCK = re.compile(
    r'(?P<side>down_blocks|up_blocks)\.(?P<block>\d+)\.(?P<kind>resnets|attentions|downsamplers|upsamplers)'
    r'\.(?P<index>\d+)\.(?P<rest>.+)'
)
_IN_MIDDLE = re.compile(r'mid_block\.(?P<kind>resnets|attentions)\.(?P<index>\d+)\.(?P<rest>.+)')


def name_in_sgm(layer: str, resnets: int) -> str | None:
    """
    The layer's name there, or None.

    `resnets` is how many each block on the way down has. In those names all that follows each other on the
    way down, and on the way up, is numbered through.
    """
    if layer in _SINGLE:
        return _SINGLE[layer]
    middle = _IN_MIDDLE.fullmatch(layer)
    if middle:
        number = 1 if middle['kind'] == 'attentions' else 2 * int(middle['index'])
        return f'middle_block.{number}.{_inside(middle["kind"], middle["rest"])}'
    match = _IN_BLOCK.fullmatch(layer)
    if match is None:
        return None
    block, index, kind = int(match['block']), int(match['index']), match['kind']
    inside = _inside(kind, match['rest'])
    if kind == 'downsamplers':
        return f'input_blocks.{(block + 1) * (resnets + 1)}.0.op'
    if kind == 'upsamplers':
        # After a resnet and an attention, which each block has that makes the picture larger.
        return f'output_blocks.{block * (resnets + 1) + resnets}.2.{inside}'
    place = 1 if kind == 'attentions' else 0
    if match['side'] == 'down_blocks':
        return f'input_blocks.{block * (resnets + 1) + index + 1}.{place}.{inside}'
    return f'output_blocks.{block * (resnets + 1) + index}.{place}.{inside}'


def _inside(kind: str, rest: str) -> str:
    return _IN_RESNET.get(rest, rest) if kind == 'resnets' else rest
