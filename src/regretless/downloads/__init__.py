"""Public data files: their addresses and checksums, and how they are fetched."""
