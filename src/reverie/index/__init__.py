"""Derived state and search; everything here may be deleted and comes back."""
