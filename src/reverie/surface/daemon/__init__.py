"""The daemon: HTTP, MCP and the schedule for many workspaces, in one process."""
