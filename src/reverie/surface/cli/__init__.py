"""The `reverie` command."""
