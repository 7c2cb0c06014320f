"""The models. Code outside of this folder uses the protocol of `engine.py` only."""
