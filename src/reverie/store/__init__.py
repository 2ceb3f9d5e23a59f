"""The only code that writes the truth."""
