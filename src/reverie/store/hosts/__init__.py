"""What hosts and other programs keep here, and what is written for them elsewhere."""
