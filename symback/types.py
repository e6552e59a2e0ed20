"""What is known of a value without running the user's program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["Type"]


@dataclass(frozen=True)
class Type:
    """The kind of a value, its dtype and its symbolic dimensions.

    kind : ``"python"`` (a Python scalar, string or None; `dtype` is the class name),
        ``"numpy"`` (a NumPy scalar), ``"array"``, ``"list"``, ``"tuple"``, ``"range"``
        or ``"object"`` (anything else).
    dtype : ``"float"``, ``"int"``, ``"bool"``, ``"str"``, ``"NoneType"`` of Python, or
        a NumPy dtype name, or ``""``.
    dims : names of the dimensions of an array, outermost first; ``"1"`` is exactly one,
        ``"?"`` is unknown.  Two equal names other than ``"?"`` are equal sizes.
    samples : two small stand-in values of this type whose sizes differ wherever sizes
        may differ; every claim about shapes must hold for both.
    """

    kind: str
    dtype: str = ""
    dims: tuple[str, ...] = ()
    samples: tuple[Any, ...] = field(default=(), compare=False, repr=False)

    @property
    def rank(self) -> int:
        """Return the number of dimensions; scalars have 0."""
        return len(self.dims)

    @property
    def is_array(self) -> bool:
        """Return whether this is an `ndarray`, as opposed to any scalar."""
        return self.kind == "array"

    @property
    def is_scalar(self) -> bool:
        """Return whether this is a Python or NumPy number."""
        return self.kind in ("python", "numpy") and self.dtype not in (
            "str",
            "NoneType",
        )

    @property
    def is_integral(self) -> bool:
        """Return whether values are integers or booleans, which carry no derivative."""
        return self.dtype.startswith(("int", "uint", "bool"))

    @property
    def is_complex(self) -> bool:
        """Return whether values are complex."""
        return self.dtype.startswith("complex")

    def __str__(self) -> str:
        """Render the way the header of a generated function does.

        >>> str(Type("array", "float64", ("n", "d")))
        'float64[n, d]'
        >>> str(Type("python", "float"))
        'float'
        """
        if self.kind == "array":
            return f"{self.dtype}[{', '.join(self.dims)}]"
        if self.kind == "numpy" and self.dtype == "bool":
            return "bool_"  # Python's is "bool"
        return self.dtype if self.kind in ("python", "numpy") else self.kind
