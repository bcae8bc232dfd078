"""The paper: its grids, published figures, tables and figures, and the command that reproduces them."""
