"""`python -m symback` is the command `symback`."""

import sys

from symback.cli import main

if __name__ == "__main__":
    sys.exit(main())
