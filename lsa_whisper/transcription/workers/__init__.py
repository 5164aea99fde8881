"""Many recordings distributed over processes of this machine, or actors of a Ray cluster."""
