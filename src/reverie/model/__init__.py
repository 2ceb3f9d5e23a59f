"""The only code that reads language: rules and, when configured, models."""
