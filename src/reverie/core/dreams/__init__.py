"""What a dream gets, may do and proposes, and how it is judged."""
