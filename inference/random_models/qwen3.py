"""The language model that reads prompts for Z-Image and FLUX.2 [klein]."""

#: The sizes of Qwen/Qwen3-4B.
QWEN3_4B = {
    'vocab_size': 151936,
    'hidden_size': 2560,
    'intermediate_size': 9728,
    'num_hidden_layers': 36,
    'num_attention_heads': 32,
    'num_key_value_heads': 8,
    'head_dim': 128,
    'max_position_embeddings': 40960,
}
