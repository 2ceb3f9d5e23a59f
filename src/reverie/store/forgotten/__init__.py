"""What was let go: recorded before it begins, rewritten, proved gone."""
