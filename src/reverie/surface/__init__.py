"""Thin faces of Memory: command line, protocols, what people see."""
