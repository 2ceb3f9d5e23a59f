"""Reverie: long-term memory for LLM agents, kept in files a person can read."""

__all__ = ["__version__"]

__version__ = "0.1.0"
