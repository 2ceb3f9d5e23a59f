"""Files beneath the workspace: read, appended to, replaced and locked so that a crash loses nothing."""
