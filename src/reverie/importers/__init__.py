"""Other formats turned into turns, one file a format."""
