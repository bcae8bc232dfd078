"""``python -m regretless.cli``."""

from regretless.cli import main

main()
