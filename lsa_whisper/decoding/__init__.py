"""Windows of sound -> timed pieces of text: what an engine promises, and the libraries that keep it."""
