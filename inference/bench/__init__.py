"""Measures the model server's engine beside plain diffusers, within six minutes of a card."""
