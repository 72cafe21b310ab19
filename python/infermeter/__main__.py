"""`python -m infermeter`: the command line."""

from infermeter.cli import main

main()
