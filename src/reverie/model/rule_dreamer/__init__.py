"""The dreamer that needs no model."""
