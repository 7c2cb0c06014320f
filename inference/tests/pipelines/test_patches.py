"""Single layers: which may be changed, and what the rarer kinds of adapters do to one."""

import torch
from torch import nn

from model_server.pipelines.adapters.file import read_weights
from model_server.pipelines.adapters.names import LayerNames, find_layers


class Tied(nn.Module):
    """Two layers with one weight, one layer with two names, and one that is alone."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c, self.alone = (nn.Linear(3, 3) for _ in range(4))
        self.b.weight = self.a.weight
        self.again = self.c
        self.grouped = nn.Conv2d(4, 4, 1, groups=2)


def test_a_weight_that_two_layers_share_is_kept_as_it_is() -> None:
    assert set(find_layers(Tied(), '.*')) == {'alone'}


def test_lycoris_has_the_lengths_of_rows_or_of_columns() -> None:
    weight = torch.randn(4, 4, 3, 3)
    factors = {'down': torch.randn(2, 4, 3, 3), 'up': torch.randn(4, 2, 1, 1)}
    state = {f'x.lora_{name}.weight': values for name, values in factors.items()}
    for shape, axis in (((4, 1, 1, 1), 0), ((1, 4, 1, 1), 1)):
        lengths = torch.rand(shape) + 1
        read = read_weights(
            {**state, 'x.dora_scale': lengths}, {}, 'unet', LayerNames(['x'], 'unet'), {'x': weight.shape}
        )
        merged = read.patches['x'].apply(weight.clone(), 1.0)
        others = tuple(each for each in range(4) if each != axis)
        assert torch.allclose(torch.linalg.vector_norm(merged, dim=others, keepdim=True), lengths, rtol=1e-5)
        expected = weight + (factors['up'].flatten(1) @ factors['down'].flatten(1)).reshape(weight.shape)
        direction = torch.nn.functional.cosine_similarity(
            merged.movedim(axis, 0).flatten(1), expected.movedim(axis, 0).flatten(1)
        )
        assert direction.min() > 0.99999


def test_a_convolution_with_a_core_of_its_own_is_the_three_convolutions_one_after_the_other() -> None:
    """LyCORIS calls it Tucker's form; it is what LoCon files with `lora_mid` hold."""
    from torch.nn.functional import conv2d

    down, mid, up = torch.randn(2, 5, 1, 1), torch.randn(2, 2, 3, 3), torch.randn(4, 2, 1, 1)
    names = {
        'lora_down.weight': down,
        'lora_mid.weight': mid,
        'lora_up.weight': up,
        'alpha': torch.tensor(1.0),
    }
    state = {f'lora_unet_x.{name}': values for name, values in names.items()}
    shape = torch.Size((4, 5, 3, 3))
    patch = read_weights(state, {}, 'unet', LayerNames(['x'], 'unet'), {'x': shape}).patches['x']
    image = torch.randn(1, 5, 8, 8)
    found = conv2d(image, patch.apply(torch.zeros(shape), 1.0))
    assert torch.allclose(found, conv2d(conv2d(conv2d(image, down), mid), up) / 2, atol=1e-4)
