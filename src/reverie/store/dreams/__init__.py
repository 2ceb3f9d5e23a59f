"""Dreams on disk: what waits, what a run staged, who may drive it, and how it is installed."""
