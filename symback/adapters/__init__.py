"""Symback inside other tools: pytest."""
