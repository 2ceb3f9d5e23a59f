"""The history of the pages: a git object store of our own in `.history`."""
