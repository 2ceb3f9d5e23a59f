"""What a query asks for, in which order its finds come, and what fits into a prompt."""
