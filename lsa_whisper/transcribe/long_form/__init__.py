"""A whole recording through an engine: window by window, without loops, kept on disk as it is decoded."""
