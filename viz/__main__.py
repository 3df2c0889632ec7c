"""`python -m viz` is `uopviz`."""

import sys

from viz.cli import main

if __name__ == "__main__":
    sys.exit(main())
