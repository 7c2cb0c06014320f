"""Identities' adapters: read, checked, and merged into a model's weights."""
