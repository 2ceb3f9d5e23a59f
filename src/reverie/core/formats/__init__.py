"""How each kind of file is written and read: bytes to values and back."""
