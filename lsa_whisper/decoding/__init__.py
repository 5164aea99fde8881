"""Audio windows -> timed text segments: the interface of a decoding engine, and one module per library."""
