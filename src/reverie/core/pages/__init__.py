"""Markdown pages: read, cited, edited and merged as text."""
