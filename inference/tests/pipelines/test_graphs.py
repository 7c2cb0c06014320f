"""CUDA graphs, with a stand-in for the card: what is replayed is what would be computed."""

import gc
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves

from model_server.failure import Failure
from model_server.pipelines.graphs import MOST_KINDS, Graphs
from model_server.pipelines.keys_and_values import LONGEST, KeysAndValues

from .conftest import draw, in_type, open_engine, paint, spec, tiny_unet, use, with_product


class Card:
    """Captures as a card does: nothing is computed at once, and a replay writes into the same output."""

    def __init__(self) -> None:
        self.captured = 0
        self.replayed = 0
        #: Raised by the next capture.
        self.error: Exception | None = None

    def __call__(self, work: Callable[[], Any]) -> tuple[Any, Callable[[], None]]:
        self.captured += 1
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        output = work()
        for tensor in tree_leaves(output):
            tensor.fill_(float('nan'))

        def replay() -> None:
            self.replayed += 1
            for tensor, fresh in zip(tree_leaves(output), tree_leaves(work()), strict=True):
                tensor.copy_(fresh)

        return output, replay


class Scaled(torch.nn.Module):
    """Takes what a denoiser takes: tensors, constants, and both in dictionaries."""

    def forward(self, x: Any, times: int, *, added: Any = None) -> Any:
        return ((x * times if times is not True else x * 100) + added['text'][0],)


def call(model: Any, rows: int, times: int = 2, at: float = 1.0) -> float:
    """All rows are alike."""
    (answer,) = model(torch.full((rows,), at), times, added={'text': [torch.full((rows,), 10.0)]})
    return float(answer.mean())


@pytest.fixture
def card() -> Card:
    return Card()


def test_the_first_of_a_kind_runs_as_it_is_the_second_is_captured_and_later_ones_are_replayed(
    card: Card,
) -> None:
    model = Scaled()
    graphs = Graphs(model, card)
    seen = []
    for at in (1.0, 2.0, 3.0):
        assert call(model, 4, at=at) == 2 * at + 10
        seen.append((card.captured, card.replayed))
    assert seen == [(0, 0), (1, 1), (1, 2)]
    # A size, a constant, its type, and what is no input.
    for change in ({'rows': 5}, {'times': 1}, {'times': True}):
        wanted = call(Scaled(), **{'rows': 4, **change})
        assert [call(model, **{'rows': 4, **change}) for _ in range(3)] == [wanted] * 3
    graphs.mode = 'other'
    call(model, 4)
    assert (card.captured, card.replayed) == (4, 8)


def test_an_output_that_a_scheduler_keeps_stays_what_it_was(card: Card) -> None:
    model = Scaled()
    Graphs(model, card)
    kept = [model(torch.tensor([at]), 1, added={'text': [torch.zeros(1)]})[0] for at in (1.0, 2.0, 3.0, 4.0)]
    assert [float(each) for each in kept] == [1.0, 2.0, 3.0, 4.0]


def test_the_kinds_that_were_used_last_are_kept(card: Card) -> None:
    model = Scaled()
    Graphs(model, card)
    for rows in range(1, MOST_KINDS + 2):
        call(model, rows)
        call(model, rows)
        # So that this one is never the oldest.
        call(model, 1)
    captured = card.captured
    for rows in (1, 3, MOST_KINDS + 1):
        call(model, rows)
    assert card.captured == captured
    call(model, 2)
    call(model, 2)
    assert card.captured == captured + 1


def test_what_cant_be_captured_runs_as_it_is_with_a_line_in_the_log(
    card: Card, capsys: pytest.CaptureFixture[str]
) -> None:
    model = Scaled()
    Graphs(model, card)
    call(model, 1)
    call(model, 1)
    card.error = RuntimeError('CUDA error: operation not permitted when stream is capturing')
    assert [call(model, 2) for _ in range(4)] == [12.0] * 4
    assert (card.captured, card.replayed) == (2, 1)
    log = capsys.readouterr().out
    assert log.count('no CUDA graph') == 1
    # The others go on.
    call(model, 1)
    assert (card.captured, card.replayed) == (2, 2)
    # Where memory runs out, they make room.
    card.error = torch.OutOfMemoryError('CUDA out of memory')
    assert [call(model, 3) for _ in range(3)] == [12.0] * 3
    assert [call(model, 1) for _ in range(2)] == [12.0] * 2
    assert (card.captured, card.replayed) == (4, 3)


def test_the_keys_and_values_of_a_prompt_are_computed_once_for_a_picture_and_are_what_they_were(
    card: Card,
) -> None:
    draw = torch.Generator().manual_seed(1)
    plain = tiny_unet()
    unet = deepcopy(plain)
    keys_and_values = KeysAndValues(unet)
    Graphs(unet, card)
    computed: list[int] = []
    addresses: dict[tuple[int, int], int] = {}
    layer: Any = keys_and_values._layers[0]

    def compute(text: Any) -> Any:
        computed.append(len(text))
        return type(layer).compute(layer, text)

    layer.compute = compute
    with torch.no_grad():
        for rows, tokens in ((2, 5), (1, 5), (2, 10), (2, 5), (1, 5)) * 2:
            text = torch.randn(rows, tokens, 8, generator=draw)
            for step in (3, 2, 1):
                latents = torch.randn(rows, 4, 8, 8, generator=draw)
                assert torch.equal(unet(latents, step, text).sample, plain(latents, step, text).sample)
                assert addresses.setdefault((rows, tokens), layer.kept.data_ptr()) == layer.kept.data_ptr()
        for each in (unet, plain):
            each.get_parameter('down_blocks.0.attentions.0.transformer_blocks.0.attn2.to_k.weight').mul_(2)
        keys_and_values.forget()
        assert torch.equal(unet(latents, 1, text).sample, plain(latents, 1, text).sample)
        assert computed == [2, 1, 2, 2, 1] * 2 + [1]
        # Of a long prompt they would take too much memory.
        long = torch.randn(1, LONGEST + 77, 8, generator=draw)
        for step in (3, 2, 1):
            assert torch.equal(unet(latents, step, long).sample, plain(latents, step, long).sample)
            assert layer.kept is None
    # A graph holds what it reads, and nothing else does.
    assert len(keys_and_values._known) == 3
    unet.forward.drop()
    gc.collect()
    assert len(keys_and_values._known) == 0


@pytest.fixture
def kind() -> str:
    """Whose adapters `make_adapter` makes."""
    return 'sdxl'


@pytest.fixture
def open_graphed(
    model_dirs: dict[str, Path], dtype: str, card: Card, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Any]:
    """Engines with graphs."""
    monkeypatch.setattr('model_server.pipelines.diffusion.capture_on_card', lambda: card)
    return lambda name: open_engine(model_dirs[name], dtype, graphs=True)


@in_type('bfloat16')
@pytest.mark.parametrize('name', ['sdxl', 'ip'])
def test_a_replay_paints_what_the_engine_paints_without_graphs(
    name: str, engines: Callable[[str], Any], open_graphed: Callable[[str], Any], card: Card
) -> None:
    plain, engine = engines(name), open_graphed(name)
    # While it warmed up.
    assert card.captured == 1
    orders = [
        spec(),
        spec(guidance_scale=1.0),
        spec(width=160, prompt='word ' * 90),
        with_product('reference'),
        with_product('exact_product'),
    ]
    # The last one is a kind that is known.
    for seed, order in enumerate([*orders, orders[0]]):
        assert paint(engine, order, seed) == paint(plain, order, seed)
    # Three kinds of sizes, and an IP-Adapter's scale; the rest is replayed.
    assert card.captured == (4 if name == 'ip' else 3)
    assert card.replayed > 2 * card.captured


@in_type('bfloat16')
def test_adapters_leave_each_weight_where_a_graph_reads_it(
    engines: Callable[[str], Any], open_graphed: Callable[[str], Any], make_adapter: Any, card: Card
) -> None:
    plain, engine = engines('sdxl'), open_graphed('sdxl')
    paint(engine, spec())
    unet, captured = engine._text.unet, card.captured
    addresses = {name: values.data_ptr() for name, values in unet.state_dict().items()}
    for adapter in (make_adapter(seed=1), make_adapter(seed=2, scale=0.5), None):
        for each in (plain, engine):
            use(each, adapter)
        assert {name: values.data_ptr() for name, values in unet.state_dict().items()} == addresses
        assert paint(engine, spec()) == paint(plain, spec())
    assert card.captured == captured


@in_type('bfloat16')
def test_where_memory_runs_out_the_graphs_make_room_and_the_picture_is_painted(
    open_graphed: Callable[[str], Any], card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = open_graphed('sdxl')
    before = paint(engine, spec())
    decode = engine._text.vae.decode
    steps: list[int] = []

    def run_out_beside_graphs(*args: Any, **named: Any) -> Any:
        if any(kind.replay for kind in engine._graphs._kinds.values()):
            raise torch.OutOfMemoryError('CUDA out of memory')
        return decode(*args, **named)

    monkeypatch.setattr(engine._text.vae, 'decode', run_out_beside_graphs)
    captured = card.captured
    # What does not fit beside graphs has none from then on.
    for expected in ([1, 2, 3, 1, 2, 3], [1, 2, 3]):
        steps.clear()
        assert draw(engine, spec(), on_step=steps.append).tobytes() == before
        assert (steps, card.captured) == (expected, captured)
    # Without graphs to give up, the request fails.
    engine._graphs.drop()
    monkeypatch.setattr(engine._text.vae, 'decode', decode)
    monkeypatch.setattr(engine._text.unet, 'forward', out_of_memory)
    with pytest.raises(Failure, match='memory'):
        paint(engine, spec())


def out_of_memory(*_: Any, **__: Any) -> Any:
    raise torch.OutOfMemoryError('CUDA out of memory')
