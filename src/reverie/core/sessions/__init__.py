"""Turns and their sessions: taken in, read, summarised, put away."""
