"""The version, in a module of its own: the package root imports all others, so none of them imports the root."""

__version__ = "0.1.0"
