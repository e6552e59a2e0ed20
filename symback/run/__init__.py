"""Signatures, specialised functions, loading, and the witness of first calls."""

from __future__ import annotations

from .specialise import Source, Specialised, build, generate
from .witness import Mode, Witness, current_mode, due

__all__ = [
    "Mode",
    "Source",
    "Specialised",
    "Witness",
    "build",
    "current_mode",
    "due",
    "generate",
]
