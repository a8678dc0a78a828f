"""`python -m torchcaliper`."""

import sys

from torchcaliper.cli import main

if __name__ == "__main__":
    sys.exit(main())
