"""Windows of sound -> timed segments of text: what an engine promises, and the libraries that keep it."""
