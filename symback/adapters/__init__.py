"""Symback inside other people's tools: pytest."""
