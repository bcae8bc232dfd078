"""``python -m regretless``."""

from regretless.cli import main

main()
