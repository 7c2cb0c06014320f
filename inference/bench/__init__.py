"""Measures the model server's engines beside plain diffusers, each in a process of its own."""
