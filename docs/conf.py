"""Settings of Sphinx: `sphinx-build docs docs/_build` with the `docs` extra."""

from symback import __version__

project = "symback"
author = "symback developers"
release = __version__
extensions = ["myst_parser"]
html_theme = "furo"
exclude_patterns = ["_build"]
