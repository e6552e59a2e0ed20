"""Signatures, specialised functions, loading."""

from __future__ import annotations

from .specialise import Source, Specialised, build, generate

__all__ = ["Source", "Specialised", "build", "generate"]
