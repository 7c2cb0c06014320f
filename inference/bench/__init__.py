"""Measures the model server's engines against diffusers as it comes, on one machine."""
