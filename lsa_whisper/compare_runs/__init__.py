"""Compare training runs: their curves and recipes side by side."""
