"""The near-repeat guard, and the links it lets the store make between entries."""
