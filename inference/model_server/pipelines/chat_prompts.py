"""Prompts for text encoders that are language models, which read a prompt as a message in a chat."""

from collections.abc import Iterable
from typing import Any

from ..failure import Failure


def count_tokens(tokenizer: Any, texts: Iterable[str], limit: int, thinking: bool) -> int:
    """
    The tokens of the longest text, together with the form of a chat that the encoder was trained with.

    Raises Failure('invalid_request') above the limit, where diffusers would drop the end of the prompt.
    """
    length = max(_count(tokenizer, text, thinking) for text in texts)
    if length > limit:
        problem = f'The prompt has {length} tokens, and this model reads {limit}. Shorten it.'
        raise Failure('invalid_request', problem)
    return length


def _count(tokenizer: Any, text: str, thinking: bool) -> int:
    message = [{'role': 'user', 'content': text}]
    whole = tokenizer.apply_chat_template(
        message, tokenize=False, add_generation_prompt=True, enable_thinking=thinking
    )
    return len(tokenizer(whole, truncation=False, verbose=False).input_ids)
