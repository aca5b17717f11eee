"""`python -m eigenwell` is the command `eigenwell`."""

from .cli import main

main()
