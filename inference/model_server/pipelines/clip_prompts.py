"""
Prompts of any length for SDXL.

Its two text encoders read 77 tokens at a time, and diffusers drops the rest of a longer prompt. Here a longer
one is read in pieces, whose embeddings follow each other; the model's attention takes any number of them. A
short prompt gives what diffusers makes of it.
"""

from collections.abc import Sequence
from typing import Any

import torch


@torch.no_grad()
def encode_prompts(pipe: Any, prompt: str, negative_prompt: str | None) -> dict[str, torch.Tensor]:
    """
    What an SDXL pipeline takes in place of the texts: embeddings (1, 77 n, features), and pooled ones.

    All pieces of both texts are one batch of each encoder. The embeddings of an empty negative prompt are
    zeros where the model was trained so; None, without guidance, has none.
    """
    zeros = negative_prompt == '' and pipe.config.force_zeros_for_empty_prompt
    texts = [prompt] if negative_prompt is None or zeros else [prompt, negative_prompt]
    embeds, pooled = _encode(pipe, texts)
    inputs = {'prompt_embeds': embeds[:1], 'pooled_prompt_embeds': pooled[:1]}
    if negative_prompt is not None:
        inputs['negative_prompt_embeds'] = torch.zeros_like(embeds) if zeros else embeds[1:]
        inputs['negative_pooled_prompt_embeds'] = torch.zeros_like(pooled) if zeros else pooled[1:]
    return inputs


def _encode(pipe: Any, texts: Sequence[str]) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Both encoders' hidden states of their second last layer, and the second one's pooled output, of each text.
    """
    encoders = ((pipe.tokenizer, pipe.text_encoder), (pipe.tokenizer_2, pipe.text_encoder_2))
    tokens = [[_tokens(tokenizer, text) for text in texts] for tokenizer, _ in encoders]
    room = int(pipe.tokenizer.model_max_length) - 2
    pieces = max(1, *(-(-len(text) // room) for each in tokens for text in each))
    features = []
    for (tokenizer, encoder), each in zip(encoders, tokens, strict=True):
        rows = [row for text in each for row in _rows(tokenizer, text, pieces)]
        output = encoder(torch.tensor(rows).to(encoder.device), output_hidden_states=True)
        features.append(output.hidden_states[-2].unflatten(0, (len(texts), pieces)).flatten(1, 2))
    # That of each text's first piece.
    return torch.cat(features, dim=-1), output[0][::pieces]


def _tokens(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False, truncation=False, verbose=False).input_ids)


def _rows(tokenizer: Any, tokens: list[int], pieces: int) -> list[list[int]]:
    """Token ids; each row has the tokenizer's start, end and padding tokens."""
    length = tokenizer.model_max_length
    rows = []
    for start in range(0, pieces * (length - 2), length - 2):
        row = [tokenizer.bos_token_id, *tokens[start : start + length - 2], tokenizer.eos_token_id]
        rows.append(row + [tokenizer.pad_token_id] * (length - len(row)))
    return rows
