"""Functions with rules that no module gives by their name.

A function made inside another one, a lambda, or one of a script that is run: generated
text finds it here, as ``symback.own.name``, for as long as the process lives.
"""

from __future__ import annotations
