"""Voice activity detection, and windows of speech that fit into the model's context."""
