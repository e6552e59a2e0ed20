"""Readable, provable gradients of NumPy functions."""

__version__ = "0.1.0"
