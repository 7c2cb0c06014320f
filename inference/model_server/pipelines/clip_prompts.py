"""
Prompts of any length for SDXL.

Its two text encoders read 77 tokens at a time, and diffusers drops the rest of a longer prompt. Here a longer
one is read in pieces, whose embeddings follow each other; the model's attention takes any number of them. A
short prompt gives exactly what diffusers makes of it.
"""

from typing import Any

import torch


@torch.no_grad()
def encode_prompts(pipe: Any, prompt: str, negative_prompt: str) -> dict[str, torch.Tensor]:
    """
    What an SDXL pipeline takes in place of the two texts: embeddings (1, 77 n, features), and pooled ones.

    Without a negative prompt its embeddings are zeros where the model was trained so.
    """
    pieces = max(_count_pieces(pipe, prompt), _count_pieces(pipe, negative_prompt))
    embeds, pooled = _encode(pipe, prompt, pieces)
    if negative_prompt == '' and pipe.config.force_zeros_for_empty_prompt:
        negative, negative_pooled = torch.zeros_like(embeds), torch.zeros_like(pooled)
    else:
        negative, negative_pooled = _encode(pipe, negative_prompt, pieces)
    return {
        'prompt_embeds': embeds,
        'pooled_prompt_embeds': pooled,
        'negative_prompt_embeds': negative,
        'negative_pooled_prompt_embeds': negative_pooled,
    }


def _tokens(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False, truncation=False, verbose=False).input_ids)


def _count_pieces(pipe: Any, text: str) -> int:
    length = max(len(_tokens(tokenizer, text)) for tokenizer in (pipe.tokenizer, pipe.tokenizer_2))
    room = int(pipe.tokenizer.model_max_length) - 2
    return max(1, -(-length // room))


def _encode(pipe: Any, text: str, pieces: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Hidden states of each encoder's second last layer, and the second encoder's pooled output."""
    features = []
    pooled = None
    for tokenizer, encoder in ((pipe.tokenizer, pipe.text_encoder), (pipe.tokenizer_2, pipe.text_encoder_2)):
        outputs = [
            encoder(row.to(encoder.device)[None], output_hidden_states=True)
            for row in _rows(tokenizer, text, pieces)
        ]
        pooled = outputs[0][0]
        features.append(torch.cat([output.hidden_states[-2] for output in outputs], dim=1))
    assert pooled is not None
    return torch.cat(features, dim=-1), pooled


def _rows(tokenizer: Any, text: str, pieces: int) -> list[torch.Tensor]:
    """Token ids; each row has the tokenizer's start, end and padding tokens."""
    length = tokenizer.model_max_length
    tokens = _tokens(tokenizer, text)
    rows = []
    for start in range(0, pieces * (length - 2), length - 2):
        row = [tokenizer.bos_token_id, *tokens[start : start + length - 2], tokenizer.eos_token_id]
        rows.append(torch.tensor(row + [tokenizer.pad_token_id] * (length - len(row))))
    return rows
