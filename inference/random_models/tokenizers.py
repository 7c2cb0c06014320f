"""Tokenizers that know single bytes only: text becomes more tokens than with a learned vocabulary."""

from tokenizers import Tokenizer, decoders
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from transformers import CLIPTokenizer, PreTrainedTokenizerFast

#: The form of a conversation in which Qwen3 reads a prompt.
_CHAT_TEMPLATE = (
    '{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n'
    '{% endfor %}'
    '{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}'
)


def clip_tokenizer() -> CLIPTokenizer:
    """One token for each byte, and at most 77 of them."""
    letters = sorted(ByteLevel.alphabet())
    words = [*letters, *(letter + '</w>' for letter in letters), '<|startoftext|>', '<|endoftext|>']
    return CLIPTokenizer(vocab=_numbered(words), merges=[], model_max_length=77)


def qwen_tokenizer() -> PreTrainedTokenizerFast:
    """One token for each byte, with Qwen's special tokens."""
    special = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']
    tokenizer = Tokenizer(BPE(vocab=_numbered([*sorted(ByteLevel.alphabet()), *special]), merges=[]))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token='<|endoftext|>',
        eos_token='<|im_end|>',
        additional_special_tokens=['<|im_start|>'],
    )
    fast.chat_template = _CHAT_TEMPLATE
    return fast


def _numbered(words: list[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(words)}
