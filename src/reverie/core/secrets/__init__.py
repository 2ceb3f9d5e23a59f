"""Secrets found in text and taken out of it."""
