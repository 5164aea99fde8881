"""The machine and its files, terminal and processes: everything that is not about speech."""
