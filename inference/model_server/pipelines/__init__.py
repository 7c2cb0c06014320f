"""The models. Nothing outside of this folder knows more of them than the protocol in `engine.py`."""
