"""Words and how texts are taken apart, whatever they say."""
