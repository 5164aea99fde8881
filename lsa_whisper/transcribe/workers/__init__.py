"""Many recordings shared out among processes of this machine, or actors of a Ray cluster."""
