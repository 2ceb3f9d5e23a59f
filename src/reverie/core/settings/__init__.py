"""Every setting: its value, its default, and where it is read from."""
