"""Turns read without a model: what English and Chinese sentences state, by rule."""
