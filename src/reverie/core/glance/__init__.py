"""What an agent sees at a glance: MEMORY.md and the digests, each within its budget."""
